/** Coalesces waiting calls of the same kind into one statement, so that all of them together cost one round trip. */
import { setTimeout as wait } from 'node:timers/promises';
import { InvalidValue } from '../collection.ts';
import { StoreUnavailable } from '../store.ts';
import type { PostgresConnection } from './connection.ts';
import type { RunTask } from './connection-pool.ts';

/**
 * Answers all questions with one statement. The answers are in the order of the questions. The answer to a question
 * that failed is an Error.
 */
export type BatchLoader<Question, Answer> = (
  connection: PostgresConnection,
  questions: Question[],
) => Promise<Answer[]>;

/** How many calls one statement answers at most, so that it ends before PostgreSQL's timeout. */
const MAX_CALLS = 1000;

interface Batch<Question, Answer> {
  questions: Question[];
  answers: Promise<(Answer | Error)[]>;
}

/**
 * The latest statement of several kinds of calls. The kinds share it, so that their statements run one after the other:
 * a few large statements cost less than many small ones at the same time.
 */
interface Turns {
  latest: Promise<unknown>;
}

/**
 * How long a statement waits for the previous one, in milliseconds, so that a slow statement does not delay the others.
 */
const LONGEST_WAIT = 5;

/**
 * Makes a function from a question to its answer. A call joins the batch that is waiting for a connection. So its
 * statement always begins after the call, and never returns older data. If the answer is an Error, the call throws it.
 */
export function coalesce<Question, Answer>(
  run: RunTask,
  askAll: BatchLoader<Question, Answer>,
  turns: Turns = { latest: Promise.resolve() },
  most = MAX_CALLS,
): (question: Question) => Promise<Exclude<Answer, Error>> {
  const ask = blameOne(askAll);
  let waiting: Batch<Question, Answer> | undefined;

  function begin(): Batch<Question, Answer> {
    const questions: Question[] = [];
    const leave = () => {
      if (waiting === batch) waiting = undefined;
    };
    const answers = Promise.race([turns.latest, wait(LONGEST_WAIT, undefined, { ref: false })]).then(() =>
      run((connection) => {
        leave();
        return ask(connection, questions);
      }),
    );
    turns.latest = answers.catch(() => {});
    const batch = { questions, answers };
    // If no connection takes the batch in time, the next call begins a new batch.
    answers.catch(leave);
    return batch;
  }

  return async (question) => {
    waiting ??= begin();
    const { questions, answers } = waiting;
    const index = questions.push(question) - 1;
    if (questions.length === most) waiting = undefined;
    const answer = (await answers)[index];
    if (answer instanceof Error) throw answer;
    return answer as Exclude<Answer, Error>;
  };
}

/**
 * Answers the questions with one statement. If that fails, the questions are bisected, so that only the faulty ones get
 * an Error.
 */
export function blameOne<Question, Answer>(
  askAll: BatchLoader<Question, Answer>,
): BatchLoader<Question, Answer | Error> {
  return async function ask(connection: PostgresConnection, questions: Question[]): Promise<(Answer | Error)[]> {
    try {
      return await askAll(connection, questions);
    } catch (error) {
      if (error instanceof StoreUnavailable) return questions.map(() => error);
      if (!connection.isOpen) throw error;
      if (questions.length === 1) return [toFault(error as Error)];
      const middle = questions.length / 2;
      const first = await ask(connection, questions.slice(0, middle));
      return [...first, ...(await ask(connection, questions.slice(middle)))];
    }
  };
}

/**
 * The SQLSTATEs of an exhausted sequence, and of a text that is too long for an index. The index is not one that the
 * store derives from the description: texts for those are checked before.
 */
const [USED_UP, TOO_LONG] = ['2200H', '54000'];

export function toFault(error: Error & { code?: string }): Error {
  if (error.code === USED_UP) return new StoreUnavailable(error, 'ids_used_up');
  return error.code === TOO_LONG
    ? new InvalidValue('a text is longer than its index can hold', { cause: error })
    : error;
}
