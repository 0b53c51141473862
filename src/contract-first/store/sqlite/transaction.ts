/** Runs a write in one transaction: all or nothing, or an error that says that the outcome is unknown. And waits for the lock. */
import type { Database } from 'better-sqlite3';
import { StoreUnavailable } from '../store.ts';
import { BUSY_TIMEOUT } from './connection.ts';

/**
 * After one of these errors, COMMIT's record in SQLite's log is incomplete. After any other, such as a failed fsync, it may be complete:
 * nobody sees the write now, but after a crash it may reappear, unless the log was overwritten there.
 */
const UNWRITTEN = /^SQLITE_(BUSY|FULL|IOERR_WRITE)/;

/** The returned function throws StoreUnavailable (`outcome_unknown`) when it is unknown whether COMMIT succeeded. */
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
 * The busy timeout of a connection whose writes are retried, in milliseconds: after it, the pauses begin again at 1 ms. With a shorter timeout, the lock
 * changes hands more often, for fewer writes at a time, and throughput falls.
 */
export const TURN_INTERVAL = 10;

/**
 * Retries the write until the lock is free. SQLite itself polls at pauses that grow to 0.1 s: beside processes that write all the time, it
 * would rarely find the lock free, and a write would wait for seconds. @throws SqliteError when that takes too long
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
