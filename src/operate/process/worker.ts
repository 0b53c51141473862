/** A worker: its messages to and from the first process. */
import { setTimeout as wait } from 'node:timers/promises';
import { onSignals } from './signals.ts';

/** To a worker: stop as after a signal. */
export const STOP = 'stop';
/** From a worker: it no longer listens, and holds back its answers. */
export const CLOSED = 'closed';
/** To a worker: no worker listens any more, so it may answer. Clients cannot come back to a worker that is closing. */
export const ANSWER = 'answer';
/** From a worker, each second: its event loop is alive. */
export const BEAT = 'beat';

/** How often workers send BEAT, in milliseconds. */
export const BEAT_INTERVAL = 1000;

/** Tells the first process that this one's event loop is alive. */
export function startBeating(): void {
  // The callback ignores the error if the first process has just died.
  const beat = () => process.send?.(BEAT, undefined, undefined, () => {});
  beat();
  setInterval(beat, BEAT_INTERVAL).unref();
}

/** Ignores signals, which a terminal sends to the whole group: only the first process handles them. */
export function onStopAsked(stop: () => void): void {
  onSignals(() => {});
  process.on('message', (message) => {
    if (message === STOP) stop();
  });
}

/** Resolves when no worker listens any more, or after `timeout` milliseconds: a worker that hangs must not hold up the others. */
export async function untilNoneListens(timeout: number): Promise<void> {
  const answer = new Promise<void>((resolve) => {
    process.on('message', (message) => message === ANSWER && resolve());
  });
  process.send?.(CLOSED);
  await Promise.race([answer, wait(timeout)]);
}
