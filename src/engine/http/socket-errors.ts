/** Listens for the errors of every socket, from its first moment to its last. */
import type { Server, Socket } from 'node:net';

/**
 * Node's HTTP server lets go of a socket where its parser meets a CONNECT or an upgrade, and takes its own listener away: a reset
 * behind that would end the process. The errors themselves tell nothing that `close` and `clientError` do not.
 */
export function hearErrors(server: Server): void {
  server.on('connection', (socket: Socket) => socket.on('error', () => {}));
}
