/** The thread that writes: it has a connection of its own, so that no read waits for an fsync. */
import { parentPort, workerData } from 'node:worker_threads';
import { openConnection } from './sqlite-connection.ts';
import { prepareInsertPets } from './sqlite-insert.ts';
import type { NewPet } from './store.ts';

/** What comes back for a batch: the ids, or why none of it was written. */
export type Written = { ids: bigint[] } | { code: string | undefined; message: string };

const port = parentPort as NonNullable<typeof parentPort>;
const db = openConnection(workerData as string);
const insertPets = prepareInsertPets(db);

function write(pets: NewPet[]): Written {
  try {
    return { ids: insertPets(pets) };
  } catch (error) {
    const { code, message } = error as { code?: string; message: string };
    return { code, message };
  }
}

port.on('message', (pets: NewPet[] | 'stop') => {
  if (pets !== 'stop') return port.postMessage(write(pets));
  db.close();
  port.close();
});
