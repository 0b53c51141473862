/**
 * The SQL dialect of PostgreSQL: names, locks, times and values. To insert many records, one array is bound for each
 * field, and `unnest` turns the arrays into rows.
 */
import { toSqlLiteral } from '../../json/literals.ts';
import type { Dialect } from '../changes/statement.ts';
import type { Fields } from '../collection.ts';
import { type Field, type JsonDialect, perTable, shownOf, toJsonText, toRecordJson } from '../tables/table.ts';

/** Quotes the name of a schema or table for SQL. */
export function quote(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

/**
 * For an equality comparison, SQL of a field that ignores case is wrapped in `lower`. Every text column uses the
 * collation "C", so that `lower` changes only the letters A to Z.
 */
export const toCompared = ({ ignoresCase }: Field, sql: string) => (ignoresCase ? `lower(${sql})` : sql);

/**
 * Returns SQL of the number of the advisory lock that writers of a schema's records hold. `schema` is the quoted name
 * of the schema.
 */
export const lockOf = (schema: string) => `${toSqlLiteral(schema)}::regnamespace::oid::bigint`;

/** SQL of the current time, in the stored form of times. */
export const NOW = `to_char(clock_timestamp() AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;

/** The column types. */
export const POSTGRES_TYPES = {
  ...{ int64: 'bigint', int32: 'integer', number: 'double precision', boolean: 'boolean' },
  ...{ text: 'text', uuid: 'text', time: 'text', json: 'text' },
} as const;
export type PostgresType = (typeof POSTGRES_TYPES)[keyof typeof POSTGRES_TYPES];

/** Returns the list of columns as SQL, and the list of the arrays that contain their values: `$1::text[],…`. */
export function toArraysSql(fields: readonly Field[]): { columns: string; arrays: string } {
  return {
    columns: fields.map(({ column }) => column).join(),
    arrays: fields.map((field, index) => toArraySql(field, index + 1)).join(),
  };
}

/** Returns SQL of the array with the values of a field, such as `$1::text[]`. */
export const toArraySql = ({ type }: Field, index: number) => `$${index}::${POSTGRES_TYPES[type]}[]`;

/** Returns an array for each field, with the values of all records. An absent value is NULL. */
export function toArrays(fields: readonly Field[], records: readonly Fields[]): unknown[][] {
  return fields.map((field) => records.map((record) => toValue(field, record[field.name])));
}

/**
 * Converts the value of a field to the form that the statement binds. If the field may be both absent and null, NULL
 * means absent, and the text `null` means null.
 */
function toValue({ type, isNullable, isOptional }: Field, value: unknown): unknown {
  if (type !== 'json' || value === undefined) return value ?? null;
  return value === null && isNullable && !isOptional ? null : toJsonText(value);
}

const JSON_SQL: JsonDialect = {
  quote: (column) => `to_json(${column})::text`,
  toBoolean: (column) => `${column}::text`,
  unlessNull: (_column, text) => `coalesce(${text}, '')`,
};

const toJsonSql = perTable(({ fields }) => toRecordJson(fields, JSON_SQL));
export const toShownSql = perTable(({ fields }) => toRecordJson(shownOf(fields), JSON_SQL));

export const toDialect = (schema: string): Dialect => ({
  placeholder: (number, { type }) => `$${number}::${POSTGRES_TYPES[type]}`,
  mark: (number) => `$${number}`,
  toValue,
  nameOf: ({ name }) => `${schema}.${name}`,
  toJsonSql,
  toShownSql,
  toSum: ({ column }, bind) => `${column} + ${bind()}`,
  toCompared,
  toOrdered: toCompared,
  elements: (number) => `json_array_elements($${number}::json)`,
  now: 'now()',
  toHours: (count) => `interval '1 hour' * ${count}`,
  keyOrder: 'place',
  row: 'ctid',
  nestsWrites: true,
  keyState: "current_setting('transaction_read_only')",
});
