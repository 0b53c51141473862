/** Sets, converts and checks values before they are written. */
import { hash, randomUUID } from 'node:crypto';
import { parseInt64 } from '../../json/exact-number.ts';
import { toInstant } from '../../json/instant.ts';
import { type Fields, InvalidValue } from '../collection.ts';
import { toWantedIndexes } from './indexes.ts';
import { type Field, isText, perTable, type Table } from './table.ts';

/** The length of the longest name that is stored unchanged: an index of PostgreSQL has room for three of them. */
const LONGEST_NAME = 255;

/** The most bytes of all texts in an index together. PostgreSQL allows 2,704, which include the sequence number and the lengths. */
const MOST_INDEXED = 2600;

/** False for a text that cannot be stored: PostgreSQL does not allow U+0000, and UTF-8 does not allow half of a surrogate pair. */
export const isStorable = (value: unknown): boolean =>
  typeof value !== 'string' || (value.isWellFormed() && !value.includes('\0'));

/** The value to bind in a lookup: null, which matches nothing, if no stored record can contain the given value. */
export const toLookupValue = (value: unknown): unknown => (isStorable(value) ? value : null);

/** Converts a name that somebody else chose to its stored form: its digest if it is long, or cannot be stored unchanged. */
export const toStoredName = (name: string): string =>
  name.length <= LONGEST_NAME && isStorable(name) ? name : `sha256 ${hash('sha256', JSON.stringify(name))}`;

/**
 * Checks the texts of a record for PostgreSQL and its indexes. SQLite would accept more, but both databases must accept the same records.
 * @throws InvalidValue
 */
export function checkTexts(table: Table, record: Fields): void {
  for (const name of textsOf(table))
    if (!isStorable(record[name]))
      throw new InvalidValue(`${name} contains U+0000, or half of a surrogate pair, which cannot be stored`);
  for (const [name, most] of limitsOf(table)) {
    const text = record[name];
    // Counts the bytes only if necessary: a UTF-16 code unit becomes at most three bytes of UTF-8.
    if (typeof text === 'string' && 3 * text.length > most && Buffer.byteLength(text) > most)
      throw new InvalidValue(`${name} has more than ${most} bytes, the most that its index can hold`);
  }
}

const textsOf = perTable(({ fields }) => fields.flatMap(({ name, type }) => (isText(type) ? name : [])));

/** The fields with texts that are in an index, and the most bytes of each. */
const limitsOf = perTable((table): [name: string, most: number][] => {
  const { fields, filters, ranges, prefixes, key, unique, tenant, relations } = table;
  const listed = [...filters, ...ranges, ...prefixes, ...relations.map(({ field }) => field)];
  const indexes = [
    key,
    ...unique.map(({ columns }) => columns),
    ...listed.map(({ column }) => [tenant?.column, column]),
    ...toWantedIndexes(table).map(({ equal, order }) =>
      [...equal, ...order.map(({ field }) => field)].map(({ column }) => column),
    ),
  ];
  const texts = fields.filter(({ type }) => type === 'text' || type === 'uuid');
  return texts.flatMap(({ name, column }): [string, number][] => {
    const sizes = indexes
      .filter((columns) => columns.includes(column))
      .map((columns) => texts.filter((text) => columns.includes(text.column)).length);
    return sizes.length > 0 ? [[name, Math.floor(MOST_INDEXED / Math.max(...sizes))]] : [];
  });
});

/** The time in a record that is checked before the database sets the time. */
const SOME_TIME = '1970-01-01T00:00:00.000Z';

/** Converts a new record to its stored form, with its fields in order. Fields that only the database can set get a placeholder. */
export function toRecord({ fields, sequence }: Table, record: Fields, tenant?: unknown): Fields {
  const written: Fields = {};
  for (const field of fields) {
    const value =
      field.set === undefined
        ? toStored(field, record[field.name] ?? firstOf(field, record))
        : toSet(field, sequence, tenant);
    if (value !== undefined) written[field.name] = value;
  }
  return written;
}

const firstOf = ({ name, first }: Field, record: Fields) => (record[name] === undefined ? first : record[name]);

function toSet({ set, type, column }: Field, sequence: string, tenant: unknown): unknown {
  if (set === 'tenant') return tenant;
  if (set === 'revision') return 1n;
  if (set !== 'id') return SOME_TIME;
  return type === 'int64' && column === sequence ? 1n : randomUUID();
}

/** Converts the fields of a change to their stored form. */
export function toStoredFields({ fields }: Table, given: Fields): Fields {
  const stored: Fields = {};
  for (const field of fields)
    if (given[field.name] !== undefined) stored[field.name] = toStored(field, given[field.name]);
  return stored;
}

/** Parses the value of a field in a cursor; undefined if the text is not a value of the field. */
export function fromText({ type }: Field, text: string): unknown {
  if (type === 'int64') return parseInt64(text);
  if (type === 'time') return toInstant(text) === text ? text : undefined;
  // PostgreSQL does not allow U+0000.
  if (isText(type)) return text.includes('\0') ? undefined : text;
  const number = Number(text);
  const isOne = type === 'int32' ? (number | 0) === number : Number.isFinite(number);
  return isOne ? number : undefined;
}

/**
 * Converts a time to its stored form. Other texts are returned unchanged: no record contains them, and the check of a new record rejects
 * them.
 */
export const toStoredTime = (text: string): string => toInstant(text) ?? text;

/** Converts a value of a field to its stored form. */
export function toStored(field: Field, value: unknown): unknown {
  const { type } = field;
  // In a condition, the value may be a list of values.
  if (type === 'time' && Array.isArray(value)) return value.map((one) => toStored(field, one));
  return type === 'time' && typeof value === 'string' ? toStoredTime(value) : value;
}
