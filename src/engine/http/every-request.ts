/** The hooks that every request passes: before those of plugins, and after them. */
import type { FastifyInstance } from 'fastify';
import type { HttpError } from '../errors.ts';
import type { ResumeUnlessDraining } from './draining.ts';
import { findMalformed, type SendError } from './error-replies.ts';
import { keepReply } from './raw-replies.ts';
import type { RequestObserver } from './request-log.ts';
import { secureInjected } from './security-headers.ts';

/** Builds the first step of each request, also of one whose URL Fastify refuses before any hook. */
export const buildArrive =
  (addLog: RequestObserver, watch: RequestObserver | undefined): RequestObserver =>
  (request, reply) => {
    addLog(request, reply);
    watch?.(request, reply);
    secureInjected(reply);
  };

/** To be called before plugins are added, so that the requests which they refuse are logged and have an id, too. */
export function addRequestStart(
  app: FastifyInstance,
  arrive: RequestObserver,
  beginTrace: RequestObserver | undefined,
): void {
  app.decorateRequest('operationId', undefined);
  app.decorateRequest('isReplayed', false);
  app.decorateRequest('caller', undefined);
  app.addHook('onRequest', (request, reply, done) => {
    beginTrace?.(request, reply);
    arrive(request, reply);
    keepReply(request, reply);
    reply.header('x-request-id', request.id);
    done();
  });
}

/** Adds the checks that run after plugins, which may set headers on every reply, and before Fastify reads the body. */
export function addPreBodyChecks(
  app: FastifyInstance,
  toNotFound: (url: string) => HttpError,
  resume: ResumeUnlessDraining,
  sendError: SendError,
): void {
  app.addHook('onRequest', (request, _reply, done) => {
    const failure = findMalformed(request) ?? (request.is404 ? toNotFound(request.url) : undefined);
    if (failure) done(failure);
    else resume(done);
  });
  // For plugins that call `reply.callNotFound`. The option `errorHandler` works here, but is missing in Fastify's types.
  app.setNotFoundHandler({ errorHandler: sendError } as object, ({ url }) => {
    throw toNotFound(url);
  });
}
