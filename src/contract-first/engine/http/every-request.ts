/** The first step of every request, before the hooks of plugins, and the check behind them. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { isInjected } from './connections/connection.ts';
import type { Request } from './connections/request.ts';
import { SECURITY_HEADERS } from './connections/response.ts';
import { findMalformed } from './errors/malformed.ts';
import type { RequestObserver } from './log/request-log.ts';
import type { InitRequest } from './log/request-logger.ts';

export const buildInitRequest =
  (watch: RequestObserver | undefined): InitRequest =>
  (request, reply) => {
    watch?.(request, reply);
    (request.raw as Request).reply = reply;
    addOwnHeaders(request, reply);
  };

/** Adds the id, and the security headers where `response.ts` does not: it has the replies on connections of our own server only. */
export function addOwnHeaders({ id, raw }: FastifyRequest, reply: FastifyReply): void {
  reply.header('x-request-id', id);
  if (!isInjected(raw) && !(raw as Request).upgrade) return;
  for (const [name, value] of Object.entries(SECURITY_HEADERS)) if (!reply.hasHeader(name)) reply.header(name, value);
}

/** Refuses malformed requests behind plugins, which may set headers on every reply, and before Fastify reads the body. */
export function addFormCheck(app: FastifyInstance): void {
  app.addHook('onRequest', (request, reply, done) => {
    // On a server that is not ours, nothing else has added them; on ours, plugins may have changed them.
    if (!reply.hasHeader('x-request-id')) addOwnHeaders(request, reply);
    done(findMalformed(request));
  });
}
