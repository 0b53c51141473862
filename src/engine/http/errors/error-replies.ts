/** Answers every failure of a request with the contract's error body. */
import type { FastifyContextConfig, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Logger } from 'pino';
import type { ErrorFormOf } from '../../error-body.ts';
import type { ErrorCode, HttpError } from '../../errors.ts';
import type { MakeError } from '../made-errors.ts';
import { describe, isOfBody, isSendable, toHttpError } from './thrown.ts';

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
  interface FastifyRequest {
    /** Whether its handler has answered, so that the reply's status is the handler's. */
    isAnswered: boolean;
    /** The error by which a plugin refused the request, for the log. */
    refusal: unknown;
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
    const isSecond = request.errorCode !== undefined;
    const failure = toHttpError(thrown, isSecond || request.isAnswered ? 500 : reply.statusCode);
    const { formOf, headers, challenge, accept } = request.routeOptions.config.failures ?? PLAIN;
    request.errorCode = failure.code;
    if (failure.status < 500) request.refusal = failure.cause;
    else if (isFault(failure)) logError(logger, request, failure);
    const retryAfter = reply.getHeader('retry-after');
    reply.code(failure.status).headers(headers).headers(failure.headers).header('x-request-id', request.id);
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

/** Sends an error past Fastify when its reply by Fastify fails, for example because a hook throws for each. Keeps the headers that can be sent. */
function sendAtLast(reply: FastifyReply, type: string, text: string): void {
  const { raw } = reply;
  if (raw.headersSent) {
    raw.destroy();
    return;
  }
  const headers = Object.entries(reply.getHeaders()).filter(
    ([name, value]) => !isOfBody(name) && [value].flat().every((one) => isSendable(name, one)),
  );
  // Node would keep the reason phrase of the status that it could not send.
  raw.statusMessage = '';
  raw.writeHead(raw.statusCode, {
    ...(Object.fromEntries(headers) as Record<string, string>),
    'content-type': type,
    'content-length': Buffer.byteLength(text),
  });
  raw.end(text);
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

export function addErrorReplies(app: FastifyInstance, sendError: SendError): void {
  app.decorateRequest('errorCode', undefined);
  app.decorateRequest('isAnswered', false);
  app.decorateRequest('refusal', undefined);
  app.setErrorHandler(sendError);
  const { errorHandler } = app;
  // When an error's own reply fails, Fastify calls the next error handler: after the app's, that would be its own.
  app.addHook('onRoute', function (route) {
    if (this.errorHandler === errorHandler) route.errorHandler ??= sendError;
  });
}
