/** Makes one statement of all calls of the same kind that wait: however many they are, they cost one round trip. */
import { setTimeout as wait } from 'node:timers/promises';
import type { Connection } from './connection.ts';
import type { Run } from './connection-pool.ts';

/** The answers, in the order of the questions. */
export type AskAll<Question, Answer> = (connection: Connection, questions: Question[]) => Promise<Answer[]>;

/** How many calls are made one statement, at most: it must end before PostgreSQL gives it up. */
const MOST = 1000;

interface Batch<Question, Answer> {
  questions: Question[];
  answers: Promise<Answer[]>;
}

/** Kinds of calls that take turns: a few large statements take less of both processors than many small ones at once. */
export interface Turns {
  latest: Promise<unknown>;
}

/** How long a statement waits for the one before it, in milliseconds: one that takes long holds up no others. */
const LONGEST_WAIT = 5;

/** A call joins those that wait, until a connection takes them: what it is answered was read after it came. */
export function coalesce<Question, Answer>(
  run: Run,
  askAll: AskAll<Question, Answer>,
  turns: Turns = { latest: Promise.resolve() },
  most = MOST,
): (question: Question) => Promise<Answer> {
  let waiting: Batch<Question, Answer> | undefined;

  function begin(): Batch<Question, Answer> {
    const questions: Question[] = [];
    const leave = () => {
      if (waiting === batch) waiting = undefined;
    };
    const answers = Promise.race([turns.latest, wait(LONGEST_WAIT, undefined, { ref: false })]).then(() =>
      run((connection) => {
        leave();
        return askAll(connection, questions);
      }),
    );
    turns.latest = answers.catch(() => {});
    const batch = { questions, answers };
    // Where no connection was free in time.
    answers.catch(leave);
    return batch;
  }

  return async (question) => {
    waiting ??= begin();
    const { questions, answers } = waiting;
    const index = questions.push(question) - 1;
    if (questions.length === most) waiting = undefined;
    return (await answers)[index] as Answer;
  };
}
