/** Passes records as one array for each field, from which `unnest` makes rows. */
import type { Fields } from '../collection.ts';
import { type Field, toJsonText } from '../table.ts';

const TYPES = {
  ...{ int64: 'bigint', int32: 'integer', number: 'float8', boolean: 'boolean' },
  ...{ text: 'text', uuid: 'text', time: 'text', json: 'text' },
};

/** `$1::text` */
export const toPlace = ({ type }: Field, number: number) => `$${number}::${TYPES[type]}`;

/** The columns, and `$1::text[],…` for the arrays. */
export function toArraysSql(fields: readonly Field[]): { columns: string; arrays: string } {
  return {
    columns: fields.map(({ column }) => column).join(),
    arrays: fields.map((field, index) => toArraySql(field, index + 1)).join(),
  };
}

/** `$1::text[]` */
export const toArraySql = ({ type }: Field, index: number) => `$${index}::${TYPES[type]}[]`;

/** The arrays of values, with NULL for absent fields. */
export function toArrays(fields: readonly Field[], records: readonly Fields[]): unknown[][] {
  return fields.map((field) => records.map((record) => toValue(field, record[field.name])));
}

/** A value as it is bound. For a field that may be absent or null, NULL means absent, and the text `null` means null. */
export function toValue({ type, isNullable, isOptional }: Field, value: unknown): unknown {
  if (type !== 'json' || value === undefined) return value ?? null;
  return value === null && isNullable && !isOptional ? null : toJsonText(value);
}
