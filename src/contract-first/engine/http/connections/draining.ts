/** Stops the server without losing a request. */
import { setTimeout as wait } from 'node:timers/promises';
import type { FastifyInstance } from 'fastify';
import type { Connection, Stop } from './connection.ts';
import type { Connections } from './connections.ts';

/**
 * How long a stop waits for requests on their way, in milliseconds. It waits again, at most MOST_WINDOWS times in all, when requests
 * arrived, when a connection younger than two seconds has sent nothing yet, and when the wait ended LATE milliseconds late: a paused
 * machine has held up its clients, too.
 */
const DRAIN_WINDOW = 200;
const LATE = 50;
const MOST_WINDOWS = 10;

export function addDraining(app: FastifyInstance, connections: Connections, stop: Stop): void {
  // When the server closes, the kernel resets connections that wait in its backlog. A client that is answered connects again at once,
  // so nobody is answered until the requests on their way have arrived, and nobody listens any more.
  app.addHook('preClose', async () => {
    if (!stop.isAsked) return;
    const held: (() => void)[] = [];
    connections.held = held;
    const silent = [...connections.open].filter(hasSentNothing);
    const mayStillSend = (connection: Connection) =>
      hasSentNothing(connection) && !connection.socket.destroyed && connections.second - connection.lastUse < 2;
    for (let windows = 0, isOver = false; !isOver && windows < MOST_WINDOWS; windows++) {
      const { length: came } = held;
      const end = performance.now() + DRAIN_WINDOW;
      await wait(DRAIN_WINDOW);
      isOver = held.length === came && performance.now() < end + LATE && !silent.some(mayStillSend);
    }
    for (const { socket } of silent.filter(hasSentNothing)) socket.destroy();
    setImmediate(() => {
      connections.held = undefined;
      for (const begin of held) begin();
    });
  });
}

/** Browsers open connections in advance; Node counts them as in use, and would wait for them. */
const hasSentNothing = ({ socket }: Connection): boolean => socket.bytesRead === 0;
