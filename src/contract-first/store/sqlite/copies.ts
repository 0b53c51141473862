/** Makes, checks and exchanges copies of a database file, for operators' commands. */
import { once } from 'node:events';
import { linkSync, renameSync } from 'node:fs';
import { extname } from 'node:path';
import { Worker } from 'node:worker_threads';
import type { Database } from 'better-sqlite3';
import { Sqlite } from './sqlite.ts';

const COPIER = new URL(`./copier${extname(import.meta.url)}`, import.meta.url);

/**
 * Copies one snapshot of a database to an empty file, in a thread. Other programs may write in the meantime. @throws
 * Error with the reason if the copy fails
 */
export async function copySnapshot(from: string, to: string): Promise<void> {
  await once(new Worker(COPIER, { workerData: { from, to } }), 'exit');
}

/**
 * Checks a whole database file. The file must not be written in the meantime. @throws Error that lists the faults of
 * the file
 */
export function checkIntegrity(file: string): void {
  // The connection is not opened as read-only, because SQLite would then not check the CHECK constraints.
  const db = new Sqlite(file, { fileMustExist: true });
  try {
    const found = db.prepare<[], string>('PRAGMA integrity_check(20)').pluck().all();
    if (found[0] !== 'ok') throw new Error(found.map((line) => line.replace(/^\*+ .*\n/, '')).join('; '));
  } finally {
    db.close();
  }
}

/**
 * Replaces the database file at `location` by another file, and keeps the old one under the name `old`. At any moment,
 * one of the two complete files is at `location`.
 * @throws SqliteError if another program has opened the database
 */
export function exchange(file: string, location: string, old: string): void {
  const db = takeAlone(location);
  try {
    linkSync(location, old);
    renameSync(file, location);
  } finally {
    // If another process has opened the old file in the meantime, this process cannot write to the file: without WAL,
    // SQLite notices that the file was moved.
    db.close();
  }
}

/** Writes the content of the `-wal` file into the database file, and locks the file until this connection is closed. */
function takeAlone(file: string): Database {
  const db = new Sqlite(file, { fileMustExist: true, timeout: 0 });
  try {
    // SQLite only leaves WAL mode if no other connection is open.
    db.pragma('journal_mode = DELETE');
    db.pragma('locking_mode = EXCLUSIVE');
    db.exec('BEGIN EXCLUSIVE; COMMIT');
    return db;
  } catch (error) {
    db.close();
    throw error;
  }
}
