/** Stops the server without losing a request. */
import type { Socket } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import type { FastifyInstance } from 'fastify';
import { type Connections, stateOf } from './connections.ts';

/**
 * How long a stop waits for requests on their way, in milliseconds. It waits again, at most MOST_CALLS times in all, when requests
 * arrived, when a connection younger than two seconds has sent nothing yet, and when the wait ended LATE milliseconds late: a paused
 * machine has held up its clients, too.
 */
const LAST_CALL = 200;
const LATE = 50;
const MOST_CALLS = 10;

/** Whether the server was asked to stop. */
export interface Stop {
  readonly isAsked: boolean;
}

export interface LastCall {
  /** Requests held back during the wait; undefined at any other time. */
  waiting: (() => void)[] | undefined;
}

interface DrainingOptions {
  connections: Connections;
  stop: Stop;
  lastCall: LastCall;
}

export function addDraining(app: FastifyInstance, { connections, stop, lastCall }: DrainingOptions): void {
  // When the server closes, the kernel resets connections that wait in its backlog. A client that is answered connects again at once,
  // so nobody is answered until the requests on their way have arrived, and nobody listens any more.
  app.addHook('preClose', async () => {
    if (!stop.isAsked) return;
    const waiting: (() => void)[] = [];
    lastCall.waiting = waiting;
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
    setImmediate(() => {
      lastCall.waiting = undefined;
      for (const goOn of waiting) goOn();
    });
  });
}

/** Whether a connection has sent nothing yet. Browsers open such ones in advance; Node counts them as in use, and would wait. */
function isSilent({ bytesRead }: Socket): boolean {
  return bytesRead === 0;
}
