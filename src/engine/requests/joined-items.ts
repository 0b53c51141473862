/** The items of `?ids=1,2` and `/1,2`. A comma within an item is percent-encoded (RFC 6570, section 3.2.8): they are parted before they are decoded. */

/** The items of the first parameter with this name. */
export function toJoined(url: string, name: string): string[] {
  // Where the router and Fastify's parser see the parts, too.
  const pairs = url.replace(/^.[^?]*./, '').split('&');
  const named = pairs.filter((pair) => decodeField(pair.replace(/=.*/, '')) === name);
  return named.slice(0, 1).flatMap((pair) =>
    pair
      .replace(/^[^=]*=?/, '')
      .split(',')
      .map(decodeField),
  );
}

/** The items of the part of a path that has so many others behind it. */
export function toJoinedPart(url: string, fromEnd: number): string[] {
  const parts = url.replace(/[?#].*/s, '').split('/');
  return (parts.at(-1 - fromEnd) as string).split(',').map(decodeURIComponent);
}

/** A field of a form, where a space may be `+`. */
const decodeField = (encoded: string) => decodeURIComponent(encoded.replaceAll('+', ' '));
