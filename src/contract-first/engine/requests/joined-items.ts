/**
 * The items of `?ids=1,2` and `/1,2`. A comma within an item is percent-encoded (RFC 6570, section 3.2.8), so items are split first. Spaces
 * and pipes are encoded themselves, so that items have none.
 */
import type { ParameterStyle } from '../contract/contract.ts';

/** The separators of arrays in the query: as they are sent, and as they arrive. */
export const SEPARATORS: Partial<Record<ParameterStyle, { sent: string; arrived: RegExp }>> = {
  joined: { sent: ',', arrived: /,/ },
  spaced: { sent: '%20', arrived: /%20|\+/ },
  piped: { sent: '%7C', arrived: /%7C|\|/i },
};

/** The items of the first parameter with this name. */
export function toJoined(url: string, name: string, separator: RegExp): string[] {
  // Splits the query where the router and Fastify's parser do.
  const pairs = url.replace(/^.[^?]*./, '').split('&');
  const named = pairs.filter((pair) => decodeField(pair.replace(/=.*/, '')) === name);
  return named.slice(0, 1).flatMap((pair) =>
    pair
      .replace(/^[^=]*=?/, '')
      .split(separator)
      .map(decodeField),
  );
}

/** The items of a path segment, which has `fromEnd` segments after it. */
export function toJoinedPart(url: string, fromEnd: number): string[] {
  const parts = url.replace(/[?#].*/s, '').split('/');
  return (parts.at(-1 - fromEnd) as string).split(',').map(decodeURIComponent);
}

/** Decodes a name or value of the query, where a space may be `+`. */
const decodeField = (encoded: string) => decodeURIComponent(encoded.replaceAll('+', ' '));
