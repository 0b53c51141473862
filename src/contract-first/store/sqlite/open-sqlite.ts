/**
 * Opens the store on a SQLite file, or on a database in memory. Reads run in the event loop; a thread writes records to
 * a file.
 */
import { closeSync, existsSync, mkdirSync, openSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Database } from 'better-sqlite3';
import { buildCollections, type ForCollections } from '../build-collection.ts';
import type { Created, Outcome } from '../changes/changes.ts';
import {
  type AnyTransactions,
  type DomainTransactions,
  NO_TRANSACTIONS,
  type OfDomain,
} from '../changes/transactions.ts';
import type { SqlSteps } from '../collection.ts';
import { countInvalidRecords } from '../contents.ts';
import { type Fits, type Store, StoreCounts, type StoreLimits } from '../store.ts';
import type { AnyDomain } from '../tables/description.ts';
import { NO_ID, type StoredTable, toStoredTables } from '../tables/record-codec.ts';
import { type Table, toTables } from '../tables/table.ts';
import { checkInodes, checkMap, type Inodes, openConnection, readInodes, toStoreError, useWal } from './connection.ts';
import { DIALECT, Driver, KEYS } from './drive.ts';
import { migrateSqlite } from './migrate.ts';
import { ReadCache } from './read-cache.ts';
import { prepareReads } from './reads.ts';
import { type Snapshots, shareSnapshots } from './snapshots.ts';
import { inTransaction } from './transaction.ts';
import { prepareWriteAll, toBatch, toOutcomes, type Write } from './writes.ts';
import { type Writer, WritingThread } from './writing-thread.ts';

const MEMORY = ':memory:';

/**
 * Opens the store. @throws Error if the file cannot be opened or created, is not a database, or contains another
 * program's schema
 */
export function openSqlite(
  file: string,
  domain: AnyDomain,
  limits: StoreLimits,
  { codecs = {}, transactions = NO_TRANSACTIONS }: OfDomain = {},
): Store {
  const stored = toStoredTables(toTables(domain), codecs);
  if (file !== MEMORY && !existsSync(file)) makeFile(file);
  const db = openConnection(file);
  try {
    migrateSqlite(db, domain, limits);
    useWal(db);
    return buildStore(new SqliteAccess(db, file), stored, transactions, limits);
  } catch (error) {
    db.close();
    throw error;
  }
}

/**
 * Creates a database file that only its owner may read. SQLite gives the `-wal` and `-shm` files the same permissions.
 */
function makeFile(file: string): void {
  checkMap(file);
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  closeSync(openSync(file, 'a', 0o600));
}

/**
 * Returns the URL of the module that the writing thread must load. Returns '' if the thread needs no module: it needs
 * the domain's code only to run transactions, and to check merged objects.
 */
function toLoad(calls: AnyTransactions, tables: readonly Table[], source: string): string {
  const isMerging = tables.some(({ fields }) => fields.some(({ type }) => type === 'json'));
  return isMerging || Object.keys(calls).length > 0 ? source : '';
}

function buildStore(
  access: SqliteAccess,
  stored: readonly StoredTable[],
  { all: calls, source }: DomainTransactions,
  limits: StoreLimits,
): Store {
  const counts = new StoreCounts();
  const { db, file, snapshots } = access;
  const tables = stored.map(({ table }) => table);
  const driver = new Driver(db);
  const writer = access.isMemory
    ? writeInPlace(driver, db, stored, calls)
    : new WritingThread({ file, inodes: access.inodes, tables, source: toLoad(calls, tables, source) }, limits, counts);
  const read = guard(<Found>(toSteps: () => SqlSteps<Found>) => {
    snapshots?.enter();
    return driver.drive(toSteps());
  }) as ForCollections['read'];
  const all = stored.map((one) => buildOwn(one, access, counts, 1 / stored.length));
  const collections = buildCollections(all, {
    calls,
    read,
    readAll: read,
    dialect: DIALECT,
    create: (create) => writer.create(create).then(access.show),
    change: (change) => writer.change(change).then(access.show),
  });

  const outside = {
    countInvalidRecords: driver.bind((contract: string, fits: Fits) =>
      countInvalidRecords(DIALECT, tables, contract, fits),
    ),
    createKey: inTransaction(db, driver.bind(KEYS.insert)),
    listKeys: driver.bind(KEYS.list),
    readKeys: driver.bind(KEYS.readChanges),
    revokeKey: inTransaction(db, driver.bind(KEYS.revoke)),
    replaceKey: inTransaction(db, driver.bind(KEYS.replace)),
    listUses: driver.bind(KEYS.listUses),
    check: () => {
      for (const { prove } of all) prove();
      return writer.check();
    },
  };
  return {
    ...guardAll(outside, access.goOutside),
    collections,
    addUses: (uses) => writer.addUses(JSON.stringify(uses)),
    countWindow: undefined,
    counts,
    close: () => access.close(writer),
  };
}

