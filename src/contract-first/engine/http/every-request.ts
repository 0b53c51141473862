/** The first step of every request, before the hooks of plugins, and the check behind them. */
import type { FastifyInstance } from 'fastify';
import { findMalformed } from './error-replies.ts';
import { REPLY } from './raw-replies.ts';
import type { RequestObserver } from './request-log.ts';
import type { Begin } from './request-logger.ts';
import { addOwnHeaders } from './security-headers.ts';

export const buildBegin =
  (watch: RequestObserver | undefined): Begin =>
  (request, reply) => {
    watch?.(request, reply);
    request.raw[REPLY] = reply;
    addOwnHeaders(request, reply);
  };

/** Refuses malformed requests behind plugins, which may set headers on every reply, and before Fastify reads the body. */
export function addFormCheck(app: FastifyInstance): void {
  app.addHook('onRequest', (request, reply, done) => {
    // On a server that is not ours, nothing else has added them; on ours, plugins may have changed them.
    if (!reply.hasHeader('x-request-id')) addOwnHeaders(request, reply);
    done(findMalformed(request));
  });
}
