/** How a database takes part in a move: as one transaction, of rows whose values are texts. */
import type { ColumnType } from './description.ts';

/** Each value as text, with every digit. */
export type Row = (string | null)[];

export interface MovedTable {
  name: string;
  columns: readonly { column: string; type: ColumnType; isSeconds?: true }[];
  /** The column by which its rows are read. */
  order: string;
  /** The word for its rows. An empty database has none; tables without a word are emptied. */
  word?: string;
  /** Whether the database numbers its rows, in the column `order`. */
  isNumbered?: true;
}

/** Statements find the tables by their names alone. */
export interface MovingSide {
  /** Begins the transaction: of a target, into which nobody else writes then, or of a source, which is read as it is now. */
  begin(isTarget: boolean): Awaitable<unknown>;
  /** The column that tells which of two keys came first. */
  place: string;
  query(sql: string, values?: unknown[]): Awaitable<Row[]>;
  /** Stands for the value of a statement. */
  mark: string;
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

type Awaitable<Value> = Value | Promise<Value>;

/** How much is moved at once, in characters, to limit memory. */
export const MOST_MOVED = 4_000_000;

/** How much rows take of that. */
export const sizeOf = (rows: Row[]) =>
  rows.reduce((sum, row) => sum + row.reduce((size, value) => size + (value?.length ?? 0), 100), 0);
