/** Any failure -> the Error body of the contract, also where no route, no request or no HTTP was recognised. */
import { STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { ConnectionError, FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Logger } from 'pino';
import { type ErrorCode, Failure } from './errors.ts';

/** The longest URL that is read, in characters; RFC 9110, section 4.1, asks for 8000 at least. */
export const MAX_URL_LENGTH = 8192;

type Told = [status: number, code: ErrorCode, message: string];

const URI_TOO_LONG: Told = [414, 'uri_too_long', `The URL is longer than ${MAX_URL_LENGTH} characters.`];
const TIMEOUT: Told = [408, 'request_timeout', 'The request did not arrive in time.'];
const NO_CONNECT: Told = [405, 'method_not_allowed', 'This server is no proxy.'];
const MALFORMED: Told = [400, 'malformed_request', 'The request is not well-formed HTTP.'];

/** Fastify's own errors (fastify.dev/docs/latest/Reference/Errors), in our words. */
const FASTIFY_ERRORS: Record<string, Told> = {
  FST_ERR_BAD_URL: [400, 'malformed_request', 'The URL is not well-formed.'],
  FST_ERR_MAX_PARAM_LENGTH: URI_TOO_LONG,
  FST_ERR_CTP_BODY_TOO_LARGE: [413, 'payload_too_large', 'The body is larger than this operation takes.'],
  FST_ERR_CTP_INVALID_MEDIA_TYPE: [415, 'unsupported_media_type', 'The body must be application/json.'],
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: [400, 'malformed_request', 'The body is not as long as Content-Length says.'],
};

/** Errors of Node's HTTP server (nodejs.org/api/http.html, event clientError), which come before there is a request. */
const NODE_ERRORS: Record<string, Told> = {
  HPE_HEADER_OVERFLOW: [431, 'headers_too_large', 'The headers of the request are too large.'],
  HPE_CHUNK_EXTENSIONS_OVERFLOW: [413, 'payload_too_large', 'The chunk extensions of the body are too large.'],
  ERR_HTTP_REQUEST_TIMEOUT: TIMEOUT,
};

export type SendFailure = (error: FastifyError | Failure, request: FastifyRequest, reply: FastifyReply) => void;

/** For Fastify's option `frameworkErrors` and its error handler. */
export function buildSendFailure(logger: Logger): SendFailure {
  return (error, request, reply) => {
    const failure = toFailure(error);
    if (failure.status >= 500) logger.error({ reqId: request.id, err: failure.cause ?? error }, failure.message);
    reply.code(failure.status).headers(failure.headers).header('x-request-id', request.id);
    reply.type('application/json; charset=utf-8').send(JSON.stringify(failure.body));
  };
}

export function addErrorReplies(app: FastifyInstance, sendFailure: SendFailure): void {
  app.setErrorHandler<FastifyError | Failure>(sendFailure);
  app.addHook('onRequest', refuseMalformed);
  // Node would close the connection of a CONNECT without a word.
  app.server.on('connect', (_request, socket: Socket) => sendRaw(socket, NO_CONNECT, 'GET, HEAD'));
}

function toFailure(error: FastifyError | Failure): Failure {
  if (error instanceof Failure) return error;
  const told = FASTIFY_ERRORS[error.code];
  if (told) return new Failure(...told);
  return new Failure(500, 'internal_error', 'The service failed. Its log has the cause.', { cause: error });
}

/** What Node lets through, and would answer without a body if it were told not to. */
function refuseMalformed(request: FastifyRequest, _reply: FastifyReply, done: (error?: Error) => void): void {
  if (request.raw.url !== undefined && request.raw.url.length > MAX_URL_LENGTH)
    return done(new Failure(...URI_TOO_LONG));
  if (request.headers.host === undefined && request.raw.httpVersion === '1.1') {
    return done(new Failure(400, 'malformed_request', 'The Host header is missing.'));
  }
  done();
}

/** For Fastify's option `clientErrorHandler`: what came is no request, so the reply is written by hand. */
export function sendClientError(error: ConnectionError, socket: Socket): void {
  // Fastify's type says otherwise; Node hands over the bytes.
  const bytes = error.rawPacket as unknown as Buffer | undefined;
  if (error.code === 'ECONNRESET' || !socket.writable) return void socket.destroy();
  const isLongUrl = error.code === 'HPE_HEADER_OVERFLOW' && !bytes?.subarray(0, MAX_URL_LENGTH).includes('\r\n');
  sendRaw(socket, isLongUrl ? URI_TOO_LONG : (NODE_ERRORS[error.code] ?? MALFORMED));
}

function sendRaw(socket: Socket, [status, code, message]: Told, allow?: string): void {
  const body = JSON.stringify({ code, message, status });
  const head = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    `Date: ${new Date().toUTCString()}`,
    'Content-Type: application/json; charset=utf-8',
    `Content-Length: ${Buffer.byteLength(body)}`,
    ...(allow ? [`Allow: ${allow}`] : []),
    'Connection: close',
  ];
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`);
}
