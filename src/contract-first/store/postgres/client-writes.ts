/** Writes of clients: limits how many wait, counts them, and notes that the database can be written. */
import type { StoreCounts } from '../counts.ts';
import { StoreUnavailable } from '../store.ts';
import { type AskAll, coalesce } from './coalescing.ts';
import type { ConnectionPool, Run } from './connection-pool.ts';

/** How long a successful write counts as proof that the database can be written, in milliseconds. */
const PROOF_AGE = 10_000;

const TOO_MANY = new Error('too many writes wait');

export class ClientWrites {
  readonly #pool: ConnectionPool;
  readonly #most: number;
  readonly #counts: StoreCounts;
  #waiting = 0;
  /** When the last create in each table was done, or tried successfully. */
  #provenAt: ReadonlyMap<string, number> = new Map();

  /** `most` is how many writes may wait. */
  constructor(pool: ConnectionPool, most: number, counts: StoreCounts) {
    this.#pool = pool;
    this.#most = most;
    this.#counts = counts;
  }

  /** Whether creates in these tables have worked recently, and no write has failed or begun since. */
  areProven(tables: readonly string[]): boolean {
    const oldest = performance.now() - PROOF_AGE;
    return tables.every((table) => (this.#provenAt.get(table) ?? Number.NEGATIVE_INFINITY) > oldest);
  }

  /**
   * Coalesces up to `most` waiting writes into one statement, with one commit. `proves` names the tables whose creates this proves to
   * work.
   */
  gatherWrites<Question, Outcome>(
    writeAll: AskAll<Question, Outcome | Error>,
    { run = this.#pool.runOnce, most, proves = [] }: { run?: Run; most?: number; proves?: string | string[] },
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

  /** Notes whether a write has proven that the tables can be written. */
  proving<Question, Answer>(tables: readonly string[], writeAll: AskAll<Question, Answer>): AskAll<Question, Answer> {
    return async (connection, questions) => {
      const before = this.#provenAt;
      this.#provenAt = new Map();
      const answers = await writeAll(connection, questions);
      const isDone = answers.length === 0 || !answers.every((answer) => answer instanceof Error);
      if (isDone) this.#provenAt = new Map([...before, ...tables.map((table) => [table, performance.now()] as const)]);
      return answers;
    };
  }

  #counting<Question, Answer>(writeAll: AskAll<Question, Answer>): AskAll<Question, Answer> {
    return async (connection, questions) => {
      const began = performance.now();
      const answers = await writeAll(connection, questions);
      const stored = answers.filter((answer) => !(answer instanceof Error)).length;
      if (stored > 0) this.#counts.addCommit(began, stored);
      return answers;
    };
  }
}

/** SQLSTATEs of a deadlock with another program, and of a serialization failure: nothing was done. */
const CONFLICTS = /^40(001|P01)$/;
const TRIES = 5;

const isConflict = (answer: unknown) =>
  answer instanceof StoreUnavailable && CONFLICTS.test(String((answer.cause as { code?: unknown }).code));

/** Retries writes that conflict with other programs, a few times. */
function untilNoConflict<Question, Answer>(writeAll: AskAll<Question, Answer>, tries = 1): AskAll<Question, Answer> {
  return async (connection, questions) => {
    const answers = await writeAll(connection, questions);
    const refused = questions.filter((_, index) => isConflict(answers[index]));
    if (refused.length === 0 || tries === TRIES) return answers;
    const again = await untilNoConflict(writeAll, tries + 1)(connection, refused);
    return answers.map((answer) => (isConflict(answer) ? (again.shift() as Answer) : answer));
  };
}
