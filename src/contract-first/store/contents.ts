/** The interface for copying the whole contents of a database, and the function that counts records that do not fit a contract. */

import { type Dialect, sqlStep } from './changes/statement.ts';
import type { Awaitable, SqlSteps } from './collection.ts';
import type { Fits } from './store.ts';
import type { ColumnType } from './tables/description.ts';
import type { Table } from './tables/table.ts';

/** A row: each value as text, with every digit. */
export type Row = (string | null)[];

export interface MovedTable {
  name: string;
  /** The columns. A column with `isSeconds` contains seconds since 1970 in SQLite, and a time in PostgreSQL. */
  columns: readonly { column: string; type: ColumnType; isSeconds?: true }[];
  /** The column that sorts the rows when they are read. */
  order: string;
  /**
   * The word for the rows in messages. If the target contains such rows, the move fails. A table without a word is emptied before the move.
   */
  word?: string;
  /** Whether the database numbers the rows, in the column `order`. */
  isNumbered?: true;
}

/**
 * A database as one side of a move, with all statements in one transaction. Values are texts, and statements name tables without a schema.
 */
export interface MovingSide extends Pick<Dialect, 'mark' | 'keyOrder'> {
  /** Begins the transaction. Until its end, nobody else can write to a target; a source is read as it is now. */
  begin(isTarget: boolean): Awaitable<unknown>;
  query(sql: string, values?: unknown[]): Awaitable<Row[]>;
  /** Reads the rows of a table, a few megabytes at a time. */
  read(table: MovedTable): Iterable<Row[]> | AsyncIterable<Row[]>;
  insert(table: MovedTable, rows: Row[]): Awaitable<unknown>;
  /** Reads the highest number that a row ever had. */
  readLast(table: MovedTable): Awaitable<string>;
  /** Ensures that the next row gets a number higher than `last`, and higher than any number that a row of this table ever had. */
  raiseLast(table: MovedTable, last: string): Awaitable<unknown>;
  commit(): Awaitable<unknown>;
  /** Rolls back the transaction if it was not committed. */
  end(): void;
}

/** The most characters that are moved at once, to limit memory. */
export const MOST_MOVED = 4_000_000;

/** Counts the characters of rows. */
export const sizeOf = (rows: Row[]) =>
  rows.reduce((sum, row) => sum + row.reduce((size, value) => size + (value?.length ?? 0), 100), 0);

/** The most records that are read at once, to limit memory. */
const CHUNK = 1000;

/**
 * Counts the stored records that do not fit a contract. If all fit, the database stores the contract's digest, so that the next start does
 * not read the records again. A read-only check stores nothing.
 */
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
      // If a required field is missing, the JSON of the record is NULL.
      for (const [, text] of rows) if (!fits((text as string | null) ?? 'null', collection)) count++;
      last = rows.at(-1)?.[0];
    }
  }
  if (count === 0 && mayWrite) yield sqlStep(`UPDATE ${passed} SET contract = ${mark(1)}`, contract);
  return count;
}
