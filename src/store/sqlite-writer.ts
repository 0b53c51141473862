/** The thread that writes: it has a connection of its own, so that no read waits for an fsync. */
import { parentPort, workerData } from 'node:worker_threads';
import type { Database } from 'better-sqlite3';
import { buildPlaceCheck, openConnection } from './sqlite-connection.ts';
import { type Batch, type InsertPets, prepareInsertPets } from './sqlite-insert.ts';

/** What comes back for a batch: the ids, or why none of it was written. */
export type Written = { ids: BigInt64Array } | { code: string | undefined; message: string };

const port = parentPort as NonNullable<typeof parentPort>;
const file = workerData as string;
let db: Database | undefined;
let insertPets: InsertPets | undefined;

/** Opened at the first write: where that fails, so does the write, and the next one tries again. */
function open(): InsertPets {
  db ??= openConnection(file, { fileMustExist: true });
  const checkPlace = buildPlaceCheck(file);
  const insert = prepareInsertPets(db);
  return (batch) => {
    checkPlace();
    return insert(batch);
  };
}

function write(batch: Batch): Written {
  try {
    insertPets ??= open();
    return { ids: insertPets(batch) };
  } catch (error) {
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
