/** The thread that writes: it has a connection of its own, so that no read waits for an fsync. */
import { parentPort, workerData } from 'node:worker_threads';
import type { Database } from 'better-sqlite3';
import { buildPlaceCheck, openConnection } from './sqlite-connection.ts';
import { type InsertPets, prepareInsertPets } from './sqlite-insert.ts';
import type { NewPet } from './store.ts';

/** What comes back for a batch: the ids, or why none of it was written. */
export type Written = { ids: bigint[] } | { code: string | undefined; message: string };

const port = parentPort as NonNullable<typeof parentPort>;
const file = workerData as string;
let db: Database | undefined;
let insertPets: InsertPets | undefined;

/** Opened at the first write: where that fails, so does the write, and the next one tries again. */
function open(): InsertPets {
  db ??= openConnection(file, { fileMustExist: true });
  const checkPlace = buildPlaceCheck(file);
  const insert = prepareInsertPets(db);
  return (pets) => {
    checkPlace();
    return insert(pets);
  };
}

function write(pets: NewPet[]): Written {
  try {
    insertPets ??= open();
    return { ids: insertPets(pets) };
  } catch (error) {
    const { code, message } = error as { code?: string; message: string };
    return { code, message };
  }
}

port.on('message', (pets: NewPet[] | 'stop') => {
  if (pets === 'stop') {
    db?.close();
    port.close();
  } else {
    port.postMessage(write(pets));
  }
});
