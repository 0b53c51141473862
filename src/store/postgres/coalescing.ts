/** Coalesces all waiting calls of the same kind into one statement: however many they are, they cost one round trip. */
import { setTimeout as wait } from 'node:timers/promises';
import type { Connection } from './connection.ts';
import type { Run } from './connection-pool.ts';

/** Answers all questions by one statement, in their order. */
export type AskAll<Question, Answer> = (connection: Connection, questions: Question[]) => Promise<Answer[]>;

/** How many calls one statement may answer: it must end before PostgreSQL's timeout. */
const MOST = 1000;

interface Batch<Question, Answer> {
  questions: Question[];
  answers: Promise<Answer[]>;
}

/** Shared by kinds of calls whose statements run in turn: a few large statements cost less than many small ones at once. */
export interface Turns {
  latest: Promise<unknown>;
}

/** How long a statement waits for the previous one, in milliseconds: a slow one does not hold up the others. */
const LONGEST_WAIT = 5;

/** A call joins the waiting batch until a connection takes it. So a call never sees data that was read before it was made. */
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
    // For a batch that no connection has taken in time.
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
