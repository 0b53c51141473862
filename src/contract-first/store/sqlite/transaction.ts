/** Runs a write in one transaction, and waits for the lock. If it fails, nothing is written, or the error shows that this is unknown. */
import type { Database } from 'better-sqlite3';
import { StoreUnavailable } from '../store.ts';
import { BUSY_TIMEOUT } from './connection.ts';

/**
 * Matches the errors of COMMIT that leave its record in SQLite's log incomplete. After any other error, such as a failed fsync, the record
 * in the log may be complete. Then nobody sees the write now, but it may appear after a crash, unless that part of the log was overwritten.
 */
const UNWRITTEN = /^SQLITE_(BUSY|FULL|IOERR_WRITE)/;

/** Makes a function that runs in a transaction, and throws StoreUnavailable (`outcome_unknown`) if COMMIT may have succeeded or failed. */
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
 * The busy timeout of a connection with retried writes, in milliseconds. After each timeout, SQLite's pauses begin again at 1 ms. A shorter
 * timeout would lower the throughput: processes would take turns more often, each for fewer writes.
 */
export const TURN_INTERVAL = 10;

/**
 * Retries a write until the lock is free. SQLite itself polls the lock with pauses that grow to 0.1 s. If other processes write all the
 * time, it would rarely find the lock free, and a write would wait for seconds.
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
