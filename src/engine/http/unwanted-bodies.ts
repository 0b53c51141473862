/** Bodies that nobody reads: they are not asked for, and what is sent of them all the same is read up to a bound. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { boundReading, LINGER_TIME, linger } from './closing.ts';
import { keepAlive } from './node-internals.ts';

/** For requests that wait for `100 Continue`: it is sent when somebody begins to read the body (RFC 9110, section 10.1.1). */
export function continueWhenRead(request: IncomingMessage, response: ServerResponse): void {
  // Refused without it, the client may send the body, or leave it out: what follows could not be told apart.
  const isKept = keepAlive(response, false);
  request.on('newListener', function onReader(event: string) {
    if (event !== 'data' && event !== 'readable') return;
    request.off('newListener', onReader);
    if (response.headersSent) return;
    keepAlive(response, isKept);
    // While earlier replies are being sent on this connection, Node would write it into the middle of one.
    if (response.socket) response.writeContinue();
  });
}

/** How much of a body its operation takes, in bytes. */
const taken = new WeakMap<IncomingMessage, number>();

/** A handler has the body: what it leaves unread may come whole, since it is no more than the operation takes. */
export function takeBody(request: IncomingMessage, maxBytes: number): void {
  taken.set(request, maxBytes);
}

/** Sees to the rest of a body that has not arrived when its request is answered. */
export function boundBody(request: IncomingMessage, response: ServerResponse): void {
  if (request.headers['content-length'] === undefined && request.headers['transfer-encoding'] === undefined) return;
  response.once('finish', () => {
    if (request.complete) return;
    const { socket } = request;
    // Node forgets a request that is answered: what still reads its body would wait for ever.
    const end = () => request.destroy();
    socket.once('close', end);
    request.once('end', () => socket.off('close', end));
    if (socket.writable) dropRest(request);
  });
}

/** A client whose rest is short and comes soon may go on with its next request. */
function dropRest(request: IncomingMessage): void {
  const { socket } = request;
  const end = () => {
    stop();
    socket.pause();
    linger(socket);
  };
  const most = taken.get(request);
  const stopCounting = boundReading(socket, end, most);
  // Node itself ends a request that takes too long to arrive.
  const timer = most === undefined ? setTimeout(end, LINGER_TIME) : undefined;
  const stop = () => {
    clearTimeout(timer);
    stopCounting();
  };
  request.once('end', stop).once('close', stop);
}
