/** The code of the thread that copies a database. SQLite copies in one call, which would block the event loop. */
import { workerData } from 'node:worker_threads';
import { Sqlite } from './sqlite.ts';

try {
  const db = new Sqlite(workerData.from, { readonly: true, fileMustExist: true });
  // VACUUM INTO copies one snapshot. `.backup` copies in steps, and begins again after each write of another process, possibly for ever.
  db.prepare<[string]>('VACUUM INTO ?').run(workerData.to);
  db.close();
} catch (error) {
  // The error is thrown again as an Error, because a SqliteError would lose its message on the way out of the thread.
  throw new Error((error as Error).message);
}
