/** Writes and reads the cursors of lists. Clients get a cursor in the link to the next page. */
import { hash } from 'node:crypto';
import { parseInt64 } from '../json/exact-number.ts';

/**
 * The length of the digest of the filters' values in a cursor. A short digest is enough, because it only distinguishes
 * the lists of one service.
 */
const LENGTH = 11;

/**
 * Writes the cursor for the position after a record. `id` is the record's sequence number. `values` contains the value
 * of each filter, or undefined if the query does not use that filter. `position` is given for a list with a declared
 * order: the text of the record's values in the fields of that order.
 */
export function toCursor(id: bigint, values: readonly unknown[] = [], position?: string): string {
  // Unused filters at the end are omitted, so that cursors stay valid if the description later declares another filter
  // at the end.
  const used = values.slice(0, values.findLastIndex((value) => value !== undefined) + 1);
  const text = `${id} ${used.length > 0 ? toDigest(used) : ''}`;
  return Buffer.from(position === undefined ? text : `${text} ${position}`).toString('base64url');
}

/**
 * Reads a cursor: the sequence number, and, for a list with a declared order (`isSorted`), the position. Returns
 * undefined if the cursor belongs to another list, or was invented by a client.
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

/**
 * The shortest and the longest possible cursor of a list in the order of sequence numbers. The build uses them to check
 * whether a contract allows all cursors.
 */
export const EXTREME_CURSORS = [toCursor(1n), toCursor(-(2n ** 63n), [''])];
