/** Runs a write in one transaction: all or nothing, or an error that says that the outcome is unknown. */
import type { Database } from 'better-sqlite3';
import { StoreUnavailable } from '../store.ts';

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
      throw toTransactionError(error, isCommitting);
    }
  };
}

/** Returns StoreUnavailable (`outcome_unknown`) when it is unknown whether COMMIT succeeded; any other error as it is. */
export function toTransactionError(error: unknown, isCommitting: boolean): unknown {
  const isUnknown = isCommitting && !UNWRITTEN.test((error as { code: string }).code);
  return isUnknown ? new StoreUnavailable(error, 'outcome_unknown') : error;
}