/**
 * Builds the functions that read the records of one collection. `share` is the fraction of the caches' total size for
 * this collection.
 */
function buildOwn({ table, codec }: StoredTable, { db, snapshots }: SqliteAccess, counts: StoreCounts, share: number) {
  const uncached = prepareReads(db, table, codec);
  const reads = snapshots ? new ReadCache(db, table, { snapshots, reads: uncached, counts, share }) : uncached;
  const prove = () => uncached.readRecord(NO_ID[table.id.type]);
  return { table, codec, prove, reads: { get: guard(reads.readRecord), list: guard(reads.readPage) } };
}

/**
 * Access to a database in a file or in memory. Only this process can use a database in memory, so it needs neither
 * shared snapshots nor checks of its files.
 */
class SqliteAccess {
  readonly isMemory: boolean;
  /** The paths and inodes of the opened files. */
  readonly inodes: Inodes;
  /** The snapshots of the database. Reads in the same iteration of the event loop share a snapshot. */
  readonly snapshots: Snapshots | undefined;
  readonly db: Database;
  readonly file: string;

  constructor(db: Database, file: string) {
    this.db = db;
    this.file = file;
    this.isMemory = file === MEMORY;
    this.snapshots = this.isMemory ? undefined : shareSnapshots(db);
    this.inodes = this.isMemory ? [] : readInodes(db, file);
  }

  /** Ends the shared snapshot. */
  readonly leave = () => this.snapshots?.leave();

  /** Ends the shared snapshot after a write, so that the caller's next read sees the write. */
  readonly show = <Result>(result: Result) => {
    this.snapshots?.leave();
    return result;
  };

  /**
   * Ends the shared snapshot, and checks that the opened files were neither moved nor replaced. @throws SqliteError if
   * they were
   */
  readonly goOutside = () => {
    this.leave();
    checkInodes(this.inodes);
  };

  /**
   * Closes all connections. The writing thread closes its connection last, because closing the last connection runs the
   * final checkpoint, which must not block the event loop.
   */
  async close(writer: Writer): Promise<void> {
    await writer.flush();
    this.leave();
    this.db.close();
    await writer.stop();
  }
}

/**
 * Builds a writer for a database in memory. The writer needs no thread, because such a database has only one
 * connection, and writes do not wait for a disk.
 */
function writeInPlace(driver: Driver, db: Database, stored: readonly StoredTable[], calls: AnyTransactions): Writer {
  const writeAll = guard(prepareWriteAll(db, stored, calls));
  const byName = new Map(stored.map(({ table }) => [table.collection, table]));
  async function write(one: Write): Promise<Created | Outcome> {
    const [outcome] = toOutcomes([one], writeAll(toBatch(byName, [one])));
    if (outcome instanceof Error) throw outcome;
    return outcome as Created | Outcome;
  }
  return {
    create: write as Writer['create'],
    change: write as Writer['change'],
    addUses: driver.bind(KEYS.addUses),
    check: async () => {},
    flush: async () => {},
    stop: async () => {},
  };
}

/** Wraps a function so that it throws StoreUnavailable for an outage of SQLite. */
function guard<Values extends unknown[], Result>(run: (...values: Values) => Result): (...values: Values) => Result {
  return (...values) => {
    try {
      return run(...values);
    } catch (error) {
      throw toStoreError(error);
    }
  };
}

type Method = (...values: never[]) => unknown;

/** Wraps all methods with `guard`, and calls `before` before each call of a method. */
function guardAll<Methods extends Record<string, Method>>(methods: Methods, before: () => void): Methods {
  const toGuarded = (method: Method) =>
    guard((...values: never[]) => {
      before();
      return method(...values);
    });
  return Object.fromEntries(Object.entries(methods).map(([name, method]) => [name, toGuarded(method)])) as Methods;
}
