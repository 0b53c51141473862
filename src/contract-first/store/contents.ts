/** The whole contents of a database: how it takes part in a move, and the count of records that do not fit a contract. */

import { type Dialect, sqlStep } from './changes/statement.ts';
import type { Awaitable, SqlSteps } from './collection.ts';
import type { Fits } from './store.ts';
import type { ColumnType } from './tables/description.ts';
import type { Table } from './tables/table.ts';

/** Each value of a row as text, with every digit. */
export type Row = (string | null)[];

export interface MovedTable {
  name: string;
  /** A number of seconds since 1970 is a time in PostgreSQL. */
  columns: readonly { column: string; type: ColumnType; isSeconds?: true }[];
  /** The column by which its rows are read. */
  order: string;
  /** The word for its rows. An empty database has none; tables without a word are emptied. */
  word?: string;
  /** Whether the database numbers its rows, in the column `order`. */
  isNumbered?: true;
}

/** A database in a move: one transaction, of rows whose values are texts. Statements find the tables by their names alone. */
export interface MovingSide extends Pick<Dialect, 'mark' | 'keyOrder'> {
  /** Begins the transaction: of a target, into which nobody else writes then, or of a source, which is read as it is now. */
  begin(isTarget: boolean): Awaitable<unknown>;
  query(sql: string, values?: unknown[]): Awaitable<Row[]>;
  /** The rows of a table, a few megabytes at a time. */
  read(table: MovedTable): Iterable<Row[]> | AsyncIterable<Row[]>;
  insert(table: MovedTable, rows: Row[]): Awaitable<unknown>;
  /** The highest number that was ever given to a row. */
  readLast(table: MovedTable): Awaitable<string>;
  /** Makes the number of the next row higher than this one, and than any that was ever given here. */
  raiseLast(table: MovedTable, last: string): Awaitable<unknown>;
  commit(): Awaitable<unknown>;
  /** Rolls back what was not committed. */
  end(): void;
}

/** How much is moved at once, in characters, to limit memory. */
export const MOST_MOVED = 4_000_000;

/** How much rows take of that. */
export const sizeOf = (rows: Row[]) =>
  rows.reduce((sum, row) => sum + row.reduce((size, value) => size + (value?.length ?? 0), 100), 0);

/** How many records are read at once, to limit memory. */
const CHUNK = 1000;

/** Counts the stored records that do not fit a contract. Once all fit, and that may be noted, they are not read again for this contract. */
export function* countInvalidRecords(
  { nameOf, mark, toJsonSql }: Pick<Dialect, 'nameOf' | 'mark' | 'toJsonSql'>,
  tables: readonly Table[],
  contract: string,
  fits: Fits,
  mayWrite = true,
): SqlSteps<number> {
  const passed = nameOf({ name: 'passed_check' });
  if ((yield sqlStep(`SELECT 1 FROM ${passed} WHERE contract = ${mark(1)}`, contract)).length > 0) return 0;
  let count = 0;
  for (const table of tables) {
    const { sequence, collection } = table;
    const select = `SELECT ${sequence}, ${toJsonSql(table)} FROM ${nameOf(table)} WHERE ${sequence} > ${mark(1)}
      ORDER BY ${sequence} LIMIT ${CHUNK}`;
    for (let last: unknown = -(2n ** 63n); last !== undefined; ) {
      const rows = yield sqlStep(select, last);
      // The JSON is NULL if a required field is missing.
      for (const [, text] of rows) if (!fits((text as string | null) ?? 'null', collection)) count++;
      last = rows.at(-1)?.[0];
    }
  }
  if (count === 0 && mayWrite) yield sqlStep(`UPDATE ${passed} SET contract = ${mark(1)}`, contract);
  return count;
}
