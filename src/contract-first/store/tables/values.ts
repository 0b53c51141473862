/** Sets, converts and checks the values of records before they are written. */
import { hash, randomUUID } from 'node:crypto';
import { parseInt64 } from '../../json/exact-number.ts';
import { toInstant } from '../../json/instant.ts';
import { type Fields, InvalidValue } from '../collection.ts';
import { toWantedIndexes } from './indexes.ts';
import { type Field, isText, perTable, type Table } from './table.ts';

/** The most characters of a name that is stored unchanged. An index of PostgreSQL has room for three such names. */
const LONGEST_NAME = 255;

/**
 * The most bytes of all texts together in a row of an index. PostgreSQL allows 2,704 bytes, including the sequence
 * number and the lengths.
 */
const MOST_INDEXED = 2600;

/**
 * Whether a value can be stored. PostgreSQL rejects texts with U+0000, and UTF-8 cannot contain half of a surrogate
 * pair.
 */
export const isStorable = (value: unknown): boolean =>
  typeof value !== 'string' || (value.isWellFormed() && !value.includes('\0'));

/**
 * Converts a value to the one that a lookup binds. A value that no stored record can contain becomes null, which
 * matches nothing.
 */
export const toLookupValue = (value: unknown): unknown => (isStorable(value) ? value : null);

/**
 * Converts a name from a client, such as an `Idempotency-Key`, to its stored form. A name that is too long, or that the
 * database cannot store, is replaced by its digest.
 */
export const toStoredName = (name: string): string =>
  name.length <= LONGEST_NAME && isStorable(name) ? name : `sha256 ${hash('sha256', JSON.stringify(name))}`;

/**
 * Checks that PostgreSQL and its indexes can store the texts of a record. SQLite could store more, but both databases
 * must accept the same records.
 * @throws InvalidValue
 */
export function checkTexts(table: Table, record: Fields): void {
  for (const name of textsOf(table))
    if (!isStorable(record[name]))
      throw new InvalidValue(`${name} contains U+0000, or half of a surrogate pair, which cannot be stored`);
  for (const [name, most] of limitsOf(table)) {
    const text = record[name];
    // Counts the bytes only if the text may be too long: a UTF-16 code unit takes at most three bytes of UTF-8.
    if (typeof text === 'string' && 3 * text.length > most && Buffer.byteLength(text) > most)
      throw new InvalidValue(`${name} has more than ${most} bytes, the most that its index can hold`);
  }
}

const textsOf = perTable(({ fields }) => fields.flatMap(({ name, type }) => (isText(type) ? name : [])));

/** Returns the text fields that are in an index, each with the most bytes that it may have. */
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

/**
 * A placeholder for a time that the database will set later, so that a new record can be checked before it is stored.
 */
const SOME_TIME = '1970-01-01T00:00:00.000Z';

/**
 * Converts a new record to its stored form, with its fields in order. Fields that only the database can set get
 * placeholders.
 */
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

/** Converts the given fields of a record, such as those of an update, to their stored form. */
export function toStoredFields({ fields }: Table, given: Fields): Fields {
  const stored: Fields = {};
  for (const field of fields)
    if (given[field.name] !== undefined) stored[field.name] = toStored(field, given[field.name]);
  return stored;
}

/**
 * Parses the text that a cursor contains for a field's value. Returns undefined if the text is not a valid value of
 * this field.
 */
export function fromText({ type }: Field, text: string): unknown {
  if (type === 'int64') return parseInt64(text);
  if (type === 'time') return toInstant(text) === text ? text : undefined;
  // PostgreSQL rejects texts with U+0000.
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
  // In a condition, the value may be a list of alternatives.
  if (type === 'time' && Array.isArray(value)) return value.map((one) => toStored(field, one));
  return type === 'time' && typeof value === 'string' ? toStoredTime(value) : value;
}
