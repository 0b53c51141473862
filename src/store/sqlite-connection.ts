/** A connection to an SQLite file, set up for durable writes beside reads; what SQLite cannot do now, as a 503. */
import Sqlite, { type Database } from 'better-sqlite3';
import { unavailable } from '../errors.ts';

/** How long a statement waits for another process's lock before it gives up, in milliseconds. */
const BUSY_TIMEOUT = 2000;

/** @throws SqliteError when the file cannot be opened, or is no database */
export function openConnection(file: string): Database {
  const db = new Sqlite(file, { timeout: BUSY_TIMEOUT });
  db.pragma('journal_mode = WAL');
  db.pragma('synchronous = FULL');
  db.defaultSafeIntegers();
  return db;
}

/** SQLite's result codes (sqlite.org/rescode.html) that speak of the disk and of other processes, not of the statement. */
const OUTAGES = /^SQLITE_(BUSY|LOCKED|FULL|READONLY|IOERR|CANTOPEN|NOMEM|PROTOCOL|CORRUPT|NOTADB)/;

/** The error as a 503 where SQLite cannot be reached or written; any other as it is. */
export function toFailure(error: unknown): unknown {
  return OUTAGES.test((error as { code?: string }).code ?? '') ? unavailable(error) : error;
}
