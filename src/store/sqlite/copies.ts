/** Whole copies of a database file, for operators: made beside those who write, looked into, and put in place. */
import { linkSync, renameSync } from 'node:fs';
import { extname } from 'node:path';
import { Worker } from 'node:worker_threads';
import type { Database } from 'better-sqlite3';
import { Sqlite } from './kept-sqlite.ts';

const COPIER = new URL(`./copier${extname(import.meta.url)}`, import.meta.url);

/** What a thread is asked for. */
export interface Copying {
  from: string;
  /** An empty file, or none. */
  to: string;
}

/** Copies in a thread of its own: one snapshot, however much is written meanwhile. @throws Error that says why it cannot */
export function copyAside(workerData: Copying): Promise<void> {
  return new Promise((resolve, reject) => {
    new Worker(COPIER, { workerData })
      .once('error', reject)
      .once('message', (failure: string) => (failure ? reject(new Error(failure)) : resolve()));
  });
}

export interface Contents {
  /** What SQLite finds wrong, with the place; then nothing else is read. */
  faults: string[];
  /** The version of the schema. */
  schema: number;
  /** How many rows each table has. */
  rows: Record<string, number>;
}

/** Reads all of a file that nobody writes. @throws SqliteError when it is no database */
export function lookInto(file: string): Contents {
  // Not opened as read-only: SQLite would then leave out the CHECK constraints.
  const db = new Sqlite(file, { fileMustExist: true });
  try {
    const schema = Number(db.pragma('user_version', { simple: true }));
    const found = db.prepare<[], string>('PRAGMA integrity_check(20)').pluck().all();
    const faults = found.filter((line) => line !== 'ok').map((line) => line.replace(/^\*+ .*\n/, ''));
    return { faults, schema, rows: faults.length > 0 ? {} : countRows(db) };
  } finally {
    db.close();
  }
}

function countRows(db: Database): Record<string, number> {
  const names = db.prepare<[], string>(
    "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite|_%' ESCAPE '|' ORDER BY name",
  );
  const rows: Record<string, number> = {};
  for (const name of names.pluck().all())
    rows[name] = db.prepare<[], number>(`SELECT count(*) FROM "${name}"`).pluck().get() as number;
  return rows;
}

/**
 * Puts a file in the place of a database, which is kept under another name. At every moment the place has one of the two, whole.
 * @throws SqliteError when somebody else has the database open
 */
export function exchange(file: string, place: string, kept: string): void {
  const db = takeAlone(place);
  try {
    linkSync(place, kept);
    renameSync(file, place);
  } finally {
    // Who has opened it since cannot write it: SQLite notices that the file of a rollback journal was moved.
    db.close();
  }
}

/** The database as one file, whose log is moved into it, and which nobody else can read until this connection is closed. */
function takeAlone(file: string): Database {
  const db = new Sqlite(file, { fileMustExist: true, timeout: 0 });
  try {
    // SQLite leaves WAL mode only where no other connection is left.
    db.pragma('journal_mode = DELETE');
    db.pragma('locking_mode = EXCLUSIVE');
    db.exec('BEGIN EXCLUSIVE; COMMIT');
    return db;
  } catch (error) {
    db.close();
    throw error;
  }
}
