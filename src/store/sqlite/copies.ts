/** Copies of a database file, for operators: made while others write, verified, and restored. */
import { linkSync, renameSync } from 'node:fs';
import { extname } from 'node:path';
import { Worker } from 'node:worker_threads';
import type { Database } from 'better-sqlite3';
import { Sqlite } from './kept-sqlite.ts';

const COPIER = new URL(`./copier${extname(import.meta.url)}`, import.meta.url);

/** The task of the copying thread. */
export interface Copying {
  from: string;
  /** Must be an empty file, or not exist. */
  to: string;
}

/** Copies one snapshot in a thread, while others write. @throws Error that says why it cannot */
export function copyAside(workerData: Copying): Promise<void> {
  return new Promise((resolve, reject) => {
    new Worker(COPIER, { workerData })
      .once('error', reject)
      .once('message', (failure: string) => (failure ? reject(new Error(failure)) : resolve()));
  });
}

export interface Contents {
  /** The faults that SQLite's integrity check finds; if there are any, rows are not counted. */
  faults: string[];
  /** The version of the schema. */
  schema: number;
  /** The number of rows of each table. */
  rows: Record<string, number>;
}

/** Checks and reads a whole file that nobody writes. @throws SqliteError when it is no database */
export function lookInto(file: string): Contents {
  // Not opened read-only: SQLite would skip CHECK constraints.
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
 * Replaces a database file, and keeps the old one under another name. At every moment, one of the two is at `place`, complete.
 * @throws SqliteError when somebody else has the database open
 */
export function exchange(file: string, place: string, kept: string): void {
  const db = takeAlone(place);
  try {
    linkSync(place, kept);
    renameSync(file, place);
  } finally {
    // A process that has opened the old file meanwhile cannot write it: without WAL, SQLite notices that the file was moved.
    db.close();
  }
}

/** Moves the log into the database file, and locks out everybody else until this connection is closed. */
function takeAlone(file: string): Database {
  const db = new Sqlite(file, { fileMustExist: true, timeout: 0 });
  try {
    // SQLite leaves WAL mode only if there is no other connection.
    db.pragma('journal_mode = DELETE');
    db.pragma('locking_mode = EXCLUSIVE');
    db.exec('BEGIN EXCLUSIVE; COMMIT');
    return db;
  } catch (error) {
    db.close();
    throw error;
  }
}
