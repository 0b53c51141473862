/** Pages: the opaque cursor, bound to the filter that it was given out for, and the `Link` to the next page (RFC 8288). */
import { LRUCache } from 'lru-cache';
import { parseInt64 } from '../json/int64.ts';

/** A popular page is asked for again and again: to encode its cursor each time takes memory that V8 frees late. */
const known = new LRUCache<string, string>({ max: 1000 });

/** The cursor after the pet with this id, in a list filtered by `filter`. */
export function toCursor(id: bigint, filter = ''): string {
  const text = `${id} ${filter}`;
  return known.get(text) ?? encode(text);
}

function encode(text: string): string {
  const cursor = Buffer.from(text).toString('base64url');
  known.set(text, cursor);
  return cursor;
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

export function nextLink(url: string): string {
  return `<${url}>; rel="next"`;
}
