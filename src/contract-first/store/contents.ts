/**
 * The interface for moving all rows to another database, and the function that counts stored records that do not fit a
 * contract.
 */

import { type Dialect, sqlStep } from './changes/statement.ts';
import type { Awaitable, SqlSteps } from './collection.ts';
import type { Fits } from './store.ts';
import type { ColumnType } from './tables/description.ts';
import type { Table } from './tables/table.ts';

/** A row of a table. Every value is a text, so that numbers keep all their digits. */
export type Row = (string | null)[];

export interface MovedTable {
  name: string;
  /**
   * The columns. `isSeconds` marks a column of times that are seconds since 1970 in SQLite, and a timestamp in
   * PostgreSQL.
   */
  columns: readonly { column: string; type: ColumnType; isSeconds?: true }[];
  /** The column that a move sorts by when it reads the rows. */
  order: string;
  /**
   * The name of the rows in messages, such as `keys`. A move fails if the target already contains rows of this table.
   * If `word` is absent, the rows of this table in the target are deleted before the move.
   */
  word?: string;
  /** Whether the database assigns the values of the column that `order` names. */
  isNumbered?: true;
}

/**
 * The source or the target database of a move. The statements of each database run in one transaction, all values are
 * texts, and SQL names the tables without a schema.
 */
export interface MovingSide extends Pick<Dialect, 'mark' | 'keyOrder'> {
  /**
   * Begins the transaction. In the target, nobody else can write until the transaction ends. In the source, all reads
   * see the same snapshot.
   */
  begin(isTarget: boolean): Awaitable<unknown>;
  query(sql: string, values?: unknown[]): Awaitable<Row[]>;
  /** Reads the rows of a table, a few megabytes at a time. */
  read(table: MovedTable): Iterable<Row[]> | AsyncIterable<Row[]>;
  insert(table: MovedTable, rows: Row[]): Awaitable<unknown>;
  /**
   * Returns the highest number that the database has ever assigned to a row of the table, even if that row was deleted.
   */
  readLast(table: MovedTable): Awaitable<string>;
  /**
   * Ensures that the next new row gets a number higher than `last`, and higher than the number of any row that this
   * table has ever contained.
   */
  raiseLast(table: MovedTable, last: string): Awaitable<unknown>;
  commit(): Awaitable<unknown>;
  /** Rolls back the transaction if it was not committed, and closes the connection. */
  end(): void;
}

/** How many characters a move reads before it writes them, to limit memory. */
export const MOST_MOVED = 4_000_000;

/** Counts the characters of rows, plus 100 for each row, to estimate their memory. */
export const sizeOf = (rows: Row[]) =>
  rows.reduce((sum, row) => sum + row.reduce((size, value) => size + (value?.length ?? 0), 100), 0);

/** The most records that one statement reads, to limit memory. */
const CHUNK = 1000;

/**
 * Counts the stored records that do not fit a contract. If all fit, the database stores the contract's digest, so that
 * the next start does not read the records again. With `mayWrite: false`, nothing is stored.
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
      // If a required column is NULL, the JSON of the record is NULL. The text `null` is checked instead, and fails,
      // because it is not a record.
      for (const [, text] of rows) if (!fits((text as string | null) ?? 'null', collection)) count++;
      last = rows.at(-1)?.[0];
    }
  }
  if (count === 0 && mayWrite) yield sqlStep(`UPDATE ${passed} SET contract = ${mark(1)}`, contract);
  return count;
}
