/** Pages: the opaque cursor, bound to the filter that it was given out for, and the `Link` to the next page (RFC 8288). */
import { parseInt64 } from '../json/int64.ts';

/** The cursor after the pet with this id, in a list filtered by `filter`. */
export function toCursor(id: bigint, filter = ''): string {
  return Buffer.from(`${id} ${filter}`).toString('base64url');
}

/** The id in a cursor, or `undefined` where the cursor is made up or belongs to another filter. */
export function fromCursor(cursor: string, filter = ''): bigint | undefined {
  const id = parseInt64(Buffer.from(cursor, 'base64url').toString().split(' ', 1)[0] as string);
  return id !== undefined && toCursor(id, filter) === cursor ? id : undefined;
}

/** Two cursors that a list may give out: the shortest one, and the longest one with the longest of these filters. */
export function extremeCursors(filters: string[]): string[] {
  const [longest = ''] = [...filters].sort((a, b) => b.length - a.length);
  return [toCursor(1n), toCursor(-(2n ** 63n), longest)];
}

/** By page: one that the store keeps is sent again and again, and to make its link takes longer than to find the page. */
const links = new WeakMap<object, string>();

/** The `Link` from this page to the next one, made once. So the URL may hold only what the store has read the page by. */
export function nextLink(page: object, toUrl: () => string): string {
  return links.get(page) ?? addLink(page, toUrl());
}

function addLink(page: object, url: string): string {
  const link = `<${url}>; rel="next"`;
  links.set(page, link);
  return link;
}
