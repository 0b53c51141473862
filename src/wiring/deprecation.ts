/** What a deprecated operation says of itself on every reply, from the dates in the contract. */
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
