/** Any failure of a request -> the Error body of the contract. */
import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Logger } from 'pino';
import { StoreUnavailable } from '../store/store.ts';
import { Failure, type Told } from './errors.ts';

/** The longest URL that is read, in characters; RFC 9110, section 4.1, asks for 8000 at least. */
export const MAX_URL_LENGTH = 8192;

export const URI_TOO_LONG: Told = ['uri_too_long', `The URL is longer than ${MAX_URL_LENGTH} characters.`];
const NO_HOST: Told = ['malformed_request', 'The Host header is missing.'];

const UNAVAILABLE: Told = ['unavailable', 'The service is unavailable. Try again later.'];

/** Fastify's own errors (fastify.dev/docs/latest/Reference/Errors), in our words. */
const FASTIFY_ERRORS: Record<string, Told> = {
  FST_ERR_BAD_URL: ['malformed_request', 'The URL is not well-formed.'],
  FST_ERR_MAX_PARAM_LENGTH: URI_TOO_LONG,
  FST_ERR_CTP_BODY_TOO_LARGE: ['payload_too_large', 'The body is larger than this operation takes.'],
  FST_ERR_CTP_INVALID_MEDIA_TYPE: ['unsupported_media_type', 'The body must be application/json.'],
  FST_ERR_CTP_INVALID_CONTENT_LENGTH: ['malformed_request', 'The body is not as long as Content-Length says.'],
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
}

function toFailure(error: FastifyError | Failure): Failure {
  if (error instanceof Failure) return error;
  if (error instanceof StoreUnavailable) return new Failure(...UNAVAILABLE, { cause: error.cause });
  const told = FASTIFY_ERRORS[error.code];
  if (told) return new Failure(...told);
  return new Failure('internal_error', 'The service failed. Its log has the cause.', { cause: error });
}

/** What Node lets through, and would answer without a body if it were told not to. */
function refuseMalformed(request: FastifyRequest, _reply: FastifyReply, done: (error?: Error) => void): void {
  if (request.url.length > MAX_URL_LENGTH) done(new Failure(...URI_TOO_LONG));
  else if (request.headers.host === undefined && request.raw.httpVersion === '1.1') done(new Failure(...NO_HOST));
  else done();
}
