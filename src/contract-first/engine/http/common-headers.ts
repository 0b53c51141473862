/** The headers with constant values that every reply contains. `connections/response.ts` sends them. */

/**
 * The headers that OWASP's REST cheat sheet recommends. With them, browsers do not cache replies, do not show them as
 * pages, and do not guess their type. @fastify/helmet is not used, because it would run a hook for each request. The
 * proxy that terminates TLS sets `Strict-Transport-Security` (RFC 6797, section 7.2).
 */
export const SECURITY_HEADERS = {
  'cache-control': 'no-store',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'x-content-type-options': 'nosniff',
};
