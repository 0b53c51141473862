/** Headers that every reply has. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import { isInjected } from './connections.ts';

/**
 * The headers that OWASP's REST cheat sheet asks for: replies are not cached, not shown as pages, and have the type that they declare.
 * They are constants, for which @fastify/helmet would add a hook to each request. `Strict-Transport-Security` is left to the
 * proxy that terminates TLS (RFC 6797, section 7.2).
 */
export const SECURITY_HEADERS = {
  'cache-control': 'no-store',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'x-content-type-options': 'nosniff',
};

/** Adds the id, and these headers where `server-response.ts` does not: it has the replies on connections of our own server only. */
export function addOwnHeaders({ id, raw }: FastifyRequest, reply: FastifyReply): void {
  reply.header('x-request-id', id);
  if (!isInjected(raw) && !(raw as { upgrade?: boolean }).upgrade) return;
  for (const [name, value] of Object.entries(SECURITY_HEADERS)) if (!reply.hasHeader(name)) reply.header(name, value);
}
