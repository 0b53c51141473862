/**
 * Opens connections to a SQLite database, and configures them for durable writes. Converts SQLite's outages to
 * StoreUnavailable.
 */
import { existsSync, lstatSync, readlinkSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import type { Database } from 'better-sqlite3';
import { StoreUnavailable } from '../store.ts';
import { type Table, toTrialRow } from '../tables/table.ts';
import { Sqlite } from './sqlite.ts';

/** How long a statement waits for a lock that another process holds, in milliseconds. */
export const BUSY_TIMEOUT = 2000;

/**
 * The size of a connection's page cache, in KiB. The default of better-sqlite3 is 16 MB, but the operating system also
 * caches the file.
 */
const CACHE_SIZE = 2000;

/**
 * Checks that a symbolic link does not point into a missing folder, for example because a disk is not mounted.
 * @throws Error if the file is such a link
 */
export function checkMap(file: string): void {
  const link = lstatSync(file, { throwIfNoEntry: false });
  if (!link?.isSymbolicLink() || existsSync(file)) return;
  const target = resolve(dirname(file), readlinkSync(file));
  if (!existsSync(dirname(target))) throw new Error(`it is a link to ${target}, whose folder is not there`);
}

/** Opens a connection. @throws SqliteError if the file cannot be opened */
export function openConnection(file: string, { fileMustExist = false, busyTimeout = BUSY_TIMEOUT } = {}): Database {
  const db = new Sqlite(file, { timeout: busyTimeout, fileMustExist });
  try {
    // The first pragma is the first access to the file, so it fails if the file cannot be opened.
    db.pragma('synchronous = FULL');
    db.pragma(`cache_size = -${CACHE_SIZE}`);
    // By default, SQLite would keep the original pages of a savepoint in a temporary file.
    db.pragma('temp_store = MEMORY');
  } catch (error) {
    db.close();
    throw error;
  }
  db.defaultSafeIntegers();
  return db;
}

/**
 * Puts the database into WAL mode permanently. SQLite cannot change the mode while another connection is writing, for
 * example because a second program has just started with the same new file. An empty transaction then waits for that
 * connection, and the mode is set again.
 * @throws Error if WAL is not possible, for example on a file system without shared memory
 */
export function useWal(db: Database): void {
  let mode: unknown;
  const setMode = () => {
    mode = db.pragma('journal_mode = WAL', { simple: true });
  };
  try {
    setMode();
  } catch {
    db.exec('BEGIN IMMEDIATE; COMMIT');
    setMode();
  }
  if (mode !== 'wal' && mode !== 'memory') {
    throw new Error(`it stays in journal mode ${mode}, but needs WAL: put it on a local disk`);
  }
}

/**
 * The paths of an open database's files, with their inodes. In WAL mode, SQLite does not notice if a file was moved,
 * replaced or removed, and would continue to write rows that nobody could read later.
 */
export type Inodes = [path: string, inode: bigint | undefined][];

export function readInodes(db: Database, file: string): Inodes {
  // Reads something, because SQLite creates the `-wal` file only for the first read in WAL mode.
  db.pragma('schema_version');
  return [file, `${file}-wal`, `${file}-shm`].map((path) => [path, inodeOf(path)]);
}

/**
 * Checks that the database's files are still those that were opened. Call this before each write.
 * @throws SqliteError if a file was moved, replaced or removed
 */
export function checkInodes(inodes: Inodes): void {
  for (const [path, inode] of inodes) {
    if (inodeOf(path) !== inode) {
      throw new Sqlite.SqliteError(`${path} was moved, replaced or removed`, 'SQLITE_READONLY_DBMOVED');
    }
  }
}

function inodeOf(path: string): bigint | undefined {
  try {
    return statSync(path, { bigint: true, throwIfNoEntry: false })?.ino;
  } catch (error) {
    throw new Sqlite.SqliteError((error as Error).message, 'SQLITE_IOERR');
  }
}

/** Rewrites a page of the file unchanged, and waits until it is on the disk. @throws SqliteError if that fails */
export function proveWritable(db: Database): void {
  const rewrite = db.transaction(() => {
    db.pragma(`user_version = ${db.pragma('user_version', { simple: true })}`);
  });
  rewrite.immediate();
}

/**
 * Matches the codes of errors that a single row causes: it violates a constraint, or no ids are left. Other rows may
 * still be inserted.
 */
const OF_ROW = /^SQLITE_(CONSTRAINT|FULL)/;

/**
 * Inserts a trial row into each table, and rolls back. @throws SqliteError if no row can be inserted into one of the
 * tables
 */
export function tryCreates(db: Database, tables: readonly Table[]): void {
  db.exec('BEGIN IMMEDIATE');
  try {
    for (const table of tables) tryCreate(db, table);
  } finally {
    if (db.inTransaction) db.exec('ROLLBACK');
  }
}

function tryCreate(db: Database, table: Table): void {
  const { columns, values } = toTrialRow(table);
  try {
    db.exec(`INSERT INTO ${table.name} (${columns}) VALUES (${values})`);
  } catch (error) {
    if (!OF_ROW.test(String((error as { code?: unknown }).code))) throw error;
  }
}

/**
 * Whether the connection must be replaced after this error. A new connection may succeed: for example, a connection to
 * a file that was read-only stays read-only, even if the file is writable again. After the errors BUSY, FULL and
 * CONSTRAINT the connection is kept, because on Node 24 each connection and statement occupies memory until the thread
 * ends.
 */
export const isSpent = (code: string | undefined) => !/^SQLITE_(BUSY|FULL|CONSTRAINT)/.test(String(code));

/**
 * Matches SQLite's result codes (sqlite.org/rescode.html) for errors that the disk or other processes cause, and not
 * the statement.
 */
const OUTAGE_CODES = /^SQLITE_(BUSY|LOCKED|FULL|READONLY|IOERR|CANTOPEN|NOMEM|PROTOCOL|CORRUPT|NOTADB)/;

/** Wraps an error in StoreUnavailable if it is an outage of SQLite. Returns other errors unchanged. */
export function toStoreError(error: unknown): unknown {
  return OUTAGE_CODES.test(String((error as { code?: unknown }).code)) ? new StoreUnavailable(error) : error;
}
