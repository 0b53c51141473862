/** Values that the store sets, converts or refuses before they are written. */
import { hash, randomUUID } from 'node:crypto';
import { parseInt64 } from '../../json/exact-number.ts';
import { toInstant } from '../../json/instant.ts';
import { type Fields, InvalidValue } from '../collection.ts';
import { toWantedIndexes } from './indexes.ts';
import { type Field, isText, perTable, type Table } from './table.ts';

/** The longest name that is stored as it is: an index of PostgreSQL takes three of them. */
const LONGEST_NAME = 255;

/** How many bytes the texts of an index may have together. PostgreSQL takes 2,704, with the sequence number and the lengths. */
const MOST_INDEXED = 2600;

/** Whether a value can be stored if it is a text: PostgreSQL has no U+0000, and UTF-8 no half of a surrogate pair. */
export const isStorable = (value: unknown): boolean =>
  typeof value !== 'string' || (value.isWellFormed() && !value.includes('\0'));

/** A value to look for: null, which equals nothing, where no record can have it. */
export const toLookupValue = (value: unknown): unknown => (isStorable(value) ? value : null);

/** A name that others choose, as it is stored: its digest if it is long, or cannot be stored. */
export const toStoredName = (name: string): string =>
  name.length <= LONGEST_NAME && isStorable(name) ? name : `sha256 ${hash('sha256', JSON.stringify(name))}`;

/** @throws InvalidValue for a text that PostgreSQL, or an index there, cannot take, so that both databases take the same records */
export function checkTexts(table: Table, record: Fields): void {
  const odd = textsOf(table).find((name) => !isStorable(record[name]));
  if (odd !== undefined)
    throw new InvalidValue(`${odd} has the character U+0000, or half of a surrogate pair, which cannot be stored`);
  for (const [name, most] of limitsOf(table)) {
    const text = record[name];
    // A UTF-16 code unit has at most three bytes of UTF-8.
    if (typeof text === 'string' && 3 * text.length > most && Buffer.byteLength(text) > most)
      throw new InvalidValue(`${name} has more than ${most} bytes, the most that its index can hold`);
  }
}

const textsOf = perTable(({ fields }) => fields.flatMap(({ name, type }) => (isText(type) ? name : [])));

/** The fields with texts that are in an index, and how many bytes each may have. */
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

/** Stands for a time that is set later, when a record is checked. */
const SOME_TIME = '1970-01-01T00:00:00.000Z';

/** A record as it will be stored, with its fields in order. Fields that only the database can set have a placeholder. */
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

/** The fields of a change as they will be stored. */
export function toStoredFields({ fields }: Table, given: Fields): Fields {
  const stored: Fields = {};
  for (const field of fields)
    if (given[field.name] !== undefined) stored[field.name] = toStored(field, given[field.name]);
  return stored;
}

/** Parses the value of a sortable field in a cursor; undefined if it is invalid. */
export function fromText({ type }: Field, text: string): unknown {
  if (type === 'int64') return parseInt64(text);
  if (type === 'time') return toInstant(text) === text ? text : undefined;
  // PostgreSQL stores no U+0000.
  if (isText(type)) return text.includes('\0') ? undefined : text;
  const number = Number(text);
  const isOne = type === 'int32' ? (number | 0) === number : Number.isFinite(number);
  return isOne ? number : undefined;
}

/** A time as it is stored. A text that is no time stays: no record has it, and the check of a new record refuses it. */
export const toStoredTime = (text: string): string => toInstant(text) ?? text;

/** A value of a field as it is stored. */
export function toStored(field: Field, value: unknown): unknown {
  const { type } = field;
  // A condition may have a list of values.
  if (type === 'time' && Array.isArray(value)) return value.map((one) => toStored(field, one));
  return type === 'time' && typeof value === 'string' ? toStoredTime(value) : value;
}
