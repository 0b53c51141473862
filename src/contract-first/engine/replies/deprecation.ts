/** The headers on every reply of a deprecated operation, from the dates in the contract. */
import type { AnyContract, Operation } from '../contract/contract.ts';
import { encodePath } from '../contract/path-names.ts';

type Headers = Record<string, string>;

/** `Deprecation` (RFC 9745), `Sunset` (RFC 8594) and the `Link` to the successor, as far as the contract has them. */
export function deprecationHeaders(
  { deprecation }: Operation,
  { publicPath, prefix, operations }: AnyContract,
): Headers {
  if (!deprecation) return {};
  const { at, sunset, successor } = deprecation;
  const pathOf = (id: string) => (operations.get(id) as Operation).path;
  return {
    ...(at && { deprecation: `@${at.getTime() / 1000}` }),
    ...(sunset && { sunset: sunset.toUTCString() }),
    ...(successor && { link: `<${publicPath}${prefix}${encodePath(pathOf(successor))}>; rel="successor-version"` }),
  };
}

/** Joins a handler's own links, such as the one to the next page, with the successor's (RFC 8288). */
export const joinLinks = (own: string, successor: string | undefined): string =>
  successor === undefined ? own : `${own}, ${successor}`;
