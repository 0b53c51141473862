/** Answers every failure of a request with the contract's error body. */
import type { IncomingMessage } from 'node:http';
import type { FastifyContextConfig, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Logger } from 'pino';
import type { ErrorFormOf } from '../error-body.ts';
import { type CodeAndMessage, type ErrorCode, HttpError } from '../errors.ts';
import { stateOf } from '../request-state.ts';
import { sendAtLast } from './last-resort.ts';
import type { MakeError } from './made-errors.ts';
import { addOwnHeaders } from './security-headers.ts';
import { BAD_URL, describe, MALFORMED, MAX_URL_LENGTH, NO_VERSION, toHttpError, URI_TOO_LONG } from './thrown.ts';

const NO_HOST: CodeAndMessage = ['malformed_request', 'The Host header is missing, or no host.'];
const TWICE: CodeAndMessage = ['malformed_request', 'A header that counts once was sent twice.'];
const OLD_CHUNKS: CodeAndMessage = ['malformed_request', 'HTTP/1.0 has no Transfer-Encoding.'];
const CODED: CodeAndMessage = ['not_implemented', 'The server knows no Transfer-Encoding but chunked.'];
/** RFC 9112, section 3.2. */
const FRAGMENT: CodeAndMessage = ['malformed_request', 'The URL has a #, which belongs to no request.'];
const UNMET: CodeAndMessage = [
  'expectation_failed',
  'The server cannot meet the Expect header: it knows 100-continue only.',
];

