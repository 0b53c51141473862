/** The thread that copies a database: SQLite copies in one blocking call. Posts '' or the error message. */
import { type MessagePort, parentPort, workerData } from 'node:worker_threads';
import type { Copying } from './copies.ts';
import { Sqlite } from './kept-sqlite.ts';

function copy({ from, to }: Copying): string {
  try {
    const db = new Sqlite(from, { readonly: true, fileMustExist: true });
    // One snapshot. `.backup` copies in steps, starts again whenever another process has written, and may never end.
    db.prepare<[string]>('VACUUM INTO ?').run(to);
    db.close();
    return '';
  } catch (error) {
    return (error as Error).message;
  }
}

(parentPort as MessagePort).postMessage(copy(workerData));
