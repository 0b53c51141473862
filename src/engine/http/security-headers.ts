/** Headers that every reply has. */
import type { FastifyReply } from 'fastify';
import { isInjected } from './connections.ts';

/**
 * The headers that OWASP's REST list asks of every reply: replies are made for one key, are no pages, and are what they say they are.
 * Constants, so @fastify/helmet would add a hook to each request and nothing else. `Strict-Transport-Security` is for the
 * proxy that has the TLS (RFC 6797, section 7.2).
 */
export const SECURITY_HEADERS = {
  'cache-control': 'no-store',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'x-content-type-options': 'nosniff',
};

/** `server-response.ts` puts them on all replies but those that `app.inject` makes itself. */
export function secureInjected(reply: FastifyReply): void {
  if (isInjected(reply.request.raw)) reply.headers(SECURITY_HEADERS);
}
