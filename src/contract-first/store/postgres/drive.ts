/** PostgreSQL's dialect, and the driver that runs generators of statements on one connection. */
import { parse } from 'lossless-json';
import type { Ask, Asking } from '../asking.ts';
import type { Dialect } from '../statement.ts';
import { toPlace, toValue } from './arrays.ts';
import type { Connection } from './connection.ts';
import { toCompared } from './names.ts';
import { toJsonSql } from './record-json.ts';
import { toLocalSettings } from './session.ts';

export const toDialect = (schema: string): Dialect => ({
  place: (number, field) => toPlace(field, number),
  mark: (number) => `$${number}`,
  toValue,
  nameOf: ({ name }) => `${schema}.${name}`,
  toJsonSql,
  toSum: ({ column }, bind) => `${column} + ${bind()}`,
  toCompared,
  toOrdered: toCompared,
  elements: (number) => `json_array_elements($${number}::json)`,
  seconds: 'CAST(floor(extract(epoch FROM now())) AS bigint)',
  nestsWrites: true,
  keyState: "current_setting('transaction_read_only')",
});

/** Runs a generator of reads on one snapshot. */
export async function driveReading<Result>(
  connection: Connection,
  schema: string,
  asking: Asking<Result>,
): Promise<Result> {
  try {
    await connection.query(`BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; SELECT ${toLocalSettings(schema)}`);
    return await drive(connection, asking);
  } finally {
    if (connection.isOpen) await connection.query('ROLLBACK');
  }
}

/** Runs a team's own statement as a subquery, which cannot write. Rows are read as JSON, with every digit; integers become bigint. */
async function query(connection: Connection, { sql, values, isOwn }: Ask): Promise<unknown[][]> {
  if (!isOwn) return connection.query(sql, values);
  const [[text]] = (await connection.query(`SELECT coalesce(json_agg(_row), '[]') FROM (${sql}) AS _row`, values)) as [
    [string],
  ];
  return parse(text, undefined, toNumber) as unknown[][];
}

const toNumber = (text: string) => (/^-?\d+$/.test(text) ? BigInt(text) : Number(text));

/** Runs a generator to its end. An error of a statement is thrown into it, and may be caught there, unless the connection is lost. */
export async function drive<Result>(connection: Connection, asking: Asking<Result>): Promise<Result> {
  let step = asking.next();
  while (!step.done) {
    let rows: unknown[][];
    try {
      rows = await query(connection, step.value);
    } catch (error) {
      if (!connection.isOpen) throw error;
      step = asking.throw(error);
      continue;
    }
    step = asking.next(rows);
  }
  return step.value;
}
