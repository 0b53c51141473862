/** The thread that writes: it has a connection of its own, so that no read waits for an fsync. */
import { parentPort, workerData } from 'node:worker_threads';
import type { Database } from 'better-sqlite3';
import { buildPlaceCheck, openConnection } from './connection.ts';
import { type Batch, type InsertPets, prepareInsertPets } from './insert.ts';

/** What comes back for a batch: the ids, or why none of it was written. */
export type Written = { ids: BigInt64Array } | { code: string | undefined; message: string };

const port = parentPort as NonNullable<typeof parentPort>;
const file = workerData as string;
let db: Database | undefined;
let insertPets: InsertPets | undefined;
let checkPlace: (() => void) | undefined;

/** At the first write, and anew after one that failed: what could only be read when it was opened stays so for SQLite. */
function open(): InsertPets {
  db = openConnection(file, { fileMustExist: true });
  checkPlace ??= buildPlaceCheck(file);
  return prepareInsertPets(db);
}

function write(batch: Batch): Written {
  try {
    checkPlace?.();
    insertPets ??= open();
    return { ids: insertPets(batch) };
  } catch (error) {
    db?.close();
    db = undefined;
    insertPets = undefined;
    const { code, message } = error as { code?: string; message: string };
    return { code, message };
  }
}

port.on('message', (batch: Batch | 'stop') => {
  if (batch === 'stop') {
    db?.close();
    port.close();
  } else {
    port.postMessage(write(batch));
  }
});
