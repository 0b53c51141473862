/** Values that the store sets or converts before they are written. */
import { randomUUID } from 'node:crypto';
import { toInstant } from '../json/instant.ts';
import { parseInt64 } from '../json/int64.ts';
import type { Fields } from './collection.ts';
import { type Field, isText, type Table } from './table.ts';

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
export function toKeptFields({ fields }: Table, given: Fields): Fields {
  const kept: Fields = {};
  for (const field of fields)
    if (given[field.name] !== undefined) kept[field.name] = toStored(field, given[field.name]);
  return kept;
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
