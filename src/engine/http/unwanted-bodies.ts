/** Bodies that nobody reads: no `100 Continue` asks for them, and of those that are sent only a limited part is read. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { boundReading, LINGER_TIME, linger } from './closing.ts';
import { keepAlive } from './node-internals.ts';

/** Sends `100 Continue` when somebody begins to read the body (RFC 9110, section 10.1.1). */
export function continueWhenRead(request: IncomingMessage, response: ServerResponse): void {
  // A client that is refused without 100 may send the body or not: nobody could tell it from the next request.
  const isKept = keepAlive(response, false);
  request.on('newListener', function onReader(event: string) {
    if (event !== 'data' && event !== 'readable') return;
    request.off('newListener', onReader);
    if (response.headersSent) return;
    keepAlive(response, isKept);
    // While earlier replies are being sent on this connection, Node would write the 100 into the middle of one.
    if (response.socket) response.writeContinue();
  });
}

/** The operation's limit of the body, in bytes, for requests whose handler has the body. */
const taken = new WeakMap<IncomingMessage, number>();

/** Notes that a handler has the body: the rest that it leaves unread may arrive in full, up to the operation's limit. */
export function takeBody(request: IncomingMessage, maxBytes: number): void {
  taken.set(request, maxBytes);
}

/** Limits the rest of a body that has not arrived when its request is answered. */
export function boundBody(request: IncomingMessage, response: ServerResponse): void {
  if (request.headers['content-length'] === undefined && request.headers['transfer-encoding'] === undefined) return;
  response.once('finish', () => {
    if (request.complete) return;
    const { socket } = request;
    // Node forgets a request that is answered: a handler that still reads its body would wait for ever.
    const end = () => request.destroy();
    socket.once('close', end);
    request.once('end', () => socket.off('close', end));
    if (socket.writable) dropRest(request);
  });
}

/** Drops the rest of the body. If it is short and arrives soon, the connection lives on. */
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
