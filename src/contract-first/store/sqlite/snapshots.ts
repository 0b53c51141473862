/**
 * Lets all reads in one iteration of the event loop share a snapshot of the database, because a read that takes
 * SQLite's locks for itself alone is five times slower. A request still sees all writes, of any program, that were
 * complete before the request arrived.
 */
import type { Database } from 'better-sqlite3';

export interface Snapshots {
  /** Begins a snapshot if none is open, and returns its number. Call it before each read. */
  enter(): number;
  /** Ends the snapshot, so that the next read sees all writes, even in the same iteration. */
  leave(): void;
}

/** Builds the snapshots of the reading connection. Call `leave()` before you write on this connection. */
export function shareSnapshots(db: Database): Snapshots {
  const begin = db.prepare('BEGIN');
  const commit = db.prepare('COMMIT');
  let count = 0;
  let isOpen = false;

  function leave(): void {
    if (!isOpen) return;
    isOpen = false;
    try {
      // After some errors, such as a read error of the disk, SQLite has already rolled back the transaction.
      if (db.inTransaction) commit.run();
    } catch {
      // The error of a failed COMMIT is ignored: the transaction has ended anyway, and the failed read has already
      // reported the cause.
    }
  }

  return {
    enter: () => {
      if (!isOpen) {
        begin.run();
        isOpen = true;
        count++;
        setImmediate(leave);
      }
      return count;
    },
    leave,
  };
}