/** A name or an address, with or without a port (RFC 9110, section 7.2; RFC 3986, section 3.2.2); may be empty. */
const HOST = /^(?:\[[\w:.~!$&'()*+,;=%-]+\]|[\w.~!$&'()*+,;=%-]*)(?::\d*)?$/;

/** The statuses whose replies have a challenge. */
const CHALLENGED = [401, 403];

/**
 * Codes that are logged as errors only with a cause. Without one, the request's own line is enough: that the server stops, or that keys
 * cannot be read, is logged once when it begins; the others are no faults.
 */
const TOLD_WITH_CAUSE: ErrorCode[] = ['unavailable', 'not_implemented', 'http_version_not_supported'];

declare module 'fastify' {
  interface FastifyContextConfig {
    /** How the failures of this operation differ from those of all others. */
    failures?: {
      formOf: ErrorFormOf | undefined;
      headers: Record<string, string>;
      challenge: string | undefined;
      accept: string | undefined;
    };
  }
}

const PLAIN: NonNullable<FastifyContextConfig['failures']> = {
  formOf: undefined,
  headers: {},
  challenge: undefined,
  accept: undefined,
};

/** Answers a request with the error for whatever was thrown. */
export type SendError = (thrown: unknown, request: FastifyRequest, reply: FastifyReply) => void;

/** Builds the function for Fastify's option `frameworkErrors` and its error handlers. */
export function buildSendError(logger: Logger, makeError: MakeError): SendError {
  return (thrown, request, reply) => {
    const state = stateOf(request);
    const isSecond = state.errorCode !== undefined;
    const status = isSecond || state.isAnswered ? 500 : reply.statusCode;
    const failure = toHttpError(thrown, status, state.isReplayed);
    const { formOf, headers, challenge, accept } = request.routeOptions.config.failures ?? PLAIN;
    state.errorCode = failure.code;
    if (failure.status < 500) state.refusal = failure.cause;
    else if (isFault(failure)) logError(logger, request, failure);
    const retryAfter = reply.getHeader('retry-after');
    reply.code(failure.status).headers(headers).headers(failure.headers);
    addOwnHeaders(request, reply);
    if (retryAfter !== undefined) reply.header('retry-after', retryAfter);
    if (challenge && CHALLENGED.includes(failure.status) && !reply.hasHeader('www-authenticate')) {
      reply.header('www-authenticate', challenge);
    }
    if (accept && failure.status === 415 && !reply.hasHeader('accept-encoding')) reply.header('accept', accept);
    const { body, text, type, write } = makeError(failure, request.id, formOf);
    if (isSecond) sendAtLast(reply, type, text);
    else reply.type(type).serializer(write).send(body);
  };
}

/** Whether to log an error. Refusals in a flood are not logged. */
const isFault = ({ code, cause }: HttpError) =>
  code !== 'overloaded' && (cause !== undefined || !TOLD_WITH_CAUSE.includes(code));

function logError(logger: Logger, { id: reqId }: FastifyRequest, failure: HttpError): void {
  const { message, cause = failure } = failure;
  try {
    logger.error({ reqId, err: cause }, message);
  } catch {
    // The logger may fail: the error is frozen, or a field of it throws.
    logger.error({ reqId, err: new Error(describe(cause)) }, message);
  }
}

/** Answers the errors of all routes whose context has no error handler of the team's. */
export function addErrorReplies(app: FastifyInstance, sendError: SendError): void {
  app.setErrorHandler(sendError);
  const { errorHandler } = app;
  // When an error's own reply fails, Fastify calls the next error handler: after this app's, that would be of the app around it.
  app.addHook('onRoute', function (route) {
    this.after(() => {
      if (this.errorHandler === errorHandler) route.errorHandler ??= sendError;
    });
  });
}

/** Finds malformed requests. Node could refuse most of them, but without a body. */
export function findMalformed({ raw, headers }: FastifyRequest): HttpError | undefined {
  const url = raw.url as string;
  if (url.length > MAX_URL_LENGTH) return new HttpError(...URI_TOO_LONG);
  if (url.includes('#')) return new HttpError(...FRAGMENT);
  if (/[%\x80-\xff]/.test(url) && !isDecodable(url)) return new HttpError(...BAD_URL);
  if (url === '*' && raw.method !== 'OPTIONS') return new HttpError(...BAD_URL);
  if (headers.host === undefined ? raw.httpVersion === '1.1' : !HOST.test(headers.host))
    return new HttpError(...NO_HOST);
  if (headers.expect !== undefined && !isMet(headers.expect)) return new HttpError(...UNMET);
  if (isFaultilyFramed(raw)) return new HttpError(...toFramingFault(raw));
  const mayBeTwice = headers.authorization?.includes(',') || headers['content-type']?.includes(',');
  if (mayBeTwice && isTwice(raw)) return new HttpError(...TWICE);
  return undefined;
}

/** Fastify checks only the path. A query that is not percent-encoded UTF-8 (RFC 3986, section 2.5) would be changed silently. */
function isDecodable(url: string): boolean {
  try {
    decodeURIComponent(url);
    return !/[\x80-\xff]/.test(url);
  } catch {
    return false;
  }
}

/** `Expect` is a list (RFC 9110, section 10.1.1), whose empty elements are ignored (section 5.6.1.2). */
function isMet(expect: string): boolean {
  return expect.split(',').every((part) => ['', '100-continue'].includes(part.trim().toLowerCase()));
}

/** Whether a proxy may see the end of the request elsewhere: then the connection must close after it (RFC 9112, section 6.1). */
export function isFaultilyFramed({ httpVersion, headers }: IncomingMessage): boolean {
  const coding = headers['transfer-encoding'];
  if (coding === undefined) return httpVersion !== '1.1' && httpVersion !== '1.0';
  return httpVersion !== '1.1' || coding.toLowerCase() !== 'chunked';
}

function toFramingFault({ httpVersion, headers }: IncomingMessage): CodeAndMessage {
  if (httpVersion === '1.1') return /,\s*chunked$/i.test(headers['transfer-encoding'] as string) ? CODED : MALFORMED;
  return httpVersion === '1.0' ? OLD_CHUNKS : NO_VERSION;
}

/** Node joins duplicate headers with a comma (`joinDuplicateHeaders`). A `Host` so joined is invalid in any case. */
function isTwice({ rawHeaders }: IncomingMessage): boolean {
  const names = rawHeaders.filter((_text, index) => index % 2 === 0).map((name) => name.toLowerCase());
  return ['authorization', 'content-type'].some((name) => names.indexOf(name) < names.lastIndexOf(name));
}
