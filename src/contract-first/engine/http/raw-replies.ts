/** Replies with the error body where Node's HTTP server gives up: the request is malformed or incomplete. */
import { type IncomingMessage, type Server, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import type { ConnectionError, FastifyReply } from 'fastify';
import type { Logger } from 'pino';
import { type CodeAndMessage, HttpError, kindOf } from '../errors.ts';
import type { ToAddress } from './client-address.ts';
import { boundReading, linger } from './closing.ts';
import { stateOf, whenAnswered } from './connections.ts';
import type { Counts } from './counts.ts';
import type { ToLogged } from './logged-urls.ts';
import type { MakeError } from './made-errors.ts';
import { endBy } from './node-internals.ts';
import { SECURITY_HEADERS } from './security-headers.ts';
import { MALFORMED, NO_VERSION, URI_TOO_LONG } from './thrown.ts';

const NO_CONNECT: CodeAndMessage = ['method_not_allowed', 'This server is no proxy.'];

/** Errors of Node's HTTP server (nodejs.org/api/http.html, event clientError). */
const NODE_ERRORS: Record<string, CodeAndMessage> = {
  HPE_HEADER_OVERFLOW: ['headers_too_large', 'The headers of the request, with its URL, are too large.'],
  HPE_CHUNK_EXTENSIONS_OVERFLOW: ['payload_too_large', 'The chunk extensions of the body are too large.'],
  HPE_INVALID_VERSION: NO_VERSION,
  ERR_HTTP_REQUEST_TIMEOUT: ['request_timeout', 'The request did not arrive in time.'],
};

const NO_METHOD: CodeAndMessage = ['not_implemented', 'The server knows no such method.'];

export const REPLY = Symbol('reply');

declare module 'node:http' {
  interface IncomingMessage {
    /** Fastify's reply to it: it answers a request that turns out to be malformed. */
    [REPLY]?: FastifyReply;
  }
}

export interface RawRepliesOptions {
  logger: Logger;
  nextRequestId: () => string;
  makeError: MakeError;
  counts: Counts;
  toAddress: ToAddress;
  toLogged: ToLogged;
  /** The headers of replies that are sent before any hook: to malformed HTTP, unreadable URLs, and requests over the limits. */
  bareHeaders: Readonly<Record<string, string>>;
}

export type SendClientError = (error: ConnectionError, socket: Socket) => void;

/** Builds the function for Fastify's option `clientErrorHandler`. */
export function buildSendClientError(options: RawRepliesOptions): SendClientError {
  const { logger, nextRequestId, counts } = options;
  const refused = new WeakSet<Socket>();
  return (error, socket) => {
    if (refused.has(socket)) return;
    refused.add(socket);
    // It is closing: what still arrives must not cut off a reply that is not read yet.
    if (socket.writableEnded) return;
    if (error.code === 'ECONNRESET' || !socket.writable) {
      socket.destroy();
      return;
    }
    const { response, isLast } = stateOf(socket);
    stopReading(socket);
    const told = toTold(error);
    if (response && !response.req.complete) {
      refuseBody(response.req, told);
      if (response.writableFinished) linger(socket);
      else response.once('finish', () => linger(socket));
      // Bytes after a request that ends the connection need no answer.
    } else if (!isLast && error.code !== 'HPE_CLOSED_CONNECTION') {
      const reqId = nextRequestId();
      const { status } = kindOf(told[0]);
      counts.refuse(told[0]);
      logger.info({ reqId, ip: socket.remoteAddress, status, code: error.code }, 'malformed request');
      whenAnswered(socket, () => sendRaw(socket, reqId, options, told));
    }
  };
}

export function addRawReplies(server: Server, options: RawRepliesOptions): void {
  const { logger, nextRequestId, counts, toAddress, toLogged } = options;
  // Node would close the connection of a CONNECT (RFC 9110, section 9.3.6) without a reply.
  server.on('connect', (request, socket: Socket) => {
    const { method, url = '' } = request;
    const reqId = nextRequestId();
    counts.refuse(NO_CONNECT[0]);
    logger.info({ reqId, method, url: toLogged(url), ip: toAddress(request), status: 405 }, 'request');
    stopReading(socket);
    whenAnswered(socket, () => sendRaw(socket, reqId, options, NO_CONNECT, { Allow: 'GET, HEAD' }));
  });
}

/** Answers a request whose body has not arrived in full, unless it has been answered already. */
function refuseBody(request: IncomingMessage, told: CodeAndMessage): void {
  const reply = request[REPLY];
  request.socket.once('close', () => {
    // Fastify would warn that the body failed after the answer.
    if (reply) reply.log = reply.log.child({}, { level: 'silent' });
    // Node forgets a request that is answered: a handler that still reads its body would wait for ever.
    request.destroy();
  });
  if (reply && !reply.raw.headersSent) reply.header('connection', 'close').send(new HttpError(...told));
  // A reply that is being sent may wait for the body for ever.
  else if (reply && !reply.raw.writableEnded) reply.raw.destroy();
}

/** Drops the bytes that still arrive. */
function stopReading(socket: Socket): void {
  socket.removeAllListeners('data');
  boundReading(socket, () => socket.pause());
  socket.resume();
  endBy(socket, linger);
}

function toTold(error: ConnectionError): CodeAndMessage {
  if (isUrlTooLong(error)) return URI_TOO_LONG;
  // RFC 9110, section 9.1: an unknown method is 501. Anything else is malformed.
  if (error.code === 'HPE_INVALID_METHOD' && /^[!#$%&'*+.^_`|~\w-]+ \S+ HTTP\/1\.[01]$/.test(lineOf(error)))
    return NO_METHOD;
  return NODE_ERRORS[error.code] ?? MALFORMED;
}

/** The line in which Node's parser failed. Fastify's type is wrong: `rawPacket` is a Buffer, with the last packet only. */
function lineOf({ rawPacket, bytesParsed }: ConnectionError): string {
  const text = (rawPacket as unknown as Buffer).toString('latin1');
  return text
    .slice(text.lastIndexOf('\r\n', bytesParsed - 1) + 1)
    .trimStart()
    .split('\r\n', 1)[0] as string;
}

/** Node counts the URL as part of the headers. The URL is too long if the parser failed in the first line. */
function isUrlTooLong(error: ConnectionError): boolean {
  return error.code === 'HPE_HEADER_OVERFLOW' && /^[A-Z-]+ | HTTP\/1\.\d$/.test(lineOf(error));
}

function sendRaw(
  socket: Socket,
  reqId: string,
  { makeError, bareHeaders }: RawRepliesOptions,
  told: CodeAndMessage,
  headers: Record<string, string> = {},
): void {
  const failure = new HttpError(...told);
  const { status } = failure;
  const { text, type } = makeError(failure, reqId);
  const head = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    `Date: ${new Date().toUTCString()}`,
    `X-Request-Id: ${reqId}`,
    `Content-Type: ${type}`,
    `Content-Length: ${Buffer.byteLength(text)}`,
    ...Object.entries({ ...SECURITY_HEADERS, ...bareHeaders, ...headers }).map(([name, value]) => `${name}: ${value}`),
    'Connection: close',
  ];
  if (socket.writable) socket.write(`${head.join('\r\n')}\r\n\r\n${text}`);
  linger(socket);
}
