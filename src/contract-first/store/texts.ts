/** The texts that both databases can hold. */
import { hash } from 'node:crypto';
import { type Fields, TextTooLong } from './collection.ts';
import type { Table } from './table.ts';

/** The longest name that is stored as it is: an index of PostgreSQL takes three of them. */
const LONGEST_NAME = 255;

/** How many bytes the texts of an index may have together. PostgreSQL takes 2,704, with the sequence number and the lengths. */
const MOST_INDEXED = 2600;

/** Whether a value can be stored if it is a text: PostgreSQL has no U+0000, and UTF-8 no half of a surrogate pair. */
export const isStorable = (value: unknown): boolean =>
  typeof value !== 'string' || (value.isWellFormed() && !value.includes('\0'));

/** A value to look for: null, which equals nothing, where no record can have it. */
export const toAsked = (value: unknown): unknown => (isStorable(value) ? value : null);

/** A name that others choose, as it is stored: its digest if it is long, or cannot be stored. */
export const toStoredName = (name: string): string =>
  name.length <= LONGEST_NAME && isStorable(name) ? name : `sha256 ${hash('sha256', JSON.stringify(name))}`;

/** @throws TextTooLong for a text that the table's indexes may not take in PostgreSQL, so that both databases take the same records */
export function checkLengths(table: Table, record: Fields): void {
  for (const [name, most] of limitsOf(table)) {
    const text = record[name];
    // A UTF-16 code unit has at most three bytes of UTF-8.
    if (typeof text === 'string' && 3 * text.length > most && Buffer.byteLength(text) > most)
      throw new TextTooLong(`${name} has more than ${most} bytes, the most that its index can hold`);
  }
}

const LIMITS = new WeakMap<Table, [name: string, most: number][]>();

/** The fields with texts that are in an index, and how many bytes each may have. */
function limitsOf(table: Table): [name: string, most: number][] {
  const known = LIMITS.get(table);
  if (known) return known;
  const { fields, filters, ranges, prefixes, orders, key, unique, tenant, relations } = table;
  const referring = [...Object.values(orders), ...relations].map(({ field }) => field);
  const listed = [...filters, ...ranges, ...prefixes, ...referring];
  const indexes = [
    key,
    ...unique.map(({ columns }) => columns),
    ...listed.map(({ column }) => [tenant?.column, column]),
  ];
  const texts = fields.filter(({ type }) => type === 'text' || type === 'uuid');
  const limits = texts.flatMap(({ name, column }): [string, number][] => {
    const sizes = indexes
      .filter((columns) => columns.includes(column))
      .map((columns) => texts.filter((text) => columns.includes(text.column)).length);
    return sizes.length > 0 ? [[name, Math.floor(MOST_INDEXED / Math.max(...sizes))]] : [];
  });
  LIMITS.set(table, limits);
  return limits;
}
