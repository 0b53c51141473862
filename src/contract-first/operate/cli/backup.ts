/** Copies the SQLite database of a running server to a file, as it is at one moment. */
import { existsSync, renameSync } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { constants, setPriority } from 'node:os';
import { setTimeout as wait } from 'node:timers/promises';
import { checkIntegrity, copySnapshot } from '../../store/sqlite/copies.ts';
import { refuseCompanions } from './command.ts';
import { openPart, runOnCopy, syncFolder, toDatabaseFile } from './copies.ts';

const USAGE = `Usage:
  npm run backup -- <file>             copies the database of a running server
  node dist/src/operate/cli/backup.js <file>   the same without development tools`;

/** How often the copy is flushed to disk, in milliseconds: a little at a time, so that creates do not wait behind it. */
const SYNC_INTERVAL = 50;

await runOnCopy(USAGE, backup);

async function backup(copy: string): Promise<string> {
  const database = toDatabaseFile(process.env);
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
  return `Backed up ${database} to ${copy}.`;
}

/** Resolves when the whole copy is on disk. */
async function syncUntil(copying: Promise<void>, file: FileHandle): Promise<void> {
  const over = copying.then(() => true);
  while (!(await Promise.race([wait(SYNC_INTERVAL), over]))) await file.datasync();
  await file.sync();
}
