/** Runs writes in transactions, and waits for SQLite's write lock. */
import type { Database } from 'better-sqlite3';
import { StoreUnavailable } from '../store.ts';
import { BUSY_TIMEOUT } from './connection.ts';

/**
 * Matches those errors of COMMIT that mean that the transaction is incomplete in SQLite's log, and so does not take
 * effect. After any other error, such as a failed fsync, the log may contain the whole transaction. The transaction is
 * invisible now, but may appear after a crash, unless its section of the log was overwritten before the crash.
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
 * The busy timeout of a connection that retries its writes, in milliseconds. After each timeout, the pauses between
 * SQLite's attempts begin again at 1 ms. With a shorter timeout, processes would take turns more often and write less
 * in each turn, so the throughput would be lower.
 */
export const TURN_INTERVAL = 10;

/**
 * Retries a write until the lock is free. SQLite's own busy handler polls the lock with pauses that grow to 0.1 s. If
 * other processes write continuously, such a handler would rarely find the lock free, and a write could wait for
 * seconds.
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
