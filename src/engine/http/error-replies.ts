/** Any failure of a request -> the Error body of the contract. */
import type { IncomingMessage } from 'node:http';
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Logger } from 'pino';
import { type OutageKind, StoreUnavailable } from '../../store/store.ts';
import type { ErrorParts, ToErrorBody } from '../contract/error-body.ts';
import { type CodeAndMessage, type ErrorCode, Failure, TOO_LARGE } from './errors.ts';
import { continueWhenRead } from './unwanted-bodies.ts';

/** The longest URL that is read, in characters; RFC 9110, section 4.1, asks for 8000 at least. */
export const MAX_URL_LENGTH = 8192;

export const URI_TOO_LONG: CodeAndMessage = ['uri_too_long', `The URL is longer than ${MAX_URL_LENGTH} characters.`];
export const MALFORMED: CodeAndMessage = ['malformed_request', 'The request is not well-formed HTTP.'];
const NO_HOST: CodeAndMessage = ['malformed_request', 'The Host header is missing, or no host.'];
const TWICE: CodeAndMessage = ['malformed_request', 'A header that counts once was sent twice.'];
const NO_VERSION: CodeAndMessage = ['malformed_request', 'The server speaks HTTP/1.1 and HTTP/1.0.'];
const OLD_CHUNKS: CodeAndMessage = ['malformed_request', 'HTTP/1.0 has no Transfer-Encoding.'];
const CODED: CodeAndMessage = ['not_implemented', 'The server knows no Transfer-Encoding but chunked.'];
const BAD_URL: CodeAndMessage = ['malformed_request', 'The URL is not well-formed.'];
/** RFC 9112, section 3.2. */
const FRAGMENT: CodeAndMessage = ['malformed_request', 'The URL has a #, which belongs to no request.'];
const UNMET: CodeAndMessage = [
  'expectation_failed',
  'The server cannot meet the Expect header: it knows 100-continue only.',
];

