/**
 * A few connections that are kept open, and the tasks that wait for one. Each task ends in time, whatever the database does.
 */
import { EventEmitter, once } from 'node:events';
import { setImmediate as nextTurn, setTimeout as wait } from 'node:timers/promises';
import type { Pool } from '../counts.ts';
import { StoreUnavailable } from '../store.ts';
import type { Connection } from './connection.ts';

export type Task<Result> = (connection: Connection) => Promise<Result>;
export type Run = <Result>(task: Task<Result>) => Promise<Result>;

/** Both run the task on the next connection that is free, at the end of a turn of the event loop. @throws StoreUnavailable */
export interface Lanes {
  /** Runs it again when its connection is lost. */
  run: Run;
  /** When its connection is lost, its outcome is unknown. */
  runOnce: Run;
  /** Resolves when all connections have been open. @throws Error that says why not, after so many milliseconds */
  untilOpen(timeout: number): Promise<void>;
  pool(): Pool;
  /** Waits for the tasks that there are. */
  close(): Promise<void>;
}

export interface LanesOptions {
  connect: () => Promise<Connection>;
  count: number;
  /** How long a task may wait for a connection, in milliseconds; then nothing was done. */
  patience: number;
  /** How long a task may take, with its wait for a connection, in milliseconds. */
  timeout: number;
}

interface Job {
  task: Task<unknown>;
  isRepeatable: boolean;
  since: number;
  resolve: (result: never) => void;
  reject: (error: unknown) => void;
  /** Ends its wait. */
  patience?: NodeJS.Timeout;
}

/** The pause before the next try to connect, in milliseconds. */
const PAUSE = 100;

const BUSY = new Error('all connections to the database are busy');
const NO_ANSWER = new Error('the database has not answered in time');

export function openLanes({ connect, count, patience, timeout }: LanesOptions): Lanes {
  const waiting: Job[] = [];
  const idle: (() => void)[] = [];
  let isClosing = false;
  /** Why there is no connection. */
  let failure: unknown = BUSY;

  /** How many connections are open, and how many of them run a job. */
  let open = 0;
  let used = 0;

  let unopened = count;
  const opened = new EventEmitter();

  const ageOf = ({ since }: Job) => performance.now() - since;

  function limitWait(job: Job): void {
    const end = () => {
      waiting.splice(waiting.indexOf(job), 1);
      job.reject(new StoreUnavailable(failure));
    };
    job.patience = setTimeout(end, patience - ageOf(job));
  }

  function wakeAll(): void {
    for (const wake of idle.splice(0)) wake();
  }

  /** The next job, once the turn has ended in which it came; undefined when the connection is lost, or nothing is left to do. */
  async function takeNext(connection: Connection): Promise<Job | undefined> {
    while (connection.isOpen && !(isClosing && waiting.length === 0)) {
      if (waiting.length === 0) await new Promise<void>((resolve) => idle.push(resolve));
      await nextTurn();
      if (connection.isOpen && waiting.length > 0) return waiting.shift();
    }
    return undefined;
  }

  async function runJob(job: Job, connection: Connection): Promise<void> {
    clearTimeout(job.patience);
    let isLate = false;
    const endLate = () => {
      isLate = true;
      connection.end(NO_ANSWER);
    };
    const deadline = setTimeout(endLate, timeout - ageOf(job));
    try {
      job.resolve((await job.task(connection)) as never);
    } catch (error) {
      if (connection.isOpen || error instanceof StoreUnavailable) job.reject(error);
      else if (!job.isRepeatable) job.reject(new StoreUnavailable(error, 'outcome_unknown'));
      else if (isLate) job.reject(new StoreUnavailable(error));
      else {
        waiting.unshift(job);
        limitWait(job);
        wakeAll();
      }
    } finally {
      clearTimeout(deadline);
    }
  }

  async function serve(): Promise<void> {
    let isFirst = true;
    while (!isClosing) {
      try {
        const connection = await connect();
        failure = BUSY;
        if (isFirst && --unopened === 0) opened.emit('all');
        isFirst = false;
        open++;
        connection.ended.then(() => {
          open--;
          wakeAll();
        });
        for (let job = await takeNext(connection); job; job = await takeNext(connection)) {
          used++;
          await runJob(job, connection);
          used--;
        }
        connection.end();
      } catch (error) {
        failure = error;
        await wait(PAUSE);
      }
    }
  }

  const queue =
    (isRepeatable: boolean): Run =>
    (task) =>
      new Promise((resolve, reject) => {
        const job: Job = { task, isRepeatable, since: performance.now(), resolve, reject };
        waiting.push(job);
        limitWait(job);
        idle.pop()?.();
      });

  const serving = Array.from({ length: count }, serve);
  return {
    run: queue(true),
    runOnce: queue(false),
    untilOpen: async (timeout) => {
      const limit = { signal: AbortSignal.timeout(timeout) };
      if (unopened > 0) await once(opened, 'all', limit).catch(() => Promise.reject(failure));
    },
    pool: () => ({ used, idle: Math.max(0, open - used), waiting: waiting.length }),
    close: async () => {
      isClosing = true;
      wakeAll();
      await Promise.all(serving);
    },
  };
}
