/**
 * One snapshot of the database for all reads in a turn of the event loop: a read that takes SQLite's locks for itself takes five
 * times as long. Whatever is written, by anyone, is seen by every request that arrives later.
 */
import type { Database } from 'better-sqlite3';

export interface Snapshots {
  /** To be called before each read. Returns the number of the snapshot that the read sees. */
  enter(): number;
  /** Ends the snapshot, so that the next read sees all that is written, also when it comes in the same turn. */
  leave(): void;
}

/** For the connection that reads. To write on it, call `leave()` first. */
export function shareSnapshots(db: Database): Snapshots {
  const begin = db.prepare('BEGIN');
  const commit = db.prepare('COMMIT');
  let count = 0;
  let isOpen = false;

  function leave(): void {
    if (!isOpen) return;
    isOpen = false;
    try {
      // SQLite itself ends the transaction at some errors, such as a failing disk.
      if (db.inTransaction) commit.run();
    } catch {
      // The transaction is over all the same, and the read that met the error has failed already.
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
