/** Copies the SQLite database of a running server to a file, as it is at one moment. */
import { existsSync, renameSync } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { constants, setPriority } from 'node:os';
import { setTimeout as wait } from 'node:timers/promises';
import { checkIntegrity, copySnapshot } from '../../store/sqlite/copies.ts';
import { type Job, PROGRAM } from './command.ts';
import { openPart, readFileName, syncFolder, toDatabaseFile } from './copies.ts';

/** How often the copy is flushed to disk, in milliseconds: a little at a time, so that creates do not wait behind it. */
const SYNC_INTERVAL = 50;

export const toUsage = () => `${PROGRAM} backup <file>   copies the SQLite database of a running server to a new file`;

export async function run(job: Job): Promise<void> {
  const copy = readFileName(job.args);
  const database = toDatabaseFile(job);
  if (!existsSync(database))
    throw new Error(`There is no database ${database}. Go to the folder of the service, or set DATABASE_URL.`);
  refuseCompanions(copy);
  if (existsSync(copy)) throw new Error(`${copy} is there already: a backup replaces none.`);
  // Threads started from now on have the low priority, too.
  setPriority(constants.priority.PRIORITY_LOW);
  const part = `${copy}.${process.pid}.part`;
  const file = await openPart(part);
  try {
    await syncUntil(copySnapshot(database, part), file);
    checkIntegrity(part);
  } catch (error) {
    throw new Error(`${database} cannot be copied: ${(error as Error).message}.`);
  } finally {
    await file.close();
  }
  renameSync(part, copy);
  await syncFolder(copy);
  job.tell(`Backed up ${database} to ${copy}.`);
}

/** @throws Error if SQLite would take the file for one of its own */
function refuseCompanions(file: string): void {
  const [, database, end] = /^(.+)(-wal|-shm|-journal)$/s.exec(file) ?? [];
  if (database && existsSync(database))
    throw new Error(`${file} is where SQLite keeps changes of ${database}: take a name that does not end with ${end}.`);
}

/** Resolves when the whole copy is on disk. */
async function syncUntil(copying: Promise<void>, file: FileHandle): Promise<void> {
  const over = copying.then(() => true);
  while (!(await Promise.race([wait(SYNC_INTERVAL), over]))) await file.datasync();
  await file.sync();
}
