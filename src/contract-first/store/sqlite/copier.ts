/**
 * The code of the thread that copies a database. SQLite makes the copy in one call, which would otherwise block the
 * event loop.
 */
import { workerData } from 'node:worker_threads';
import { Sqlite } from './sqlite.ts';

try {
  const db = new Sqlite(workerData.from, { readonly: true, fileMustExist: true });
  // VACUUM INTO copies a single snapshot. `.backup` would copy step by step and begin again after each write by another
  // process, so the copy might never end.
  db.prepare<[string]>('VACUUM INTO ?').run(workerData.to);
  db.close();
} catch (error) {
  // Throws a new Error, because a SqliteError would lose its message when it leaves the thread.
  throw new Error((error as Error).message);
}
