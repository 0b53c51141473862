/** The store on SQLite: one file, or memory. Reads run in the event loop, pets are written in a thread of their own. */
import { closeSync, existsSync, mkdirSync, openSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Database } from 'better-sqlite3';
import { JsonText } from '../../json/json-text.ts';
import { toWritten } from '../columns.ts';
import { toCreated, toKeyed } from '../once.ts';
import type { Pet, Store, StoreLimits } from '../store.ts';
import { checkPlaces, notePlaces, openConnection, toStoreError, useWal } from './connection.ts';
import { type Aside, readContents, writeContents } from './contents.ts';
import { type Create, prepareInsertPets, readOutcomes, toBatch } from './insert.ts';
import { prepareKeys } from './keys.ts';
import { loadMigrations, migrate } from './migrate.ts';
import { prepareCountMisfits } from './misfits.ts';
import { prepareReadPage } from './pages.ts';
import { PET_JSON } from './pet-json.ts';
import { cacheReads, type Reads } from './read-cache.ts';
import { shareSnapshots } from './snapshots.ts';
import { prepareAddUses, prepareListUses } from './uses.ts';
import { startWriter, type Writer } from './write-queue.ts';

const MEMORY = ':memory:';

/** @throws Error when the file cannot be opened or made, is no database, or has a newer schema than this program's */
export function openSqlite(file: string, limits: StoreLimits): Store {
  if (file !== MEMORY && !existsSync(file)) makeFile(file);
  const db = openConnection(file);
  try {
    if (!limits.isMigrated) migrate(db, loadMigrations());
    useWal(db);
    return buildStore(db, file, limits);
  } catch (error) {
    db.close();
    throw error;
  }
}

/** Nobody else may read what is stored. SQLite gives `-wal` and `-shm` the mode of the file. */
function makeFile(file: string): void {
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  closeSync(openSync(file, 'a', 0o600));
}

function buildStore(db: Database, file: string, limits: StoreLimits): Store {
  const isMemory = file === MEMORY;
  // In memory there are no locks to take, and nobody else who writes.
  const snapshots = isMemory ? undefined : shareSnapshots(db);
  const reads = prepareReads(db);
  const { readPage, readPet } = snapshots ? cacheReads(db, snapshots, reads) : reads;
  const keys = prepareKeys(db);
  const places = isMemory ? [] : notePlaces(db, file);
  const writer = isMemory ? writeInPlace(db) : startWriter({ file, places }, limits);

  /** Outside of the shared snapshot: it sees all that is written, and what it writes is stored when it returns. */
  function alone<Values extends unknown[], Result>(run: (...values: Values) => Result): (...values: Values) => Result {
    return (...values) => {
      snapshots?.leave();
      return run(...values);
    };
  }

  /** And where the files are those that were opened. */
  function inPlace<Values extends unknown[], Result>(
    run: (...values: Values) => Result,
  ): (...values: Values) => Result {
    return alone((...values) => {
      checkPlaces(places);
      return run(...values);
    });
  }

  /** What takes minutes has a connection of its own. Memory has only one, which nobody else may use meanwhile. */
  function openAside(): Aside {
    snapshots?.leave();
    checkPlaces(places);
    if (isMemory) return { db, end: () => db.inTransaction && db.exec('ROLLBACK') };
    const own = openConnection(file, { fileMustExist: true });
    return { db: own, end: () => own.close() };
  }

  return guardAll({
    createPet: async (pet) => {
      const id = await writer.write(pet);
      snapshots?.leave();
      return toWritten(id, pet);
    },
    createPetOnce: async (pet, once) => {
      const outcome = await writer.writeOnce(pet, toKeyed(pet, once));
      snapshots?.leave();
      return toCreated(pet, outcome);
    },
    getPet: readPet,
    listPets: ({ limit, status, after = 0n }) => readPage(limit, status, after),
    countMisfits: alone(prepareCountMisfits(db)),
    readContents: () => readContents(openAside),
    writeContents: async (parts, contract) => {
      await writeContents(openAside, parts, contract);
      snapshots?.leave();
    },
    createKey: inPlace(keys.insert),
    listKeys: alone(keys.list),
    readKeys: inPlace(keys.readChanges),
    revokeKey: inPlace(keys.revoke),
    replaceKey: inPlace(keys.replace),
    addUses: (uses) => writer.addUses(JSON.stringify(uses)),
    listUses: alone(prepareListUses(db)),
    tally: undefined,
    check: alone(() => {
      checkPlaces(places);
      reads.readPet(0n);
      return writer.check();
    }),
    close: async () => {
      // The last connection to close moves SQLite's log into the file. That is the thread's, where a slow disk blocks nobody.
      await writer.flush();
      snapshots?.leave();
      db.close();
      await writer.stop();
    },
  });
}

function prepareReads(db: Database): Reads {
  const get = db.prepare<[bigint], string>(`SELECT ${PET_JSON} FROM pets WHERE id = ?`).pluck();
  const readPet = (id: bigint) => {
    const text = get.get(id);
    return text === undefined ? undefined : JsonText.of<Pet>(text);
  };
  return { readPage: prepareReadPage(db), readPet };
}

/** Memory has no fsync to wait for, and is seen by one connection only. */
function writeInPlace(db: Database): Writer {
  const insertPets = guard(prepareInsertPets(db));
  const run = (create: Create) => readOutcomes(insertPets(toBatch([create])))(create);
  return {
    write: async (pet) => run({ pet, keyed: undefined }) as bigint,
    writeOnce: async (pet, keyed) => run({ pet, keyed }),
    addUses: prepareAddUses(db),
    check: async () => {},
    flush: async () => {},
    stop: async () => {},
  };
}

/** The function, with SQLite's outages thrown as StoreUnavailable. */
function guard<Values extends unknown[], Result>(run: (...values: Values) => Result): (...values: Values) => Result {
  return (...values) => {
    try {
      return run(...values);
    } catch (error) {
      throw toStoreError(error);
    }
  };
}

function guardAll(store: Store): Store {
  const guarded = Object.entries(store).map(([name, method]) => [name, method && guard(method)]);
  return Object.fromEntries(guarded) as unknown as Store;
}
