/** The driver that runs the statements of generators on a connection. */
import { parse } from 'lossless-json';
import type { SqlStep, SqlSteps } from '../collection.ts';
import type { PostgresConnection } from './connection.ts';
import { localSettingsSql } from './session.ts';

/** Runs a generator that only reads. The generator's statements see the same snapshot. */
export async function driveReading<Result>(
  connection: PostgresConnection,
  schema: string,
  steps: SqlSteps<Result>,
): Promise<Result> {
  try {
    await connection.query(`BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY; SELECT ${localSettingsSql(schema)}`);
    return await drive(connection, steps);
  } finally {
    if (connection.isOpen) await connection.query('ROLLBACK');
  }
}

/**
 * Runs one statement. SQL that a team has written runs as a subquery, because a subquery cannot contain INSERT, UPDATE
 * or DELETE. The rows of such SQL are read as JSON, so that numbers keep every digit and integers become bigint.
 */
async function query(connection: PostgresConnection, { sql, values, isReadOnly }: SqlStep): Promise<unknown[][]> {
  if (!isReadOnly) return connection.query(sql, values);
  const [[text]] = (await connection.query(`SELECT coalesce(json_agg(_row), '[]') FROM (${sql}) AS _row`, values)) as [
    [string],
  ];
  return parse(text, undefined, toNumber) as unknown[][];
}

const toNumber = (text: string) => (/^-?\d+$/.test(text) ? BigInt(text) : Number(text));

/**
 * Runs a generator to its end. The error of a failed statement is thrown into the generator, which may catch it. If the
 * connection is lost, the generator is not resumed.
 */
export async function drive<Result>(connection: PostgresConnection, steps: SqlSteps<Result>): Promise<Result> {
  let step = steps.next();
  while (!step.done) {
    let rows: unknown[][];
    try {
      rows = await query(connection, step.value);
    } catch (error) {
      if (!connection.isOpen) throw error;
      step = steps.throw(error);
      continue;
    }
    step = steps.next(rows);
  }
  return step.value;
}
