/** Listens for errors of every socket, from its first moment to its last. */
import type { Server, Socket } from 'node:net';

/**
 * Node's HTTP server removes its own listener when a socket gets a CONNECT or an upgrade: a reset after that would end the process. The
 * errors are ignored, because `close` and `clientError` report them, too.
 */
export function hearErrors(server: Server): void {
  server.on('connection', (socket: Socket) => socket.on('error', () => {}));
}
