/**
 * Closing a connection whose client may still be sending: a reset would take away the reply that it has not read yet. So our side is
 * closed, and what still comes is dropped for a while (RFC 9112, section 9.6): up to a bound, or a client could keep us reading.
 */
import type { Socket } from 'node:net';

/** How much more is read of what nobody wants, in bytes. */
export const MOST_DROPPED = 64 * 1024;

/** How long a client may take to send the rest, or to close its side after the last reply, in milliseconds. */
export const LINGER_TIME = 1000;

/** Closes our side; the connection is cut when the client has not closed its own in time. */
export function linger(socket: Socket): void {
  boundReading(socket, () => socket.pause());
  socket.end();
  setTimeout(() => socket.destroy(), LINGER_TIME).unref();
}

/** Calls back when more than `most` bytes have come. Returns what ends the counting. */
export function boundReading(socket: Socket, onOver: () => void, most = MOST_DROPPED): () => void {
  let left = most;
  const count = ({ length }: Buffer) => {
    if (left >= 0 && left < length) onOver();
    left -= length;
  };
  socket.on('data', count);
  return () => socket.off('data', count);
}
