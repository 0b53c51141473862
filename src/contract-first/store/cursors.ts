/** The cursors of all lists, as clients get them in links to the next page. */
import { hash } from 'node:crypto';
import { parseInt64 } from '../json/exact-number.ts';

/** The length of the digest of the filters in a cursor. The digest only has to distinguish lists; it does not have to be secure. */
const LENGTH = 11;

/**
 * Writes the cursor for the position after a record. `id` is the record's id. `values` are the values of the list's filters; undefined
 * means an unused filter. In a declared order, `position` is the text of the record's values in the fields of the order.
 */
export function toCursor(id: bigint, values: readonly unknown[] = [], position?: string): string {
  // Unused filters at the end are omitted. So old cursors stay valid when a description gains a filter at its end.
  const used = values.slice(0, values.findLastIndex((value) => value !== undefined) + 1);
  const text = `${id} ${used.length > 0 ? toDigest(used) : ''}`;
  return Buffer.from(position === undefined ? text : `${text} ${position}`).toString('base64url');
}

/**
 * Reads the id from a cursor, and in a declared order also the position. Returns undefined if a client has invented the cursor, or if it
 * belongs to another list.
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

/** The shortest and the longest cursor that a list ordered by id can have. */
export const EXTREME_CURSORS = [toCursor(1n), toCursor(-(2n ** 63n), [''])];
