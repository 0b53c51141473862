/**
 * Waits for SQLite's write lock. SQLite itself polls at pauses that grow to 0.1 s: beside processes that write all the time, it would
 * rarely find the lock free, and a write would wait for seconds.
 */
import { BUSY_TIMEOUT } from './connection.ts';

/**
 * The busy timeout of such a connection, in milliseconds: after it, the pauses begin again at 1 ms. With a shorter timeout, the lock
 * changes hands more often, for fewer writes at a time, and throughput falls.
 */
export const TURN_INTERVAL = 10;

/** Retries the write until the lock is free. @throws SqliteError when that takes too long */
export function takeTurn<Result>(write: () => Result): Result {
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
