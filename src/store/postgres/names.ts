/** What statements are made of. */
import type { Field } from '../table.ts';

/** Any text as the name of a schema or table, exactly as it is. */
export function quote(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

/** Columns of texts have the collation "C", in which only the letters A to Z have small ones. */
export const toCompared = ({ ignoresCase }: Field, sql: string) => (ignoresCase ? `lower(${sql})` : sql);

/** The number of the lock of whoever writes records of a schema, given by its quoted name. */
export const lockOf = (schema: string) => `'${schema.replaceAll("'", "''")}'::regnamespace::oid::bigint`;

/** The time of now, as it is kept. */
export const NOW = `to_char(clock_timestamp() AT TIME ZONE 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"')`;
