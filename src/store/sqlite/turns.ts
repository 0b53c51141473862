/**
 * Turns of processes that write to one database. SQLite looks for the lock at pauses that grow to 0.1 s: beside others that write
 * all the time it would be free at one of those moments too rarely, and a create would wait for seconds.
 */
import { BUSY_TIMEOUT } from './connection.ts';

/** The busy timeout of a connection that waits for its turns here: how often it looks for the lock, in milliseconds. */
export const TURN_INTERVAL = 1;

/** Runs it again until the lock is free. @throws SqliteError when that takes too long */
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
