/** A write in one transaction: all of it or nothing, or an error that says that this is unknown. */
import type { Database } from 'better-sqlite3';
import { StoreUnavailable } from '../store.ts';

/**
 * After one of these errors of COMMIT, its record is not complete in SQLite's log. After any other, such as a failed fsync, it
 * may be: nobody sees what was written now, but a crash may bring it back, unless another record was written over this one.
 */
const UNWRITTEN = /^SQLITE_(BUSY|FULL|IOERR_WRITE)/;

/** The function throws StoreUnavailable when it is unknown whether COMMIT stored what it wrote. */
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

/** The error of a transaction, as StoreUnavailable where it is unknown whether COMMIT stored what was written. */
export function toTransactionError(error: unknown, isCommitting: boolean): unknown {
  const isUnknown = isCommitting && !UNWRITTEN.test((error as { code: string }).code);
  return isUnknown ? new StoreUnavailable(error, 'outcome_unknown') : error;
}
