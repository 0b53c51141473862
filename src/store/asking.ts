/** Work on a database as a generator, which asks for one statement after the other; whoever runs it answers at once, or after a round trip. */

/** A statement; its answer is rows. */
export interface Ask {
  sql: string;
  values: unknown[];
  /** It is a team's own, and only reads; its rows are fields by their names. */
  isOwn?: boolean;
}

type Row = unknown[];
export type Asking<Result> = Generator<Ask, Result, Row[]>;
