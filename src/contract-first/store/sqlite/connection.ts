/** Opens connections to an SQLite database, set up for durable writes, and maps SQLite's outages to StoreUnavailable. */
import { existsSync, lstatSync, readlinkSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import type { Database } from 'better-sqlite3';
import { StoreUnavailable } from '../store.ts';
import { type Table, toTrialRow } from '../tables/table.ts';
import { Sqlite } from './sqlite.ts';

/** How long a statement waits for another process's lock, in milliseconds. */
export const BUSY_TIMEOUT = 2000;

/** The page cache of each connection, in KiB. better-sqlite3's default is 16 MB; the operating system caches the file anyway. */
const CACHE_SIZE = 2000;

/** @throws Error if the file is a link into a folder that does not exist: its disk may not be mounted */
export function checkMap(file: string): void {
  const link = lstatSync(file, { throwIfNoEntry: false });
  if (!link?.isSymbolicLink() || existsSync(file)) return;
  const target = resolve(dirname(file), readlinkSync(file));
  if (!existsSync(dirname(target))) throw new Error(`it is a link to ${target}, whose folder is not there`);
}

/** @throws SqliteError when the file cannot be opened */
export function openConnection(file: string, { fileMustExist = false, busyTimeout = BUSY_TIMEOUT } = {}): Database {
  const db = new Sqlite(file, { timeout: busyTimeout, fileMustExist });
  try {
    // The first access to the file.
    db.pragma('synchronous = FULL');
    db.pragma(`cache_size = -${CACHE_SIZE}`);
    // Otherwise savepoints would write the pages that they may have to restore to a file.
    db.pragma('temp_store = MEMORY');
  } catch (error) {
    db.close();
    throw error;
  }
  db.defaultSafeIntegers();
  return db;
}

/**
 * Puts the database into WAL mode for good. SQLite fails at once if another connection is writing, such as a second program
 * that starts on the same new file. Then an empty transaction waits for it, and the mode can be set.
 * @throws Error when WAL is not possible, as on a file system without shared memory
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
    throw new Error(`it stays in journal mode ${mode}, and needs WAL: put it on a local disk`);
  }
}

/**
 * The files of an open database, with their inodes. In WAL mode, SQLite does not notice that a file was moved, replaced or removed: it
 * would go on writing rows that are lost.
 */
export type Inodes = [path: string, inode: bigint | undefined][];

export function readInodes(db: Database, file: string): Inodes {
  // The first read after the change to WAL mode creates the `-wal` file.
  db.pragma('schema_version');
  return [file, `${file}-wal`, `${file}-shm`].map((path) => [path, inodeOf(path)]);
}

/** To be called before each write. @throws SqliteError when a file was moved, replaced or removed */
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

/** Rewrites a page unchanged, and waits for the disk. @throws SqliteError when that fails */
export function proveWritable(db: Database): void {
  const rewrite = db.transaction(() => {
    db.pragma(`user_version = ${db.pragma('user_version', { simple: true })}`);
  });
  rewrite.immediate();
}

/** Errors of a row, not of its table: a violated constraint, or no free id. */
const OF_ROW = /^SQLITE_(CONSTRAINT|FULL)/;

/** Inserts a trial row into each table, and rolls back. @throws SqliteError when a create would fail whatever the row */
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
 * Whether a new connection may succeed after this error: a connection that was opened read-only stays read-only. In other cases it is
 * reused, because on Node 24 each connection and statement stays for ever.
 */
export const isSpent = (code: string | undefined) => !/^SQLITE_(BUSY|FULL|CONSTRAINT)/.test(String(code));

/** SQLite's result codes (sqlite.org/rescode.html) for trouble with the disk or other processes, not with the statement. */
const OUTAGE_CODES = /^SQLITE_(BUSY|LOCKED|FULL|READONLY|IOERR|CANTOPEN|NOMEM|PROTOCOL|CORRUPT|NOTADB)/;

/** Returns StoreUnavailable for SQLite's outages; any other error as it is. */
export function toStoreError(error: unknown): unknown {
  return OUTAGE_CODES.test(String((error as { code?: unknown }).code)) ? new StoreUnavailable(error) : error;
}
