/**
 * A pool of open connections, with a queue of tasks. Every task ends before its timeout, regardless of how the database
 * behaves.
 */
import { EventEmitter, once } from 'node:events';
import { setImmediate as nextTurn, setTimeout as wait } from 'node:timers/promises';
import { Queue, rejectAll, type Waiting } from '../changes/queue.ts';
import { type Pool, StoreUnavailable } from '../store.ts';
import type { PostgresConnection } from './connection.ts';

export type Task<Result> = (connection: PostgresConnection) => Promise<Result>;
export type RunTask = <Result>(task: Task<Result>) => Promise<Result>;

export interface ConnectionPoolOptions {
  connect: () => Promise<PostgresConnection>;
  count: number;
  /**
   * How long a task may wait for a connection, in milliseconds. A task that waits longer fails without having done
   * anything.
   */
  waitTimeout: number;
  /**
   * How long a transaction may wait for a connection, in milliseconds; by default, `waitTimeout`. The time may be
   * longer than `waitTimeout`, because a transaction that loses its connection before the commit changes nothing.
   */
  transactionWait?: number;
  /** How long a task may take in milliseconds, including its wait for a connection. */
  timeout: number;
}

interface Job {
  task: Task<unknown>;
  isRepeatable: boolean;
  /** How long the task may wait for a connection, in milliseconds. */
  wait: number;
}

/** How long the pool waits before it tries to connect again, in milliseconds. */
const PAUSE = 100;

/** A task may begin statements until this share of its timeout has passed. */
const LAST = 0.9;

const BUSY = new Error('all connections to the database are busy');
const CLOSED = new Error('the store is closed');
const NO_ANSWER = new Error('the database has not answered in time');

export class ConnectionPool {
  readonly #options: ConnectionPoolOptions;
  readonly #transactionWait: number;
  readonly #waiting: Queue<Job>;
  /** A function for each idle connection. Calling it makes the connection look for a job. */
  readonly #idle: (() => void)[] = [];
  readonly #serving: Promise<void>[];
  readonly #opened = new EventEmitter();
  #unopened: number;
  /** `#open` is the number of open connections. `#used` is the number of connections that are running a job. */
  #open = 0;
  #used = 0;
  #isClosing = false;
  #isClosed = false;
  /** The error for a task that gets no connection: the reason why no connection is available. */
  #failure: unknown = BUSY;

  constructor(options: ConnectionPoolOptions) {
    this.#options = options;
    this.#unopened = options.count;
    this.#transactionWait = options.transactionWait ?? options.waitTimeout;
    this.#waiting = new Queue(this.#transactionWait, () => new StoreUnavailable(this.#failure));
    this.#serving = Array.from({ length: options.count }, () => this.#serve());
  }

  /**
   * Runs a task on the next free connection. The task begins at the end of the current iteration of the event loop. If
   * its connection is lost, the task runs again on another connection.
   * @throws StoreUnavailable
   */
  readonly run: RunTask = (task) => this.#add({ task, isRepeatable: true, wait: this.#options.waitTimeout });

  /**
   * Runs a task once. If the connection is lost, the task is not repeated, but fails with the kind `outcome_unknown`.
   */
  readonly runOnce: RunTask = (task) => this.#add({ task, isRepeatable: false, wait: this.#options.waitTimeout });

  /**
   * Runs a transaction once. If the connection is lost, the task is not repeated; the task itself must then throw an
   * error with the outcome.
   */
  readonly runTransaction: RunTask = (task) => this.#add({ task, isRepeatable: false, wait: this.#transactionWait });

  /**
   * Resolves when every connection of the pool has been opened once.
   * @throws Error with the reason if that takes longer than `timeout` milliseconds
   */
  async untilOpen(timeout: number): Promise<void> {
    const limit = { signal: AbortSignal.timeout(timeout) };
    if (this.#unopened > 0) await once(this.#opened, 'all', limit).catch(() => Promise.reject(this.#failure));
  }

  pool(): Pool {
    return { used: this.#used, idle: Math.max(0, this.#open - this.#used), waiting: this.#waiting.length };
  }

  /**
   * Waits for the running and the waiting tasks, and then closes the connections. If no connection remains to run a
   * waiting task, the task is rejected.
   */
  async close(): Promise<void> {
    this.#isClosing = true;
    this.#wakeAll();
    await Promise.all(this.#serving);
    this.#isClosed = true;
    rejectAll(this.#waiting.take(), new StoreUnavailable(this.#failure));
  }

  #add<Result>(job: Job): Promise<Result> {
    if (this.#isClosed) return Promise.reject(new StoreUnavailable(CLOSED));
    const done = this.#waiting.add(job) as Promise<Result>;
    this.#idle.pop()?.();
    return done;
  }

  #wakeAll(): void {
    for (const wake of this.#idle.splice(0)) wake();
  }

  /** Keeps one connection open, and runs waiting tasks on it. */
  async #serve(): Promise<void> {
    let isFirst = true;
    while (!this.#isClosing) {
      try {
        const connection = await this.#options.connect();
        this.#failure = BUSY;
        if (isFirst && --this.#unopened === 0) this.#opened.emit('all');
        isFirst = false;
        await this.#runAll(connection);
        connection.end();
      } catch (error) {
        this.#failure = error;
        await wait(PAUSE);
      }
    }
  }

  /** Runs tasks until the connection is lost. If the pool is closing, stops when no task waits. */
  async #runAll(connection: PostgresConnection): Promise<void> {
    this.#open++;
    void connection.ended.then(() => {
      this.#open--;
      this.#wakeAll();
    });
    for (let job = await this.#takeNext(connection); job; job = await this.#takeNext(connection)) {
      this.#used++;
      await this.#runJob(job, connection);
      this.#used--;
    }
  }

  /**
   * Waits for a job, and returns it only at the end of the iteration of the event loop, so that more calls can join its
   * batch. Returns undefined if the connection is lost, or if the pool is closing and no job waits.
   */
  async #takeNext(connection: PostgresConnection): Promise<Waiting<Job> | undefined> {
    while (connection.isOpen && !(this.#isClosing && this.#waiting.length === 0)) {
      if (this.#waiting.length === 0) await new Promise<void>((resolve) => this.#idle.push(resolve));
      await nextTurn();
      const job = connection.isOpen ? this.#waiting.take(1)[0] : undefined;
      if (job) return job;
    }
    return undefined;
  }

  async #runJob(job: Waiting<Job>, connection: PostgresConnection): Promise<void> {
    const { task, isRepeatable, wait: most } = job.item;
    if (performance.now() - job.since > most) {
      job.reject(new StoreUnavailable(this.#failure));
      return;
    }
    let isLate = false;
    const endLate = () => {
      isLate = true;
      connection.end(NO_ANSWER);
    };
    const { timeout } = this.#options;
    connection.until = job.since + LAST * timeout;
    const deadline = setTimeout(endLate, job.since + timeout - performance.now());
    try {
      job.resolve(await task(connection));
    } catch (error) {
      if (connection.isOpen || error instanceof StoreUnavailable) job.reject(error);
      else if (!isRepeatable) job.reject(new StoreUnavailable(error, 'outcome_unknown'));
      else if (isLate) job.reject(new StoreUnavailable(error));
      else {
        this.#waiting.putBack([job]);
        this.#wakeAll();
      }
    } finally {
      clearTimeout(deadline);
    }
  }
}
