/** Headers that every reply has. */

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
