/** Coalesces all waiting calls of the same kind into one statement: however many they are, they cost one round trip. */
import { setTimeout as wait } from 'node:timers/promises';
import { InvalidValue } from '../collection.ts';
import { StoreUnavailable } from '../store.ts';
import type { PostgresConnection } from './connection.ts';
import type { RunTask } from './connection-pool.ts';

/** Answers all questions by one statement, in the order of the questions. If a question fails, its answer is an Error. */
export type BatchLoader<Question, Answer> = (
  connection: PostgresConnection,
  questions: Question[],
) => Promise<Answer[]>;

/** How many calls one statement may answer: it must end before PostgreSQL's timeout. */
const MAX_CALLS = 1000;

interface Batch<Question, Answer> {
  questions: Question[];
  answers: Promise<(Answer | Error)[]>;
}

/**
 * The turns of several kinds of calls. Statements run one after the other, because a few large statements cost less than many small ones at
 * once.
 */
interface Turns {
  latest: Promise<unknown>;
}

/** How long a statement waits for the previous one, in milliseconds. So a slow statement does not delay the others. */
const LONGEST_WAIT = 5;

/**
 * Makes a function. A call of it joins the waiting batch until a connection takes the batch. So the call never gets data that was read
 * earlier. If its answer is an Error, the call throws it.
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
    // Also counts if no connection takes the batch in time.
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

/** Bisects the questions of a failed statement, so that only the faulty ones fail. */
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

/** SQLSTATEs: a sequence is exhausted, or a text is too long for an index that the description of its table does not list. */
const [USED_UP, TOO_LONG] = ['2200H', '54000'];

export function toFault(error: Error & { code?: string }): Error {
  if (error.code === USED_UP) return new StoreUnavailable(error, 'ids_used_up');
  return error.code === TOO_LONG
    ? new InvalidValue('a text is longer than its index can hold', { cause: error })
    : error;
}
