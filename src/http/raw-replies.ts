/** The Error body where Node's HTTP server gives up on a connection: what came is no request, or not all of one. */
import { type IncomingMessage, type ServerResponse, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { ConnectionError, FastifyInstance, FastifyReply } from 'fastify';
import type { Logger } from 'pino';
import { MALFORMED, URI_TOO_LONG } from './error-replies.ts';
import { Failure, kindOf, type Told, toErrorBody } from './errors.ts';

const NO_CONNECT: Told = ['method_not_allowed', 'This server is no proxy.'];

/** Errors of Node's HTTP server (nodejs.org/api/http.html, event clientError). */
const NODE_ERRORS: Record<string, Told> = {
  HPE_HEADER_OVERFLOW: ['headers_too_large', 'The headers of the request, with its URL, are too large.'],
  HPE_CHUNK_EXTENSIONS_OVERFLOW: ['payload_too_large', 'The chunk extensions of the body are too large.'],
  ERR_HTTP_REQUEST_TIMEOUT: ['request_timeout', 'The request did not arrive in time.'],
};

/** How long a client may take to close its side after the last reply, in milliseconds; then the connection is cut. */
const LINGER = 1000;

const REPLY = Symbol('reply');

/** A request as Node knows it, with the reply that Fastify makes to it. */
type Request = IncomingMessage & { [REPLY]?: FastifyReply };

/** What Node's HTTP server keeps at a connection: the request that arrives, and the reply that is sent. */
type HttpSocket = Socket & { parser?: { incoming: Request | null } | null; _httpMessage?: ServerResponse | null };

export type SendClientError = (error: ConnectionError, socket: Socket) => void;

/** For Fastify's option `clientErrorHandler`. */
export function buildSendClientError(logger: Logger, nextRequestId: () => string): SendClientError {
  const refused = new WeakSet<Socket>();
  return (error, socket: HttpSocket) => {
    if (refused.has(socket)) return;
    refused.add(socket);
    if (error.code === 'ECONNRESET' || !socket.writable) {
      socket.destroy();
      return;
    }
    const request = socket.parser?.incoming;
    stopReading(socket);
    const told = isUrlTooLong(error) ? URI_TOO_LONG : (NODE_ERRORS[error.code] ?? MALFORMED);
    if (request && !request.complete) {
      refuseBody(request, told);
      whenAnswered(socket, () => linger(socket));
    } else {
      const reqId = nextRequestId();
      const { status } = kindOf(told[0]);
      logger.info({ reqId, ip: socket.remoteAddress, status, code: error.code }, 'malformed request');
      whenAnswered(socket, () => sendRaw(socket, reqId, told));
    }
  };
}

export function addRawReplies(app: FastifyInstance, logger: Logger, nextRequestId: () => string): void {
  app.addHook('onRequest', (request, reply, done) => {
    (request.raw as Request)[REPLY] = reply;
    done();
  });
  // Node would close the connection of a CONNECT (RFC 9110, section 9.3.6) without a word.
  app.server.on('connect', ({ method, url }, socket: Socket) => {
    // Node has taken its own listener away: without one, a reset would end the process.
    socket.on('error', () => {});
    const reqId = nextRequestId();
    logger.info({ reqId, method, url, ip: socket.remoteAddress, status: 405 }, 'request');
    stopReading(socket);
    whenAnswered(socket, () => sendRaw(socket, reqId, NO_CONNECT, 'Allow: GET, HEAD'));
  });
}

/** A request without the rest of its body: its own reply says so, unless it has been answered already. */
function refuseBody(request: Request, told: Told): void {
  const reply = request[REPLY];
  if (reply && !reply.sent) reply.header('connection', 'close').send(new Failure(...told));
}

/** What still comes is read, so that the client gets its reply rather than a reset, and is given to nobody. */
function stopReading(socket: Socket): void {
  socket.removeAllListeners('data');
  socket.on('data', () => {});
  socket.resume();
  // Node's way to end a connection after its last reply.
  socket.destroySoon = () => linger(socket);
}

/** Calls back when no reply is on its way any more: one before its turn would be taken for another's. */
function whenAnswered(socket: HttpSocket, done: () => void): void {
  if (socket._httpMessage) socket._httpMessage.once('finish', () => whenAnswered(socket, done));
  else done();
}

/** Node counts the URL among the headers; it is to blame when the line that is too long is the first of the request. */
function isUrlTooLong({ code, rawPacket, bytesParsed }: ConnectionError): boolean {
  if (code !== 'HPE_HEADER_OVERFLOW') return false;
  // Fastify's type says otherwise: Node hands over the bytes, of the last packet only.
  const text = (rawPacket as unknown as Buffer).toString('latin1');
  const line = text
    .slice(text.lastIndexOf('\r\n', bytesParsed - 1) + 1)
    .trimStart()
    .split('\r\n', 1)[0] as string;
  return /^[A-Z-]+ | HTTP\/1\.\d$/.test(line);
}

function sendRaw(socket: Socket, reqId: string, [code, message]: Told, ...headers: string[]): void {
  const { status } = kindOf(code);
  const body = JSON.stringify(toErrorBody(code, message));
  const head = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    `Date: ${new Date().toUTCString()}`,
    `X-Request-Id: ${reqId}`,
    'Content-Type: application/json; charset=utf-8',
    `Content-Length: ${Buffer.byteLength(body)}`,
    ...headers,
    'Connection: close',
  ];
  if (socket.writable) socket.write(`${head.join('\r\n')}\r\n\r\n${body}`);
  linger(socket);
}

/** Node's own end closes one side only, and such a connection stays for as long as its client likes. */
function linger(socket: Socket): void {
  socket.end();
  setTimeout(() => socket.destroy(), LINGER).unref();
}
