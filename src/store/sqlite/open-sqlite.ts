/** The store on SQLite: one file, or memory. Reads run in the event loop, records are written in a thread of their own. */
import { closeSync, existsSync, mkdirSync, openSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Database } from 'better-sqlite3';
import { JsonText } from '../../json/json-text.ts';
import type { AnyCollection, Fields } from '../collection.ts';
import { StoreCounts } from '../counts.ts';
import type { AnyDomain } from '../description.ts';
import { type Outcome, toCreated, toKeyed } from '../once.ts';
import type { Store, StoreLimits } from '../store.ts';
import { type Table, toRecord, toTable } from '../table.ts';
import { checkInodes, type Inodes, openConnection, readInodes, toStoreError, useWal } from './connection.ts';
import { type Aside, readContents, writeContents } from './contents.ts';
import { prepareKeys } from './keys.ts';
import { migrate } from './migrate.ts';
import { prepareCountMisfits } from './misfits.ts';
import { prepareReadPage } from './pages.ts';
import { ReadCache, type Reads } from './read-cache.ts';
import { toJsonSql } from './record-json.ts';
import { type Snapshots, shareSnapshots } from './snapshots.ts';
import { prepareAddUses, prepareListUses } from './uses.ts';
import { startWriter, type Writer } from './write-queue.ts';
import { prepareWriteAll, toBatch, toOutcomes } from './writes.ts';

const MEMORY = ':memory:';

/** @throws Error when the file cannot be opened or made, is no database, or has another schema than this program's */
export function openSqlite(file: string, domain: AnyDomain, limits: StoreLimits): Store<AnyCollection> {
  const table = toTable(domain);
  const { isMigrated = false } = limits;
  // Where the file of a program that runs is gone, it may come back: a new one would stand in its place.
  if (!isMigrated && file !== MEMORY && !existsSync(file)) makeFile(file);
  const db = openConnection(file, { fileMustExist: isMigrated });
  try {
    if (!isMigrated) migrate(db, domain);
    useWal(db);
    return buildStore(db, file, table, limits);
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

function buildStore(db: Database, file: string, table: Table, limits: StoreLimits): Store<AnyCollection> {
  const counts = new StoreCounts();
  const medium = new Medium(db, file);
  const { leave, snapshots } = medium;
  const uncached = prepareReads(db, table);
  const reads = snapshots ? new ReadCache(db, table, snapshots, uncached, counts) : uncached;
  const keys = prepareKeys(db);
  const writer = medium.isMemory
    ? writeInPlace(db, table)
    : startWriter({ file, inodes: medium.inodes, table }, limits, counts);

  return guardAll({
    records: buildCollection(table, reads, writer, leave),
    countMisfits: medium.alone(prepareCountMisfits(db, table)),
    readContents: () => readContents(medium.openAside, table),
    writeContents: async (parts, contract) => {
      await writeContents(medium.openAside, table, parts, contract);
      leave();
    },
    createKey: medium.checked(keys.insert),
    listKeys: medium.alone(keys.list),
    readKeys: medium.checked(keys.readChanges),
    revokeKey: medium.checked(keys.revoke),
    replaceKey: medium.checked(keys.replace),
    addUses: (uses) => writer.addUses(JSON.stringify(uses)),
    listUses: medium.alone(prepareListUses(db)),
    tally: undefined,
    counts,
    check: medium.checked(() => {
      uncached.readRecord(0n);
      return writer.check();
    }),
    close: () => medium.close(writer),
  });
}

/** Where the records are: in files, or in memory, where there are no locks to take, and nobody else who writes. */
class Medium {
  readonly isMemory: boolean;
  /** The files that were opened. */
  readonly inodes: Inodes;
  /** Those that the reads of a turn share. */
  readonly snapshots: Snapshots | undefined;
  readonly #db: Database;
  readonly #file: string;

  constructor(db: Database, file: string) {
    this.#db = db;
    this.#file = file;
    this.isMemory = file === MEMORY;
    this.snapshots = this.isMemory ? undefined : shareSnapshots(db);
    this.inodes = this.isMemory ? [] : readInodes(db, file);
  }

  /** Ends the shared snapshot. */
  readonly leave = () => this.snapshots?.leave();

  /** Runs outside of the shared snapshot: it sees all that is written, and what it writes is stored when it returns. */
  alone<Values extends unknown[], Result>(run: (...values: Values) => Result): (...values: Values) => Result {
    return (...values) => {
      this.leave();
      return run(...values);
    };
  }

  /** The same, and only where the files are those that were opened. */
  checked<Values extends unknown[], Result>(run: (...values: Values) => Result): (...values: Values) => Result {
    return this.alone((...values) => {
      checkInodes(this.inodes);
      return run(...values);
    });
  }

  /** What takes minutes has a connection of its own. Memory has only one, which nobody else may use meanwhile. */
  readonly openAside = (): Aside => {
    this.leave();
    checkInodes(this.inodes);
    const db = this.#db;
    if (this.isMemory) return { db, end: () => db.inTransaction && db.exec('ROLLBACK') };
    const own = openConnection(this.#file, { fileMustExist: true });
    return { db: own, end: () => own.close() };
  };

  /** The last connection to close moves SQLite's log into the file. That is the thread's, where a slow disk blocks nobody. */
  async close(writer: Writer): Promise<void> {
    await writer.flush();
    this.leave();
    this.#db.close();
    await writer.stop();
  }
}

/** `leave` ends the shared snapshot, so that whoever has written sees it. */
function buildCollection(table: Table, reads: Reads, writer: Writer, leave: () => void): AnyCollection {
  return guardAll<AnyCollection>({
    get: reads.readRecord,
    list: reads.readPage,
    create: async (record) => {
      const id = (await writer.write({ record })) as bigint;
      leave();
      return toRecord(table, id, record);
    },
    createOnce: async (record, once) => {
      const outcome = (await writer.write({ record, keyed: toKeyed(table, record, once) })) as Outcome;
      leave();
      return toCreated(table, record, outcome);
    },
    replace: async (id, record) => {
      const isThere = await writer.write({ record, id });
      leave();
      return isThere ? toRecord(table, id, record) : undefined;
    },
    delete: async (id) => {
      const isThere = (await writer.write({ record: undefined, id })) as boolean;
      leave();
      return isThere;
    },
  });
}

function prepareReads(db: Database, table: Table): Reads {
  const get = db.prepare<[bigint], string>(`SELECT ${toJsonSql(table)} FROM ${table.name} WHERE id = ?`).pluck();
  const readRecord = (id: bigint) => {
    const text = get.get(id);
    return text === undefined ? undefined : JsonText.of<Fields>(text);
  };
  return { readPage: prepareReadPage(db, table), readRecord };
}

/** Memory has no fsync to wait for, and is seen by one connection only. */
function writeInPlace(db: Database, table: Table): Writer {
  const writeAll = guard(prepareWriteAll(db, table));
  return {
    write: async (write) => toOutcomes([write], writeAll(toBatch(table, [write])))[0] as bigint,
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

function guardAll<Methods extends object>(methods: Methods): Methods {
  const guarded = Object.entries(methods).map(([name, method]) => [
    name,
    typeof method === 'function' ? guard(method) : method,
  ]);
  return Object.fromEntries(guarded);
}
