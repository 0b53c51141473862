/** The hooks that every request passes: before those of plugins, and after them. */
import type { FastifyInstance } from 'fastify';
import type { Failure } from '../errors.ts';
import type { LetIn } from './draining.ts';
import { findMalformed, type SendFailure } from './error-replies.ts';
import { keepReply } from './raw-replies.ts';
import type { Watch } from './request-log.ts';
import { secureInjected } from './security-headers.ts';

/** The first step of each request, also of one whose URL Fastify refuses before any hook. */
export const buildArrive =
  (addLog: Watch, watch: Watch | undefined): Watch =>
  (request, reply) => {
    addLog(request, reply);
    watch?.(request, reply);
    secureInjected(reply);
  };

/** First of all: what a plugin refuses is logged and has its id, too. */
export function addArrival(app: FastifyInstance, arrive: Watch, beginTrace: Watch | undefined): void {
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

/** After the plugins, which may have headers for every reply, and before Fastify looks at the body. */
export function addEntrance(
  app: FastifyInstance,
  toNotFound: (url: string) => Failure,
  letIn: LetIn,
  sendFailure: SendFailure,
): void {
  app.addHook('onRequest', (request, _reply, done) => {
    const failure = findMalformed(request) ?? (request.is404 ? toNotFound(request.url) : undefined);
    if (failure) done(failure);
    else letIn(done);
  });
  // Where a plugin finds later that it has no reply. The types do not know the option, which Fastify's own routes have.
  app.setNotFoundHandler({ errorHandler: sendFailure } as object, ({ url }) => {
    throw toNotFound(url);
  });
}
