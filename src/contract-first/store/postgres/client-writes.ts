/**
 * Runs the writes of clients: limits how many may wait, counts them, and inserts records. Also tests whether the
 * database can be written, for health checks.
 */
import type { Created } from '../changes/changes.ts';
import type { Fields } from '../collection.ts';
import { type StoreCounts, StoreUnavailable } from '../store.ts';
import { type Table, toTrialRow } from '../tables/table.ts';
import { type BatchLoader, blameOne, coalesce } from './coalescing.ts';
import type { ConnectionPool, RunTask } from './connection-pool.ts';
import { NOW, toArrays, toArraysSql } from './dialect.ts';

/** How long a successful write counts as proof that the database can be written, in milliseconds. */
const PROOF_AGE = 10_000;

const TOO_MANY = new Error('too many writes wait');

export class ClientWrites {
  readonly #pool: ConnectionPool;
  readonly #most: number;
  readonly #counts: StoreCounts;
  #waiting = 0;
  /** For each table, the time when PostgreSQL last accepted a record or a trial row. */
  #provenAt: ReadonlyMap<string, number> = new Map();

  /** `most` is the number of writes that may wait. */
  constructor(pool: ConnectionPool, most: number, counts: StoreCounts) {
    this.#pool = pool;
    this.#most = most;
    this.#counts = counts;
  }

  /**
   * Whether records were inserted recently into all these tables. False while a write is in progress, and after a
   * failed write.
   */
  areProven(tables: readonly string[]): boolean {
    const oldest = performance.now() - PROOF_AGE;
    return tables.every((table) => (this.#provenAt.get(table) ?? Number.NEGATIVE_INFINITY) > oldest);
  }

  /**
   * Makes a function that writes one item. Up to `most` waiting calls share one statement, with one commit. If the
   * statement succeeds, the tables in `proves` are known to be writable.
   */
  gatherWrites<Question, Outcome>(
    writeAll: BatchLoader<Question, Outcome | Error>,
    { run = this.#pool.runOnce, most, proves = [] }: { run?: RunTask; most?: number; proves?: string | string[] },
  ): (question: Question) => Promise<Exclude<Outcome, Error>> {
    const proving = this.proving([proves].flat(), untilNoConflict(writeAll));
    const write = coalesce(run, this.#counting(proving), undefined, most);
    return async (question) => {
      if (this.#waiting >= this.#most) throw new StoreUnavailable(TOO_MANY, 'overloaded');
      this.#waiting++;
      const since = performance.now();
      try {
        const outcome = await write(question);
        this.#counts.addWrite(since);
        return outcome;
      } finally {
        this.#waiting--;
      }
    };
  }

  /** Wraps `writeAll`: after a successful write, the tables in `tables` are known to be writable. */
  proving<Question, Answer>(
    tables: readonly string[],
    writeAll: BatchLoader<Question, Answer>,
  ): BatchLoader<Question, Answer> {
    return async (connection, questions) => {
      const before = this.#provenAt;
      this.#provenAt = new Map();
      const answers = await writeAll(connection, questions);
      const isDone = answers.length === 0 || !answers.every((answer) => answer instanceof Error);
      if (isDone) this.#provenAt = new Map([...before, ...tables.map((table) => [table, performance.now()] as const)]);
      return answers;
    };
  }

  #counting<Question, Answer>(writeAll: BatchLoader<Question, Answer>): BatchLoader<Question, Answer> {
    return async (connection, questions) => {
      const began = performance.now();
      const answers = await writeAll(connection, questions);
      const stored = answers.filter((answer) => !(answer instanceof Error)).length;
      if (stored > 0) this.#counts.addCommit(began, stored);
      return answers;
    };
  }
}

/**
 * Matches the SQLSTATEs of conflicts with other programs: a serialization failure and a deadlock. In both cases nothing
 * was written.
 */
const CONFLICTS = /^40(001|P01)$/;
const TRIES = 5;

const isConflict = (answer: unknown) =>
  answer instanceof StoreUnavailable && CONFLICTS.test(String((answer.cause as { code?: unknown }).code));

/** Wraps `writeAll`: writes that conflict with other programs are retried, up to TRIES tries in total. */
function untilNoConflict<Question, Answer>(
  writeAll: BatchLoader<Question, Answer>,
  tries = 1,
): BatchLoader<Question, Answer> {
  return async (connection, questions) => {
    const answers = await writeAll(connection, questions);
    const conflicting = questions.filter((_, index) => isConflict(answers[index]));
    if (conflicting.length === 0 || tries === TRIES) return answers;
    const again = await untilNoConflict(writeAll, tries + 1)(connection, conflicting);
    return answers.map((answer) => (isConflict(answer) ? (again.shift() as Answer) : answer));
  };
}

/**
 * Builds the function that inserts all waiting records with one INSERT statement. PostgreSQL commits this statement by
 * itself, without a COMMIT.
 */
export function buildInsert(
  schema: string,
  { name, newFields, sequence }: Table,
): BatchLoader<Fields, Created | Error> {
  const { columns, arrays } = toArraysSql(newFields);
  const times = newFields.filter(({ set }) => set === 'created' || set === 'changed');
  const values = newFields.map((field) => (times.includes(field) ? 'now' : field.column));
  // PostgreSQL computes this time when the statement reads its first row. By then, the trigger of the table holds the
  // lock, so this time is not earlier than the end of the wait for the lock.
  const moment = times.length > 0 ? `WITH moment AS MATERIALIZED (SELECT ${NOW} AS now)` : '';
  const sql = `${moment}
    INSERT INTO ${schema}.${name} (${columns})
    SELECT ${values} FROM unnest(${arrays}) WITH ORDINALITY AS added (${columns}, _position)${moment && ', moment'} ORDER BY _position
    RETURNING ${[sequence, ...times.map(({ column }) => column)]}`;
  return blameOne(async (connection, records) => {
    const rows = await connection.query(sql, toArrays(newFields, records));
    return rows.map(([id, now]) => ({ sequence: BigInt(id as string), now: now ?? '' }));
  });
}

/**
 * An id that no record has, for trial rows. Because a trial row gets an explicit id, it does not advance the sequence
 * of the table.
 */
const LAST_ID = '9223372036854775807';

/** The SQLSTATE that our SQL raises after it has inserted a trial row. The error makes PostgreSQL roll the row back. */
const DONE = 'PT001';

/**
 * Builds a statement that tests whether the tables can be written. The statement inserts a trial row into each table
 * and rolls the row back, all in one DO block. So the lock is released even if the server process dies, and PostgreSQL
 * does not log an error. A trial row that violates a constraint also counts as success, because everything else about
 * the table works. Finally, the statement rewrites an existing row of `passed_check` unchanged, so that something is
 * really committed.
 */
export function buildProveWritable(schema: string, tables: readonly Table[]): BatchLoader<undefined, unknown> {
  const tries = tables.map((table) => {
    const { columns, values } = toTrialRow(table);
    return `BEGIN
      INSERT INTO ${schema}.${table.name} (${[table.sequence, ...columns]}) OVERRIDING SYSTEM VALUE VALUES (${[LAST_ID, ...values]});
      RAISE SQLSTATE '${DONE}';
    EXCEPTION WHEN SQLSTATE '${DONE}' OR integrity_constraint_violation OR data_exception THEN NULL;
    END;`;
  });
  const sql = `DO $trial$ BEGIN
    ${tries.join('\n')}
    UPDATE ${schema}.passed_check SET contract = contract;
  END $trial$`;
  return (connection) => connection.query(sql);
}
