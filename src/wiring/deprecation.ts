/** The headers on every reply of a deprecated operation, from the dates in the contract. */
import type { onSendHookHandler } from 'fastify';
import type { Contract, Operation } from '../contract/contract.ts';

/** `Deprecation` (RFC 9745), `Sunset` (RFC 8594), `Link` to what to use instead; empty for any other operation. */
export function deprecationHeaders(
  { deprecation }: Operation,
  { prefix, operations }: Contract,
): Record<string, string> {
  if (!deprecation) return {};
  const { at, sunset, successor } = deprecation;
  return {
    deprecation: `@${at.getTime() / 1000}`,
    sunset: sunset.toUTCString(),
    link: `<${prefix}${operations.get(successor)?.path}>; rel="successor-version"`,
  };
}

/** Adds the headers in onSend, so that errors have them, too. */
export function announceDeprecation(operation: Operation, contract: Contract): onSendHookHandler[] {
  if (!operation.deprecation) return [];
  const headers = deprecationHeaders(operation, contract);
  return [
    (_request, reply, payload, done) => {
      // A handler's own links, such as the one to the next page, come first (RFC 8288, section 3: links add up).
      const own = reply.getHeader('link');
      reply.headers(headers);
      if (own) reply.header('link', `${own}, ${headers.link}`);
      done(null, payload);
    },
  ];
}
