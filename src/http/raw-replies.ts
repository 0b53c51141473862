/** The Error body where what came is no request that reaches a route: the reply is written to the socket by hand. */
import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { ConnectionError, FastifyInstance } from 'fastify';
import type { Logger } from 'pino';
import { MAX_URL_LENGTH, URI_TOO_LONG } from './error-replies.ts';
import { kindOf, type Told, toErrorBody } from './errors.ts';

const MALFORMED: Told = ['malformed_request', 'The request is not well-formed HTTP.'];
const NO_CONNECT: Told = ['method_not_allowed', 'This server is no proxy.'];

/** Errors of Node's HTTP server (nodejs.org/api/http.html, event clientError). */
const NODE_ERRORS: Record<string, Told> = {
  HPE_HEADER_OVERFLOW: ['headers_too_large', 'The headers of the request are too large.'],
  HPE_CHUNK_EXTENSIONS_OVERFLOW: ['payload_too_large', 'The chunk extensions of the body are too large.'],
  ERR_HTTP_REQUEST_TIMEOUT: ['request_timeout', 'The request did not arrive in time.'],
};

export type SendClientError = (error: ConnectionError, socket: Socket) => void;

/** For Fastify's option `clientErrorHandler`. */
export function buildSendClientError(logger: Logger, nextRequestId: () => string): SendClientError {
  return (error, socket) => {
    if (error.code === 'ECONNRESET' || !socket.writable || isAnswered(socket)) {
      socket.destroy();
      return;
    }
    const reqId = nextRequestId();
    logger.info({ reqId, code: error.code, ip: socket.remoteAddress }, 'malformed request');
    sendRaw(socket, reqId, isUrlTooLong(error) ? URI_TOO_LONG : (NODE_ERRORS[error.code] ?? MALFORMED));
  };
}

/** Node would close the connection of a CONNECT (RFC 9110, section 9.3.6) without a word. */
export function addNoConnect(app: FastifyInstance, nextRequestId: () => string): void {
  app.server.on('connect', (_request, socket: Socket) => {
    sendRaw(socket, nextRequestId(), NO_CONNECT, 'Allow: GET, HEAD');
  });
}

/** Whether a reply is on its way already, which a second one would garble; Node's own default asks the same. */
function isAnswered(socket: Socket): boolean {
  return (socket as Socket & { _httpMessage?: { headersSent: boolean } })._httpMessage?.headersSent ?? false;
}

/** Node counts the URL among the headers; it is to blame when the first line alone is too long. */
function isUrlTooLong({ code, rawPacket }: ConnectionError): boolean {
  // Fastify's type says otherwise: Node hands over the bytes.
  const bytes = rawPacket as unknown as Buffer;
  return code === 'HPE_HEADER_OVERFLOW' && !bytes.subarray(0, MAX_URL_LENGTH).includes('\r\n');
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
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`);
}