/** A name or an address, and a port (RFC 9110, section 7.2; RFC 3986, section 3.2.2). It may be empty. */
const HOST = /^(?:\[[\w:.~!$&'()*+,;=%-]+\]|[\w.~!$&'()*+,;=%-]*)(?::\d*)?$/;

/** The store's outages, as clients are told of them. */
const OUTAGES: Record<OutageKind, CodeAndMessage> = {
  unavailable: ['unavailable', 'The service is unavailable. Try again later.'],
  overloaded: ['overloaded', 'Too many writes are waiting. Try again later.'],
  ids_used_up: ['ids_used_up', 'Nothing more can be added: every id was given.'],
  outcome_unknown: [
    'outcome_unknown',
    'The storage failed while it wrote. Check whether it was done; with an Idempotency-Key, send it again.',
  ],
};

/**
 * What Fastify or a plugin refuses keeps its status, with our code and message, and the `Retry-After` that it has set. A status from
 * 400 to 499 that is not here becomes 400, any other 500.
 */
const TOLD_BY_STATUS: Record<number, CodeAndMessage> = {
  404: ['route_not_found', 'Nothing is served at this path.'],
  413: TOO_LARGE,
  414: URI_TOO_LONG,
  415: ['unsupported_media_type', 'The body must be application/json.'],
  503: OUTAGES.unavailable,
};

const JSON_TYPE = 'application/json; charset=utf-8';

/** What is refused in a flood, or not made yet: its line as a request says enough. */
const NO_FAULTS: ErrorCode[] = ['overloaded', 'not_implemented'];

declare module 'fastify' {
  interface FastifyContextConfig {
    /** How the errors of this operation are written, where they are not those of all. */
    errorOf?: (parts: ErrorParts) => { body: unknown; type: string };
  }
}

export type SendFailure = (error: FastifyError | Failure, request: FastifyRequest, reply: FastifyReply) => void;

/** For Fastify's option `frameworkErrors` and its error handler. */
export function buildSendFailure(logger: Logger, toErrorBody: ToErrorBody): SendFailure {
  return (error, request, reply) => {
    const failure = toFailure(error);
    request.errorCode = failure.code;
    if (failure.status >= 500 && !NO_FAULTS.includes(failure.code)) {
      logger.error({ reqId: request.id, err: failure.cause ?? error }, failure.message);
    }
    const retryAfter = reply.getHeader('retry-after');
    reply.code(failure.status).headers(failure.headers).header('x-request-id', request.id);
    if (retryAfter !== undefined) reply.header('retry-after', retryAfter);
    const { errorOf } = request.routeOptions.config;
    const { body, type } = errorOf?.(failure.body) ?? { body: toErrorBody(failure.body), type: JSON_TYPE };
    reply.type(type).serializer(type.startsWith('text/') ? String : JSON.stringify);
    reply.send(body);
  };
}

export function addErrorReplies(app: FastifyInstance, sendFailure: SendFailure): void {
  app.setErrorHandler<FastifyError | Failure>(sendFailure);
  // Node itself would reply without a body.
  app.server.on('checkExpectation', (request, response) => app.server.emit('request', request, response));
  app.server.on('checkContinue', (request, response) => {
    continueWhenRead(request, response);
    app.server.emit('request', request, response);
  });
}

function toFailure(error: FastifyError | Failure): Failure {
  if (error instanceof Failure) return error;
  if (error instanceof StoreUnavailable) return new Failure(...OUTAGES[error.kind], { cause: error.cause });
  if (error.code === 'FST_ERR_BAD_URL') return new Failure(...BAD_URL);
  const status = error.statusCode ?? 500;
  const known = TOLD_BY_STATUS[status] ?? (status >= 400 && status < 500 ? MALFORMED : undefined);
  if (known) return new Failure(...known, { cause: error });
  return new Failure('internal_error', 'The service failed. Its log has the cause.', { cause: error });
}

/** Checks that Node could make as well, but then its replies would have no body. */
export function findMalformed({ raw, headers }: FastifyRequest): Failure | undefined {
  if ((raw.url as string).length > MAX_URL_LENGTH) return new Failure(...URI_TOO_LONG);
  if ((raw.url as string).includes('#')) return new Failure(...FRAGMENT);
  if (!isDecodable(raw.url as string)) return new Failure(...BAD_URL);
  if (raw.url === '*' && raw.method !== 'OPTIONS') return new Failure(...BAD_URL);
  if (headers.host === undefined ? raw.httpVersion === '1.1' : !HOST.test(headers.host)) return new Failure(...NO_HOST);
  if (headers.expect !== undefined && !isMet(headers.expect)) return new Failure(...UNMET);
  if (isFaultilyFramed(raw)) return new Failure(...toFramingFault(raw));
  if (isTwice(raw, 'authorization') || isTwice(raw, 'content-type')) return new Failure(...TWICE);
  return undefined;
}

/** Fastify looks at paths alone; a query that is not percent-encoded UTF-8 (RFC 3986, section 2.5) would change in silence. */
function isDecodable(url: string): boolean {
  if (!/[%\x80-\xff]/.test(url)) return true;
  try {
    decodeURIComponent(url);
    return !/[\x80-\xff]/.test(url);
  } catch {
    return false;
  }
}

/** RFC 9110, section 10.1.1: a list, whose empty parts count for nothing (section 5.6.1.2). */
function isMet(expect: string): boolean {
  return expect.split(',').every((part) => ['', '100-continue'].includes(part.trim().toLowerCase()));
}

/** Where such a request ends, others may see differently: the connection must close behind it (RFC 9112, section 6.1). */
export function isFaultilyFramed({ httpVersion, headers }: IncomingMessage): boolean {
  const coding = headers['transfer-encoding'];
  if (coding === undefined) return httpVersion !== '1.1' && httpVersion !== '1.0';
  return httpVersion !== '1.1' || coding.toLowerCase() !== 'chunked';
}

function toFramingFault({ httpVersion, headers }: IncomingMessage): CodeAndMessage {
  if (httpVersion === '1.1') return /,\s*chunked$/i.test(headers['transfer-encoding'] as string) ? CODED : MALFORMED;
  return httpVersion === '1.0' ? OLD_CHUNKS : NO_VERSION;
}

/** Node joins what is sent twice (`joinDuplicateHeaders`). A Host with a comma and a space is none in any case. */
function isTwice({ headers, rawHeaders }: IncomingMessage, name: 'authorization' | 'content-type'): boolean {
  if (!headers[name]?.includes(',')) return false;
  return rawHeaders.filter((text, index) => index % 2 === 0 && text.toLowerCase() === name).length > 1;
}
