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
      throw isCommitting ? toCommitError(error) : error;
    }
  };
}

/** The error of COMMIT, as StoreUnavailable where it is unknown whether it stored what was written. */
export function toCommitError(error: unknown): unknown {
  return UNWRITTEN.test((error as { code: string }).code) ? error : new StoreUnavailable(error, 'outcome_unknown');
}
