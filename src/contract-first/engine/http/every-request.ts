/** The hooks that every request passes: before those of plugins, and after them. */
import type { FastifyBaseLogger, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { HttpError } from '../errors.ts';
import { isInjected } from './connections.ts';
import type { LastCall } from './draining.ts';
import { findMalformed, type SendError } from './error-replies.ts';
import { REPLY } from './raw-replies.ts';
import type { RequestObserver } from './request-log.ts';
import { RequestLogger } from './request-logger.ts';
import { SECURITY_HEADERS } from './security-headers.ts';
import type { BeginTrace } from './trace-context.ts';
import type { Request } from './upgrades.ts';

/** Builds the first step of each request, also of one whose URL Fastify refuses before any hook. */
export const buildArrive =
  (log: FastifyBaseLogger, watch: RequestObserver | undefined): Arrive =>
  (request, reply, done) => {
    const own: unknown = new RequestLogger(log, request);
    request.log = own as FastifyBaseLogger;
    reply.log = own as FastifyBaseLogger;
    watch?.(request, reply);
    request.raw[REPLY] = reply;
    reply.header('x-request-id', request.id);
    // `server-response.ts` puts them on every other reply.
    if (isInjected(request.raw) || (request.raw as Request).upgrade) reply.headers(SECURITY_HEADERS);
    done();
  };

export type Arrive = (request: FastifyRequest, reply: FastifyReply, done: () => void) => void;

/** To be called before plugins are added, so that the requests which they refuse are logged and have an id, too. */
export function addRequestStart(app: FastifyInstance, arrive: Arrive, beginTrace: BeginTrace | undefined): void {
  app.decorateRequest('operationId', undefined);
  app.decorateRequest('isReplayed', false);
  app.decorateRequest('caller', undefined);
  const arriveTraced: Arrive = (request, reply, done) => {
    beginTrace?.(request, reply);
    arrive(request, reply, done);
  };
  app.addHook('onRequest', beginTrace ? arriveTraced : arrive);
}

/** Adds the checks that run after plugins, which may set headers on every reply, and before Fastify reads the body. */
export function addPreBodyChecks(
  app: FastifyInstance,
  toNotFound: (url: string) => HttpError,
  lastCall: LastCall,
  sendError: SendError,
): void {
  app.addHook('onRequest', (request, _reply, done) => {
    const failure = findMalformed(request) ?? (request.is404 ? toNotFound(request.url) : undefined);
    if (failure) done(failure);
    else if (lastCall.waiting) lastCall.waiting.push(done);
    else done();
  });
  // For plugins that call `reply.callNotFound`. The option `errorHandler` works here, but is missing in Fastify's types.
  app.setNotFoundHandler({ errorHandler: sendError } as object, ({ url }) => {
    throw toNotFound(url);
  });
}
