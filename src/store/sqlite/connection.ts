/** A connection to an SQLite database, set up for durable writes; its outages, as StoreUnavailable. */
import { statSync } from 'node:fs';
import Sqlite, { type Database } from 'better-sqlite3';
import { StoreUnavailable } from '../store.ts';

/** How long a statement waits for another process's lock before it gives up, in milliseconds. */
const BUSY_TIMEOUT = 2000;

/** @throws SqliteError when the file cannot be opened */
export function openConnection(file: string, { fileMustExist = false } = {}): Database {
  const db = new Sqlite(file, { timeout: BUSY_TIMEOUT, fileMustExist });
  db.pragma('synchronous = FULL');
  db.defaultSafeIntegers();
  return db;
}

/**
 * Puts the database into WAL mode, in which it stays. Here SQLite does not wait for another connection that writes, such as
 * that of a program which starts on the same new file at the same time; at the begin of a transaction it does.
 * @throws Error when the mode stays another, as on a file system without shared memory
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
 * A check, to be made before each write, that the file is where it was opened. SQLite does not look in WAL mode, and goes on
 * writing rows into a file that was moved, replaced or removed, where nobody finds them again.
 */
export function buildPlaceCheck(file: string): () => void {
  const inode = () => statSync(file, { bigint: true, throwIfNoEntry: false })?.ino;
  const opened = inode();
  return () => {
    if (inode() !== opened) throw new Sqlite.SqliteError(`${file} was moved or replaced`, 'SQLITE_READONLY_DBMOVED');
  };
}

/** SQLite's result codes (sqlite.org/rescode.html) that speak of the disk and of other processes, not of the statement. */
const OUTAGES = /^SQLITE_(BUSY|LOCKED|FULL|READONLY|IOERR|CANTOPEN|NOMEM|PROTOCOL|CORRUPT|NOTADB)/;

/** The error as StoreUnavailable where SQLite cannot be reached or written; any other as it is. */
export function toStoreError(error: unknown): unknown {
  return OUTAGES.test(String((error as { code?: unknown }).code)) ? new StoreUnavailable(error) : error;
}
