/** The constant headers of every reply. `connections/response.ts` sends them. */

/**
 * The headers that OWASP's REST cheat sheet asks for: replies are not cached, not shown as pages, and have the type that they declare.
 * They are constants; @fastify/helmet would add a hook to each request for them. The proxy that terminates TLS sets
 * `Strict-Transport-Security` (RFC 6797, section 7.2).
 */
export const SECURITY_HEADERS = {
  'cache-control': 'no-store',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'x-content-type-options': 'nosniff',
};
