/** The headers on every reply of a deprecated operation, from the dates in the contract. */
import type { onSendHookHandler } from 'fastify';
import type { Contract, Operation } from '../contract/contract.ts';

type Headers = Record<string, string>;

/** `Deprecation` (RFC 9745), `Sunset` (RFC 8594), `Link` to what to use instead: those that are known. */
export function deprecationHeaders({ deprecation }: Operation, { prefix, operations }: Contract): Headers {
  if (!deprecation) return {};
  const { at, sunset, successor } = deprecation;
  return {
    ...(at && { deprecation: `@${at.getTime() / 1000}` }),
    ...(sunset && { sunset: sunset.toUTCString() }),
    ...(successor && { link: `<${prefix}${operations.get(successor)?.path}>; rel="successor-version"` }),
  };
}

/** Adds the link to a handler's own headers. Its own links, such as the one to the next page, come first (RFC 8288: links add up). */
export function linkToSuccessor(link: string | undefined): (own: Headers) => Headers {
  if (!link) return (own) => own;
  return (own) => ({ ...own, Link: own.Link ? `${own.Link}, ${link}` : link });
}

/** Adds the headers in onSend, so that errors have them, too. */
export function announce({ link, ...others }: Headers): onSendHookHandler[] {
  const addOthers: onSendHookHandler = (_request, reply, _payload, done) => {
    reply.headers(others);
    done();
  };
  const addLink: onSendHookHandler = (_request, reply, _payload, done) => {
    if (!reply.hasHeader('link')) reply.header('link', link);
    done();
  };
  return [...(Object.keys(others).length > 0 ? [addOthers] : []), ...(link ? [addLink] : [])];
}
