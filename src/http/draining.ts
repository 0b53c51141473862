/** Stopping without the loss of a request. */
import type { Socket } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import type { FastifyInstance } from 'fastify';

/** How long everybody just answered has to come back, in milliseconds; again and again while some do, up to MOST_CALLS. */
const LAST_CALL = 200;
const MOST_CALLS = 3;

export function addDraining(
  app: FastifyInstance,
  isDraining: () => boolean,
  untilNoneListens: () => Promise<unknown>,
): void {
  // As late as can be: a request that came before the stop, and is answered after it, is to end its connection too.
  app.addHook('onSend', (_request, reply, _payload, done) => {
    if (isDraining()) reply.header('connection', 'close');
    done();
  });

  /** Requests that wait; none does before the last call. */
  let waiting: (() => void)[] | undefined;
  app.addHook('onRequest', (_request, _reply, done) => {
    if (waiting) waiting.push(done);
    else done();
  });

  const sockets = new Set<Socket>();
  app.server.on('connection', (socket: Socket) => {
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
  });

  // The kernel resets connections that it has taken, and the server not yet. Clients that are answered come back at once:
  // so nobody is answered until those that are on their way have arrived, and no process listens any more.
  app.addHook('preClose', async () => {
    if (!isDraining()) return;
    waiting = [];
    const silent = [...sockets].filter(isSilent);
    for (let calls = 0, came = -1; came < waiting.length && calls < MOST_CALLS; calls++) {
      came = waiting.length;
      await wait(LAST_CALL);
    }
    for (const socket of silent.filter(isSilent)) socket.destroy();
    setImmediate(async () => {
      await untilNoneListens();
      const last = waiting as (() => void)[];
      waiting = undefined;
      for (const done of last) done();
    });
  });
}

/** Browsers open connections before they need them. Node takes one that is silent yet for one in use, and waits for it. */
function isSilent({ bytesRead }: Socket): boolean {
  return bytesRead === 0;
}
