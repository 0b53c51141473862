/** The thread that copies a database: SQLite copies in one blocking call. */
import { workerData } from 'node:worker_threads';
import { Sqlite } from './sqlite.ts';

try {
  const db = new Sqlite(workerData.from, { readonly: true, fileMustExist: true });
  // One snapshot. `.backup` copies in steps, starts again whenever another process has written, and may never end.
  db.prepare<[string]>('VACUUM INTO ?').run(workerData.to);
  db.close();
} catch (error) {
  // A SqliteError would leave the thread without its message.
  throw new Error((error as Error).message);
}
