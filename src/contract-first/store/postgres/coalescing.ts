/** Coalesces waiting calls of the same kind into one statement, so that all of them together cost one round trip. */
import { setTimeout as wait } from 'node:timers/promises';
import { InvalidValue } from '../collection.ts';
import { StoreUnavailable } from '../store.ts';
import type { PostgresConnection } from './connection.ts';
import type { RunTask } from './connection-pool.ts';

/**
 * Handles several calls with one statement: `questions` contains the arguments of the calls. The result contains the
 * answers in the same order, with an Error for each call that failed.
 */
export type BatchLoader<Question, Answer> = (
  connection: PostgresConnection,
  questions: Question[],
) => Promise<Answer[]>;

/** The most calls that one statement handles, so that the statement ends before PostgreSQL's timeout. */
const MAX_CALLS = 1000;

interface Batch<Question, Answer> {
  questions: Question[];
  answers: Promise<(Answer | Error)[]>;
}

/**
 * The latest statement. Several coalescing functions share this object so that their statements run one after the
 * other: a few large statements cost less than many small ones at the same time.
 */
interface Turns {
  latest: Promise<unknown>;
}

/**
 * How long a statement waits for the previous statement to end, in milliseconds, so that a slow statement does not
 * delay the others for longer.
 */
const LONGEST_WAIT = 5;

/**
 * Makes a function that handles one call. Calls that wait for a connection form a batch, and one statement handles the
 * whole batch. The statement always begins after all these calls, so a call never gets older data. If the answer to a
 * call is an Error, the call throws it.
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
 * Handles several calls with one statement. If the statement fails, the calls are bisected, so that only the faulty
 * calls get an Error.
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
 * The SQLSTATEs of an exhausted sequence, and of a text that is too long for an index. Texts in the indexes that the
 * store derives from a description are checked before, so the second one only occurs with other indexes.
 */
const [USED_UP, TOO_LONG] = ['2200H', '54000'];

export function toFault(error: Error & { code?: string }): Error {
  if (error.code === USED_UP) return new StoreUnavailable(error, 'ids_used_up');
  return error.code === TOO_LONG
    ? new InvalidValue('a text is longer than its index can hold', { cause: error })
    : error;
}
