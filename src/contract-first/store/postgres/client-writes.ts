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
  /** For each table, the last time when it accepted a record or a trial row. */
  #provenAt: ReadonlyMap<string, number> = new Map();

  /** `most` is the number of writes that may wait. */
  constructor(pool: ConnectionPool, most: number, counts: StoreCounts) {
    this.#pool = pool;
    this.#most = most;
    this.#counts = counts;
  }

  /** Whether records were inserted into all these tables recently, and no write has begun or failed since then. */
  areProven(tables: readonly string[]): boolean {
    const oldest = performance.now() - PROOF_AGE;
    return tables.every((table) => (this.#provenAt.get(table) ?? Number.NEGATIVE_INFINITY) > oldest);
  }

  /**
   * Makes a function that coalesces up to `most` waiting writes into one statement, with one commit. If the statement
   * succeeds, the tables in `proves` count as writable.
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

  /** Records whether a write has proven that these tables can be written. */
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
 * Matches the SQLSTATEs of a deadlock with another program and of a serialization failure. In both cases nothing was
 * written.
 */
const CONFLICTS = /^40(001|P01)$/;
const TRIES = 5;

const isConflict = (answer: unknown) =>
  answer instanceof StoreUnavailable && CONFLICTS.test(String((answer.cause as { code?: unknown }).code));

/** Retries writes that have conflicted with other programs, until they have been tried TRIES times. */
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

/** Inserts all waiting records with one INSERT statement. PostgreSQL commits it without a COMMIT. */
export function buildInsert(
  schema: string,
  { name, newFields, sequence }: Table,
): BatchLoader<Fields, Created | Error> {
  const { columns, arrays } = toArraysSql(newFields);
  const times = newFields.filter(({ set }) => set === 'created' || set === 'changed');
  const values = newFields.map((field) => (times.includes(field) ? 'now' : field.column));
  // PostgreSQL computes the time when it reads the first row. By then, the trigger of the table has already got the
  // lock.
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

/** An id that no record has. With an explicit id, a trial row does not advance the table's sequence. */
const LAST_ID = '9223372036854775807';

/** The SQLSTATE that our SQL raises after it has inserted the trial row, so that the row is rolled back. */
const DONE = 'PT001';

/**
 * Inserts a trial row into each table, and rolls back. One statement does both. So the lock is released even if the
 * server process dies, and PostgreSQL does not log an error. A row that violates a constraint also counts as success,
 * because the table itself can be written. At the end, the statement rewrites an existing row unchanged.
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
