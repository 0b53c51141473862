/** The items of `?ids=1,2`. A comma within an item is percent-encoded (RFC 6570, section 3.2.8): they are parted before they are decoded. */

/** Those of the first parameter with this name. */
export function toJoined(url: string, name: string): string[] {
  // Where the router and Fastify's parser see the parts, too.
  const pairs = url.replace(/^.[^?]*./, '').split('&');
  const named = pairs.filter((pair) => decode(pair.replace(/=.*/, '')) === name);
  return named.slice(0, 1).flatMap((pair) =>
    pair
      .replace(/^[^=]*=?/, '')
      .split(',')
      .map(decode),
  );
}

/** What is not well-formed stays as it is. */
function decode(encoded: string): string {
  const text = encoded.replaceAll('+', ' ');
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
