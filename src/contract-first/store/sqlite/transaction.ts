/** Runs writes in transactions, and waits for SQLite's write lock. */
import type { Database } from 'better-sqlite3';
import { StoreUnavailable } from '../store.ts';
import { BUSY_TIMEOUT } from './connection.ts';

/**
 * Matches the errors of COMMIT after which the transaction is certainly incomplete in SQLite's log. After any other
 * error, such as a failed fsync, the log may contain the whole transaction. Nobody sees the transaction now, but it may
 * appear after a crash, unless that section of the log was overwritten before.
 */
const UNWRITTEN = /^SQLITE_(BUSY|FULL|IOERR_WRITE)/;

/**
 * Makes a function that runs `write` in a transaction. @throws StoreUnavailable (`outcome_unknown`) if it is not known
 * whether COMMIT has succeeded
 */
export function inTransaction<Values extends unknown[], Result>(
  db: Database,
  write: (...values: Values) => Result,
): (...values: Values) => Result {
  let isCommitting = false;
  const run = db.transaction((...values: Values) => {
    const result = write(...values);
    isCommitting = true;
    return result;
  });
  return (...values) => {
    isCommitting = false;
    try {
      return run.immediate(...values) as Result;
    } catch (error) {
      const isUnknown = isCommitting && !UNWRITTEN.test((error as { code: string }).code);
      throw isUnknown ? new StoreUnavailable(error, 'outcome_unknown') : error;
    }
  };
}

/**
 * The busy timeout of a connection that retries its writes, in milliseconds. After each timeout, SQLite's pauses begin
 * again at 1 ms. With a shorter timeout, processes would take turns more often and write less in each turn, so the
 * throughput would be lower.
 */
export const TURN_INTERVAL = 10;

/**
 * Retries a write until the lock is free. SQLite itself polls the lock with pauses that grow to 0.1 s. So if other
 * processes write all the time, it would rarely find the lock free, and a write would wait for seconds.
 * @throws SqliteError if the lock is not free in time
 */
export function retryWhileBusy<Result>(write: () => Result): Result {
  const deadline = performance.now() + BUSY_TIMEOUT;
  for (;;) {
    try {
      return write();
    } catch (error) {
      if (!String((error as { code?: unknown }).code).startsWith('SQLITE_BUSY') || performance.now() > deadline)
        throw error;
    }
  }
}
