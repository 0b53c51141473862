/** Sends the contract's error body for every failure of a request. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Logger } from 'pino';
import type { Catalogue, ErrorCode, HttpError } from '../errors/catalogue.ts';
import type { FailureForm, RenderError } from '../errors/error-body.ts';
import { stateOf } from '../request-state.ts';
import { addServerHeaders } from './connections/response.ts';
import { describeThrown, isOfBody, isSendable, toHttpError } from './thrown.ts';

/** The statuses of replies that contain a challenge. */
const CHALLENGED = [401, 403];

/**
 * Codes that are only logged as errors if the error contains a cause. Without a cause, the request's own log line is
 * enough: a stop, and the failure to read the keys, are logged once when they begin, and the remaining errors with
 * these codes are not faults of the service.
 */
const LOGGED_WITH_CAUSE: ErrorCode[] = ['unavailable', 'not_implemented', 'http_version_not_supported'];

declare module 'fastify' {
  interface FastifyContextConfig {
    /** How error replies of this route are sent, if not in the default form. */
    failures?: FailureForm;
  }
}

const DEFAULT_FORM: FailureForm = { formOf: undefined, headers: {}, challenge: undefined, accept: undefined };

/** Sends the error reply for a thrown value. */
export type SendError = (thrown: unknown, request: FastifyRequest, reply: FastifyReply) => void;

/**
 * Builds the function that sends error replies, for Fastify's option `frameworkErrors` and for error handlers.
 * `catalogue` contains the service's error codes; it is omitted if errors are sent without a service.
 */
export function buildSendError(logger: Logger, renderError: RenderError, catalogue: Catalogue = {}): SendError {
  return (thrown, request, reply) => {
    const state = stateOf(request);
    const isSecond = state.errorCode !== undefined;
    const status = isSecond || state.isAnswered ? 500 : reply.statusCode;
    const failure = toHttpError(thrown, status, state.isReplayed).settle(catalogue);
    const { formOf, headers, challenge, accept } = request.routeOptions.config.failures ?? DEFAULT_FORM;
    state.errorCode = failure.code;
    if (failure.status < 500) state.pluginError = failure.cause;
    else if (isFault(failure)) logError(logger, request, failure);
    const retryAfter = reply.getHeader('retry-after');
    reply.code(failure.status).headers(headers).headers(failure.headers);
    addServerHeaders(request, reply);
    if (retryAfter !== undefined) reply.header('retry-after', retryAfter);
    if (challenge && CHALLENGED.includes(failure.status) && !reply.hasHeader('www-authenticate')) {
      reply.header('www-authenticate', challenge);
    }
    if (accept && failure.status === 415 && !reply.hasHeader('accept-encoding')) reply.header('accept', accept);
    const { body, text, type, write } = renderError(failure, request.id, formOf);
    if (isSecond) sendFallback(reply, type, text);
    else reply.type(type).serializer(write).send(body);
  };
}

/**
 * Sends an error without Fastify if Fastify itself cannot send it, for example because a hook throws for each reply.
 * Headers of the failed reply are kept if Node can send them.
 */
function sendFallback(reply: FastifyReply, type: string, text: string): void {
  const { raw } = reply;
  if (raw.headersSent) {
    raw.destroy();
    return;
  }
  const headers = Object.entries(reply.getHeaders()).filter(
    ([name, value]) => !isOfBody(name) && [value].flat().every((one) => isSendable(name, one)),
  );
  // Otherwise, Node would keep the reason phrase of the reply that could not be sent.
  raw.statusMessage = '';
  raw.writeHead(raw.statusCode, {
    ...(Object.fromEntries(headers) as Record<string, string>),
    'content-type': type,
    'content-length': Buffer.byteLength(text),
  });
  raw.end(text);
}

/**
 * True if the error must be logged. Errors with the code `overloaded` are not logged, because a flood of requests would
 * fill the log.
 */
const isFault = ({ code, cause }: HttpError) =>
  code !== 'overloaded' && (cause !== undefined || !LOGGED_WITH_CAUSE.includes(code));

function logError(logger: Logger, { id: reqId }: FastifyRequest, failure: HttpError): void {
  const { message, cause = failure } = failure;
  try {
    logger.error({ reqId, err: cause }, message);
  } catch {
    // The logger may throw, for example if the error is frozen, or if one of its fields throws.
    logger.error({ reqId, err: new Error(describeThrown(cause)) }, message);
  }
}

/**
 * Makes `sendError` the error handler of each route. If the team has set an error handler in the route's context, that
 * one is kept.
 */
export function addErrorReplies(app: FastifyInstance, sendError: SendError): void {
  app.setErrorHandler(sendError);
  const { errorHandler } = app;
  // The handler is set on each route itself: if only the context contained it, Fastify would call the handler of the
  // surrounding app after an error reply has failed. `errorHandler` is a getter, because Fastify reads it only when the
  // context is complete. A call of `after` for each route would achieve the same, but would add lines to
  // `printPlugins()`.
  app.addHook('onRoute', function (route) {
    let own = route.errorHandler;
    Object.defineProperty(route, 'errorHandler', {
      get: () => own ?? (this.errorHandler === errorHandler ? sendError : undefined),
      set: (handler: typeof own) => {
        own = handler;
      },
      ...{ configurable: true, enumerable: true },
    });
  });
}
