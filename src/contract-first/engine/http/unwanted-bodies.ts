/** Bodies that nobody reads: no `100 Continue` asks for them, and of those that are sent only a limited part is read. */
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { boundReading, LINGER_TIME, linger, MOST_DROPPED } from './closing.ts';
import { isLast, keepAlive } from './node-internals.ts';

/** Node's own reply to an `Expect` that is not met would have no body. */
export function addExpectations(server: Server): void {
  server.on('checkExpectation', (request, response) => server.emit('request', request, response));
  server.on('checkContinue', (request, response) => {
    continueWhenRead(request, response);
    server.emit('request', request, response);
  });
}

/** Sends `100 Continue` when somebody begins to read the body (RFC 9110, section 10.1.1). */
function continueWhenRead(request: IncomingMessage, response: ServerResponse): void {
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

/** Whether a handler has the body, and has left a rest of it. */
export const mayArrive = (request: IncomingMessage): boolean => !request.complete && taken.has(request);

/**
 * Whether the rest of the body may be more than is read: the connection ends behind the reply, and a proxy that has sent the body must
 * know, or its next request goes there. The end of a body in chunks is unknown until it comes.
 */
export function mayBeLong(request: IncomingMessage): boolean {
  const { complete, headers } = request;
  if (complete) return false;
  if (headers['transfer-encoding'] !== undefined) return true;
  return Number(headers['content-length']) > (taken.get(request) ?? MOST_DROPPED);
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
    if (socket.writable) dropRest(request, response);
  });
}

/** Drops the rest of the body. If it is short and arrives soon, the connection lives on. */
function dropRest(request: IncomingMessage, response: ServerResponse): void {
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
  request.once('close', stop).once('end', () => {
    stop();
    if (isLast(response)) linger(socket);
  });
}
