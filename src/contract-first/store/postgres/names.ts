/** Parts of SQL statements: names, locks, times. */
import { toSqlLiteral } from '../../json/literals.ts';
import type { Field } from '../table.ts';

/** Quotes the name of a schema or table. */
export function quote(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

/** Columns of texts have the collation "C", in which `lower` changes only the letters A to Z. */
export const toCompared = ({ ignoresCase }: Field, sql: string) => (ignoresCase ? `lower(${sql})` : sql);

/** The number of the advisory lock for writing records of a schema, by its quoted name. */
export const lockOf = (schema: string) => `${toSqlLiteral(schema)}::regnamespace::oid::bigint`;

/** SQL of the current time, in its stored form. */
export const NOW = `to_char(clock_timestamp() AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;
