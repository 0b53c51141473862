/**
 * Turns of processes that write to one database. SQLite looks for the lock at pauses that grow to 0.1 s: beside others that write
 * all the time it would be free at one of those moments too rarely, and a write would wait for seconds.
 */
import { BUSY_TIMEOUT } from './connection.ts';

/**
 * The busy timeout of a connection that waits for its turns here, in milliseconds: after it, the pauses begin again at 1 ms. A
 * shorter one costs writes per second: the lock is then passed on more often, for fewer writes at once.
 */
export const TURN_INTERVAL = 10;

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
