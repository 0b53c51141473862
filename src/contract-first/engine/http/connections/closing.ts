/**
 * Closes a connection whose client may still be sending. A reset would destroy a reply that the client has not read yet, so only our side
 * is closed, and received bytes are dropped for a while (RFC 9112, section 9.6), up to a limit.
 */
import type { Server, Socket } from 'node:net';

/** How many bytes are read and dropped at most. */
export const MOST_DROPPED = 64 * 1024;

/** How long a client may take to send the rest of a body, or to close its side after the last reply, in milliseconds. */
export const LINGER_TIME = 1000;

/** Closes our side, and destroys the connection if the client does not close its side in time. */
export function linger(socket: Socket): void {
  boundReading(socket, () => socket.pause());
  socket.end();
  setTimeout(() => socket.destroy(), LINGER_TIME).unref();
}

/** Calls `onOver` when more than `most` bytes have arrived. Returns a function that stops counting. */
export function boundReading(socket: Socket, onOver: () => void, most = MOST_DROPPED): () => void {
  let left = most;
  const count = ({ length }: Buffer) => {
    if (left >= 0 && left < length) onOver();
    left -= length;
  };
  socket.on('data', count);
  return () => socket.off('data', count);
}

/**
 * Listens for errors of every socket, from its first moment to its last. Node's HTTP server removes its own listener when a socket gets a
 * CONNECT or an upgrade: a reset after that would end the process. The errors are ignored, because `close` and `clientError` report them.
 */
export function hearErrors(server: Server): void {
  server.on('connection', (socket: Socket) => socket.on('error', () => {}));
}
