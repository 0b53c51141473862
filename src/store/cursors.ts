/** Cursors: opaque texts that say after which record a page begins, bound to the values that the list is filtered by. */
import { hash } from 'node:crypto';
import { parseInt64 } from '../json/int64.ts';

/** How much of the digest of the values a cursor has: enough to tell lists apart, which is no secret. */
const LENGTH = 11;

/** The cursor after the record with this id, in a list filtered by these values; undefined where a filter is not used. */
export function toCursor(id: bigint, values: readonly unknown[] = []): string {
  // The filters behind the last one used do not count: one that is added at the end leaves all cursors valid.
  const used = values.slice(0, values.findLastIndex((value) => value !== undefined) + 1);
  return Buffer.from(`${id} ${used.length > 0 ? toDigest(used) : ''}`).toString('base64url');
}

/** The id in a cursor, or `undefined` where the cursor is made up or belongs to other values. */
export function fromCursor(cursor: string, values: readonly unknown[]): bigint | undefined {
  const id = parseInt64(Buffer.from(cursor, 'base64url').toString().split(' ', 1)[0] as string);
  return id !== undefined && toCursor(id, values) === cursor ? id : undefined;
}

function toDigest(values: readonly unknown[]): string {
  const texts = values.map((value) => (value === undefined ? null : String(value)));
  return hash('sha256', JSON.stringify(texts), 'base64url').slice(0, LENGTH);
}

/** The shortest and the longest cursor that any list may give out. */
export const EXTREME_CURSORS = [toCursor(1n), toCursor(-(2n ** 63n), [''])];
