/** The table of a domain, as both databases write and read it: plain data, which may be sent to a thread. */
import { stringify } from 'lossless-json';
import type { Fields } from './collection.ts';
import type { AnyDomain, Column } from './description.ts';

export interface Field extends Readonly<Column> {
  name: string;
}

export interface Table {
  name: string;
  /** In the order in which they are printed; the first is `id`. */
  fields: Field[];
  /** Those that are written; the database assigns the id. */
  newFields: Field[];
  /** Those that lists can be filtered by. */
  filters: Field[];
}

/** What needs no quotes in SQL. */
const NAME = /^[a-z_][a-z0-9_]*$/;

/** @throws Error where no statement could be made of it */
export function toTable({ table, columns, filters }: AnyDomain): Table {
  const fields = Object.entries(columns).map(([name, column]): Field => ({ name, ...column }));
  const odd = [table, ...fields.map(({ column }) => column)].filter((name) => !NAME.test(name));
  if (odd.length > 0) throw new Error(`tables and columns are named in small letters, digits and _, not ${odd}`);
  const newFields = fields.filter(({ name }) => name !== 'id');
  const filtered = filters.map((filter) => fields.find(({ name }) => name === filter) as Field);
  const unfit = filtered.find(({ type }) => type === 'json');
  if (unfit) throw new Error(`lists cannot be filtered by ${unfit.name}, which is kept as JSON`);
  return { name: table, fields, newFields, filters: filtered };
}

/** What differs between databases in SQL that writes JSON. */
export interface JsonDialect {
  /** The text of a column as a JSON string; `null` or NULL where it is NULL. */
  quote(column: string): string;
  /** `true` or `false`; NULL where it is NULL. */
  toBoolean(column: string): string;
  /** The text, or '' where the column is NULL. */
  unlessNull(column: string, text: string): string;
}

/** SQL: a row as the contract's JSON, without the fields that are absent. */
export function toRecordJson({ fields }: Table, dialect: JsonDialect): string {
  const members = fields.map((field, index) => {
    const { name, column, isOptional, isNullable } = field;
    const value = toValueJson(field, dialect);
    const start = `'${index === 0 ? '' : ','}"${name}":' || `;
    if (isOptional) return dialect.unlessNull(column, start + value);
    return start + (isNullable ? `coalesce(${value}, 'null')` : value);
  });
  return `'{' || ${members.join(' || ')} || '}'`;
}

function toValueJson({ column, type, isNullable }: Field, { quote, toBoolean }: JsonDialect): string {
  if (type === 'text') return quote(column);
  if (type === 'boolean') return toBoolean(column);
  // PostgreSQL takes a null in JSON for a number that is wrong.
  return isNullable ? `CAST(${column} AS text)` : column;
}

/** The record as it is stored: its id, and every field with a column. */
export function toRecord({ newFields }: Table, id: bigint, record: Fields): Fields {
  const written: Fields = { id };
  for (const { name } of newFields) if (record[name] !== undefined) written[name] = record[name];
  return written;
}

/** A value of a `json` field as text, every digit kept. */
export const toJsonText = (value: unknown) => stringify(value) as string;
