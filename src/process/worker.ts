/** One of several processes: what it hears from the first one, and tells it. */
import { once } from 'node:events';
import { setTimeout as wait } from 'node:timers/promises';

/** To a worker: stop as after a signal. */
export const STOP = 'stop';
/** From a worker: it listens no more, and holds back its answers. */
export const CLOSED = 'closed';
/** To a worker: nobody listens any more, so that nobody who is answered can come back. */
export const ANSWER = 'answer';

/** Signals themselves are the first process's, whoever sends them: a terminal sends them to the whole group. */
export function onStopAsked(stop: () => void): void {
  process.on('SIGTERM', () => {}).on('SIGINT', () => {});
  process.on('message', (message) => {
    if (message === STOP) stop();
  });
}

/** Resolves when no worker listens any more, or after `patience` milliseconds: one that hangs holds up nobody for longer. */
export async function untilNoneListens(patience: number): Promise<void> {
  const answer = once(process, 'message');
  process.send?.(CLOSED);
  await Promise.race([answer, wait(patience)]);
}
