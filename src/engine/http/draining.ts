/** Stopping without losing a request. */
import type { Socket } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import type { FastifyInstance } from 'fastify';
import { type Connections, stateOf } from './connections.ts';

/**
 * How long to wait for requests that are on their way, in milliseconds. It waits again while some arrive, while a connection of the
 * last two seconds has sent nothing yet, and after a wait that ended LATE milliseconds late: a machine that stood still has held up
 * the clients, too. MOST_CALLS times in all.
 */
const LAST_CALL = 200;
const LATE = 50;
const MOST_CALLS = 10;

/** Lets a request go on: at once, or at the end of a stop when the last call is over. */
export type ResumeUnlessDraining = (goOn: () => void) => void;

export function addDraining(
  app: FastifyInstance,
  connections: Connections,
  isDraining: () => boolean,
  untilNoneListens: () => Promise<unknown>,
): ResumeUnlessDraining {
  /** Requests that wait for the end of the last call; undefined before it. */
  let waiting: (() => void)[] | undefined;

  // When the server closes, the kernel resets connections that it has accepted and the server has not. Clients that are
  // answered come back at once: so nobody is answered until requests on their way have arrived, and no process listens any more.
  app.addHook('preClose', async () => {
    if (!isDraining()) return;
    waiting = [];
    const silent = [...connections.sockets].filter(isSilent);
    const mayStillSend = (socket: Socket) =>
      isSilent(socket) && !socket.destroyed && connections.second - stateOf(socket).lastUse < 2;
    for (let calls = 0, isOver = false; !isOver && calls < MOST_CALLS; calls++) {
      const { length: came } = waiting;
      const end = performance.now() + LAST_CALL;
      await wait(LAST_CALL);
      isOver = waiting.length === came && performance.now() < end + LATE && !silent.some(mayStillSend);
    }
    for (const socket of silent.filter(isSilent)) socket.destroy();
    setImmediate(async () => {
      await untilNoneListens();
      const last = waiting as (() => void)[];
      waiting = undefined;
      for (const goOn of last) goOn();
    });
  });

  return (goOn) => {
    if (waiting) waiting.push(goOn);
    else goOn();
  };
}

/** Browsers open connections in advance. Node counts one without any bytes yet as in use, and would wait for it. */
function isSilent({ bytesRead }: Socket): boolean {
  return bytesRead === 0;
}
