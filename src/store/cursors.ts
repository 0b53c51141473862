/** Cursors: opaque texts that say after which record a page begins, bound to the values that the list is filtered by. */
import { hash } from 'node:crypto';
import { parseInt64 } from '../json/int64.ts';

/** How much of the digest of the values a cursor has: enough to tell lists apart, which is no secret. */
const LENGTH = 11;

/**
 * The cursor after the record with this id, in a list filtered by these values, undefined where a filter is not used; and at this place in the
 * order of the list, where that is another than that of the ids.
 */
export function toCursor(id: bigint, values: readonly unknown[] = [], place?: string): string {
  // The filters behind the last one used do not count: one that is added at the end leaves all cursors valid.
  const used = values.slice(0, values.findLastIndex((value) => value !== undefined) + 1);
  const text = `${id} ${used.length > 0 ? toDigest(used) : ''}`;
  return Buffer.from(place === undefined ? text : `${text} ${place}`).toString('base64url');
}

/** The id in a cursor, or `undefined` where the cursor is made up or belongs to other values. */
export function fromCursor(cursor: string, values: readonly unknown[]): bigint | undefined {
  const id = parseInt64(Buffer.from(cursor, 'base64url').toString().split(' ', 1)[0] as string);
  return id !== undefined && toCursor(id, values) === cursor ? id : undefined;
}

/** The cursor of a list in another order, with the place in it. */
export function fromSortedCursor(
  cursor: string,
  values: readonly unknown[],
): { id: bigint; place: string } | undefined {
  const [first = '', , ...others] = Buffer.from(cursor, 'base64url').toString().split(' ');
  const id = parseInt64(first);
  const place = others.join(' ');
  return id !== undefined && toCursor(id, values, place) === cursor ? { id, place } : undefined;
}

function toDigest(values: readonly unknown[]): string {
  const texts = values.map((value) => (value === undefined ? null : String(value)));
  return hash('sha256', JSON.stringify(texts), 'base64url').slice(0, LENGTH);
}

/** The shortest and the longest cursor that any list may give out. */
export const EXTREME_CURSORS = [toCursor(1n), toCursor(-(2n ** 63n), [''])];
