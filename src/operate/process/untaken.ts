/** Closes connections that were passed to a worker which died before it accepted them. */
import type { Worker } from 'node:cluster';
import { type GivenConnection, onGiven } from '../../engine/http/node-internals.ts';

/**
 * Node's round robin keeps a connection open until the worker confirms it, and passes the next one only then. If the worker dies before,
 * Node forgets the connection, and its client would wait for ever.
 */
export function closeUntaken(worker: Worker): void {
  /** The last connection from each listening socket. */
  const given = new Map<string, GivenConnection>();
  onGiven(worker, (socket, connection) => given.set(socket, connection));
  worker.on('exit', () => {
    // Closing a connection that the worker has accepted does nothing.
    for (const connection of given.values()) connection.close();
    // Otherwise Node would wait for the dead worker, and go on listening on its behalf.
    worker.disconnect();
  });
}
