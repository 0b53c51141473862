/**
 * What every request passes, and what every reply needs: in one hook each, because a hook of Fastify's costs more than what is
 * done in it.
 */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { LetIn } from './draining.ts';
import { findMalformed } from './error-replies.ts';
import type { Failure } from './errors.ts';
import { keepAlive } from './node-internals.ts';
import { keepReply } from './raw-replies.ts';
import type { LogRequest } from './request-log.ts';
import { SECURITY_HEADERS } from './security-headers.ts';

const SECURITY = Object.entries(SECURITY_HEADERS);

export interface EveryRequestOptions {
  logRequest: LogRequest | undefined;
  toNotFound: (url: string) => Failure;
  letIn: LetIn;
  isDraining: () => boolean;
}

/** Returns what a reply needs that is sent without Fastify, beside its `x-request-id`. */
export function addEveryRequest(app: FastifyInstance, options: EveryRequestOptions) {
  const { logRequest, toNotFound, letIn, isDraining } = options;

  app.decorateRequest('operationId', undefined);
  app.decorateRequest('isReplayed', false);
  app.addHook('onRequest', (request, reply, done) => {
    logRequest?.(request, reply);
    keepReply(request, reply);
    // Before Fastify looks at the body.
    const failure = findMalformed(request) ?? (request.is404 ? toNotFound(request.url) : undefined);
    if (failure) done(failure);
    else letIn(done);
  });

  function beforeReply({ raw }: FastifyRequest, reply: FastifyReply): void {
    // Not when it comes: a request that came before the stop, and is answered after it, must close its connection, too.
    if (isDraining()) keepAlive(reply.raw, false);
    // When a client disconnects, Node emits no event for a reply that waits behind another one.
    if (reply.raw.socket === null && raw.socket.destroyed) reply.raw.emit('close');
  }

  app.addHook('onSend', (request, reply, _payload, done) => {
    reply.header('x-request-id', request.id);
    for (const [name, value] of SECURITY) if (!reply.hasHeader(name)) reply.header(name, value);
    beforeReply(request, reply);
    done();
  });
  return beforeReply;
}
