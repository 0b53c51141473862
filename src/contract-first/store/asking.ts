/** Database work as a generator that yields statements. Its runner returns the rows of each, at once or after a round trip. */

/** A statement to run. */
export interface Ask {
  sql: string;
  /** Absent for a script of several statements. */
  values?: unknown[];
  /** Whether it is a team's own SQL: it may only read, and its rows are objects by column names. */
  isOwn?: boolean;
}

type Row = unknown[];
export type Asking<Result> = Generator<Ask, Result, Row[]>;

export const ask = (sql: string, ...values: unknown[]): Ask => ({ sql, values });
