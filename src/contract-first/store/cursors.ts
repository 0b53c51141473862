/** Cursors: opaque texts that say after which record a page begins, bound to the filters of the list. */
import { hash } from 'node:crypto';
import { parseInt64 } from '../json/int64.ts';

/** How many characters of the filters' digest a cursor has: enough to tell lists apart, which needs no security. */
const LENGTH = 11;

/**
 * The cursor after the record with this id, in a list with these filter values (undefined for unused filters). `place` is the record's
 * value of the field that the list is ordered by, unless it is ordered by id.
 */
export function toCursor(id: bigint, values: readonly unknown[] = [], place?: string): string {
  // Unused filters at the end are left out, so that old cursors stay valid when a filter is added at the end.
  const used = values.slice(0, values.findLastIndex((value) => value !== undefined) + 1);
  const text = `${id} ${used.length > 0 ? toDigest(used) : ''}`;
  return Buffer.from(place === undefined ? text : `${text} ${place}`).toString('base64url');
}

/** The id in a cursor; undefined if the cursor is made up, or belongs to other filter values. */
export function fromCursor(cursor: string, values: readonly unknown[]): bigint | undefined {
  const id = parseInt64(Buffer.from(cursor, 'base64url').toString().split(' ', 1)[0] as string);
  return id !== undefined && toCursor(id, values) === cursor ? id : undefined;
}

/** The id and place in a cursor of a list in a declared order. */
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

/** The shortest and the longest cursor of lists ordered by id. */
export const EXTREME_CURSORS = [toCursor(1n), toCursor(-(2n ** 63n), [''])];
