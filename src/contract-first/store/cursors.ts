/** The cursors of all lists, as clients get them in links to the next page. */
import { hash } from 'node:crypto';
import { parseInt64 } from '../json/exact-number.ts';

/** The length of the filters' digest in a cursor. The digest only distinguishes lists, and need not be secure. */
const LENGTH = 11;

/**
 * Writes the cursor after the record with this id, in a list with these values of filters; undefined is an unused filter. `position` is the
 * text of the record's values of the declared order, if there is one.
 */
export function toCursor(id: bigint, values: readonly unknown[] = [], position?: string): string {
  // Unused filters at the end are left out, so that old cursors stay valid when a filter is added at the end.
  const used = values.slice(0, values.findLastIndex((value) => value !== undefined) + 1);
  const text = `${id} ${used.length > 0 ? toDigest(used) : ''}`;
  return Buffer.from(position === undefined ? text : `${text} ${position}`).toString('base64url');
}

/**
 * Reads a cursor: the id, and in a declared order also the position. Returns undefined if a client has made the cursor up, or if it belongs
 * to another list.
 */
export function fromCursor(
  cursor: string,
  values: readonly unknown[],
  isSorted = false,
): { id: bigint; position: string | undefined } | undefined {
  const [first = '', , ...others] = Buffer.from(cursor, 'base64url').toString().split(' ');
  const id = parseInt64(first);
  const position = isSorted ? others.join(' ') : undefined;
  return id !== undefined && toCursor(id, values, position) === cursor ? { id, position } : undefined;
}

function toDigest(values: readonly unknown[]): string {
  const texts = values.map((value) => (value === undefined ? null : String(value)));
  return hash('sha256', JSON.stringify(texts), 'base64url').slice(0, LENGTH);
}

/** The shortest and the longest cursor of a list that is ordered by id. */
export const EXTREME_CURSORS = [toCursor(1n), toCursor(-(2n ** 63n), [''])];
