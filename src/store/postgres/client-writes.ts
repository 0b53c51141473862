/** What clients write: how much of it may wait, what it says of the database, and what operators see of it. */
import type { StoreCounts } from '../counts.ts';
import { StoreUnavailable } from '../store.ts';
import { type AskAll, gather } from './gathering.ts';
import type { Lanes } from './lanes.ts';

/** How long a successful write proves that the database can be written, in milliseconds. */
const PROOF_AGE = 10_000;

const TOO_MANY = new Error('too many writes wait');

export class ClientWrites {
  readonly #lanes: Lanes;
  readonly #most: number;
  readonly #counts: StoreCounts;
  #waiting = 0;
  #provenAt = Number.NEGATIVE_INFINITY;

  /** At most so many wait at once. */
  constructor(lanes: Lanes, most: number, counts: StoreCounts) {
    this.#lanes = lanes;
    this.#most = most;
    this.#counts = counts;
  }

  /** Whether a write has succeeded a short time ago, and none was begun since. */
  get isProven(): boolean {
    return performance.now() - this.#provenAt < PROOF_AGE;
  }

  /** Makes one statement of all that wait, which is one commit. An outcome that is an error is thrown. */
  gatherWrites<Question, Outcome>(
    writeAll: AskAll<Question, Outcome | Error>,
    most?: number,
  ): (question: Question) => Promise<Exclude<Outcome, Error>> {
    const write = gather(this.#lanes.runOnce, this.#counting(this.proving(writeAll)), undefined, most);
    return async (question) => {
      if (this.#waiting >= this.#most) throw new StoreUnavailable(TOO_MANY, 'overloaded');
      this.#waiting++;
      const since = performance.now();
      try {
        const outcome = await write(question);
        if (outcome instanceof Error) throw outcome;
        this.#counts.addWrite(since);
        return outcome as Exclude<Outcome, Error>;
      } finally {
        this.#waiting--;
      }
    };
  }

  /** Notes what the write says of the database. */
  proving<Question, Answer>(writeAll: AskAll<Question, Answer>): AskAll<Question, Answer> {
    return async (connection, questions) => {
      this.#provenAt = Number.NEGATIVE_INFINITY;
      const answers = await writeAll(connection, questions);
      if (!answers.some((answer) => answer instanceof StoreUnavailable)) this.#provenAt = performance.now();
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
