/** The thread that writes: it has a connection of its own, so that no read waits for an fsync. */
import { parentPort, workerData } from 'node:worker_threads';
import type { Database } from 'better-sqlite3';
import { type OutageKind, StoreUnavailable } from '../store.ts';
import { checkPlaces, openConnection, type Places, proveWritable, toStoreError } from './connection.ts';
import { type Batch, type Inserted, type InsertPets, prepareInsertPets } from './insert.ts';
import { TURN_INTERVAL, takeTurn } from './turns.ts';
import { prepareAddUses } from './uses.ts';

/** What the thread writes to. */
export interface Target {
  file: string;
  places: Places;
}

/** Uses of keys, as a JSON array: nothing comes back for them. */
interface Uses {
  uses: string;
}

/** An empty batch proves that the disk can be written; `hold` only opens the connection where it is not open. */
type Task = Batch | Uses | 'hold';

const isUses = (task: Task): task is Uses => typeof task === 'object' && 'uses' in task;

/** What comes back for a task: the ids of its pets, or why there are none; `kind` is absent where one of the pets is to blame. */
export type Written = Inserted | { kind: OutageKind | undefined; code: string | undefined; message: string };

/** How often the thread checks that the files are in place, beside each write, in milliseconds. */
const LOOK_INTERVAL = 1000;

const NOTHING: Inserted = { first: 0n, keyed: [] };

const port = parentPort as NonNullable<typeof parentPort>;
const { file, places } = workerData as Target;
let db: Database | undefined;
let insertPets: InsertPets | undefined;

/** At the start, and again after a failed write: a connection that was opened read-only stays read-only. */
function open(): InsertPets {
  db ??= openConnection(file, { fileMustExist: true, busyTimeout: TURN_INTERVAL });
  return prepareInsertPets(db);
}

function close(): void {
  db?.close();
  db = undefined;
  insertPets = undefined;
}

/** Where the `-wal` file was removed, its content is lost with this connection: it is moved into the database file first. */
function look(): void {
  try {
    checkPlaces(places);
  } catch (error) {
    db?.pragma('wal_checkpoint(PASSIVE)');
    throw error;
  }
}

function run(task: Task): Written {
  try {
    look();
    return takeTurn(() => {
      insertPets ??= open();
      if (task === 'hold') return NOTHING;
      if (isUses(task)) {
        // It comes once a minute at most, so its statement is not kept.
        prepareAddUses(db as Database)(task.uses);
        return NOTHING;
      }
      if (task.rows.count === 0 && task.keyed.length === 0) proveWritable(db as Database);
      return insertPets(task);
    });
  } catch (thrown) {
    close();
    const error = toStoreError(thrown);
    const kind = error instanceof StoreUnavailable ? error.kind : undefined;
    const { code, message } = (kind ? (error as Error).cause : error) as { code?: string; message: string };
    return { kind, code, message };
  }
}

function tryTo(act: () => void): void {
  try {
    act();
  } catch {
    close();
  }
}

tryTo(() => {
  look();
  insertPets = open();
});
setInterval(() => tryTo(look), LOOK_INTERVAL).unref();

port.on('message', (task: Task | 'stop') => {
  if (task === 'stop') {
    close();
    port.close();
  } else {
    const written = run(task);
    if (!isUses(task)) port.postMessage(written);
  }
});
