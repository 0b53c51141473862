/** Runs what asks for statements, on one connection. */
import type { Asking } from '../asking.ts';
import type { Dialect } from '../statement.ts';
import { toPlace, toValue } from './arrays.ts';
import type { Connection, Row } from './connection.ts';
import { toJsonSql } from './record-json.ts';

export const toDialect = (schema: string): Dialect => ({
  place: (number, field) => toPlace(field, number),
  toValue,
  nameOf: ({ name }) => `${schema}.${name}`,
  toJsonSql,
  toOrdered: (_field, sql) => sql,
});

/** It is told where a statement fails. */
export async function drive<Result>(connection: Connection, asking: Asking<Result>): Promise<Result> {
  let step = asking.next();
  while (!step.done) {
    let rows: Row[];
    try {
      rows = await connection.query(step.value.sql, step.value.values);
    } catch (error) {
      step = asking.throw(error);
      continue;
    }
    step = asking.next(rows);
  }
  return step.value;
}
