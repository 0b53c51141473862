/** Copies of a database file, for operators: made while others write, checked, and restored. */
import { once } from 'node:events';
import { linkSync, renameSync } from 'node:fs';
import { extname } from 'node:path';
import { Worker } from 'node:worker_threads';
import type { Database } from 'better-sqlite3';
import { Sqlite } from './sqlite.ts';

const COPIER = new URL(`./copier${extname(import.meta.url)}`, import.meta.url);

/** Copies one snapshot to an empty file in a thread, while others write. @throws Error that says why it cannot */
export async function copySnapshot(from: string, to: string): Promise<void> {
  await once(new Worker(COPIER, { workerData: { from, to } }), 'exit');
}

/** Checks a whole file that nobody writes. @throws Error that says what is wrong with it */
export function checkIntegrity(file: string): void {
  // Not opened read-only: SQLite would skip CHECK constraints.
  const db = new Sqlite(file, { fileMustExist: true });
  try {
    const found = db.prepare<[], string>('PRAGMA integrity_check(20)').pluck().all();
    if (found[0] !== 'ok') throw new Error(found.map((line) => line.replace(/^\*+ .*\n/, '')).join('; '));
  } finally {
    db.close();
  }
}

/**
 * Replaces a database file, and leaves the old one under another name. At every moment, one of the two is at `location`, complete.
 * @throws SqliteError when somebody else has the database open
 */
export function exchange(file: string, location: string, old: string): void {
  const db = takeAlone(location);
  try {
    linkSync(location, old);
    renameSync(file, location);
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
