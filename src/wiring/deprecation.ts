/** The headers on every reply of a deprecated operation, from the dates in the contract. */
import type { onSendHookHandler } from 'fastify';
import type { Contract, Operation } from '../contract/contract.ts';

type Headers = Record<string, string>;

/** `Deprecation` (RFC 9745), `Sunset` (RFC 8594), `Link` to what to use instead; empty for any other operation. */
export function deprecationHeaders({ deprecation }: Operation, { prefix, operations }: Contract): Headers {
  if (!deprecation) return {};
  const { at, sunset, successor } = deprecation;
  return {
    deprecation: `@${at.getTime() / 1000}`,
    sunset: sunset.toUTCString(),
    link: `<${prefix}${operations.get(successor)?.path}>; rel="successor-version"`,
  };
}

/** Adds the link to a handler's own headers. Its own links, such as the one to the next page, come first (RFC 8288: links add up). */
export function linkToSuccessor(link: string | undefined): (own: Headers) => Headers {
  if (!link) return (own) => own;
  return (own) => ({ ...own, Link: own.Link ? `${own.Link}, ${link}` : link });
}

/** Adds the headers in onSend, so that errors have them, too. */
export function announce(headers: Headers): onSendHookHandler[] {
  if (!headers.link) return [];
  return [
    (_request, reply, _payload, done) => {
      reply.headers({ ...headers, link: reply.getHeader('link') ?? headers.link });
      done();
    },
  ];
}
