/** The table of a collection, as both databases write and read it: plain data, which may be sent to a thread. */
import { stringify } from 'lossless-json';
import type { AnyDescription, AnyDomain, Column, ColumnType } from './description.ts';

export interface Field extends Readonly<Column> {
  name: string;
}

export interface Table {
  /** The name of its collection. */
  collection: string;
  name: string;
  /** In the order in which they are printed. */
  fields: Field[];
  /** Those that are written; the database assigns the sequence. */
  newFields: Field[];
  /** Those that lists can be filtered by. */
  filters: Field[];
  /** The field that records are found by. */
  id: Field;
  /** The column that pages go by: an int64 id that the store gives, or one that no client sees. */
  sequence: string;
}

/** The column of records whose ids are given, or are no int64. */
const SEQUENCE = 'seq';

/** What needs no quotes in SQL. */
const NAME = /^[a-z_][a-z0-9_]*$/;

export const toTables = (domain: AnyDomain): Table[] =>
  Object.entries(domain).map(([collection, description]) => toTable(description, collection));

/** @throws Error where no statement could be made of it */
export function toTable({ table, columns, lists: { equal = [] } = {} }: AnyDescription, collection = table): Table {
  const fields = Object.entries(columns).map(([name, column]): Field => ({ name, ...column }));
  const odd = [table, ...fields.map(({ column }) => column)].filter((name) => !NAME.test(name));
  if (odd.length > 0) throw new Error(`tables and columns are named in small letters, digits and _, not ${odd}`);
  const [id, ...others] = fields.filter(({ set, is }) => set === 'id' || is === 'id');
  if (!id || others.length > 0) throw new Error(`one column of ${table} has \`set: 'id'\` or \`is: 'id'\``);
  const isSequence = id.set === 'id' && id.type === 'int64';
  const newFields = isSequence ? fields.filter((field) => field !== id) : fields;
  const filtered = equal.map((filter) => fields.find(({ name }) => name === filter) as Field);
  const unfit = filtered.find(({ type }) => type === 'json');
  if (unfit) throw new Error(`lists cannot be filtered by ${unfit.name}, which is kept as JSON`);
  const sequence = isSequence ? id.column : SEQUENCE;
  return { collection, name: table, fields, newFields, filters: filtered, id, sequence };
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
  if (isText(type)) return quote(column);
  if (type === 'boolean') return toBoolean(column);
  // PostgreSQL takes a null in JSON for a number that is wrong.
  return isNullable ? `CAST(${column} AS text)` : column;
}

export const isText = (type: ColumnType) => type === 'text' || type === 'uuid' || type === 'time';

/** A value of a `json` field as text, every digit kept. */
export const toJsonText = (value: unknown) => stringify(value) as string;
