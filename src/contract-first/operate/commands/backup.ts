/** Copies the SQLite database of a running server to a file, as it is at one moment. */
import { existsSync, renameSync, rmSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { constants, setPriority } from 'node:os';
import { dirname } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { checkIntegrity, copySnapshot } from '../../store/sqlite/copies.ts';
import { loadConfig } from '../config.ts';

/** How often the copy is flushed to disk, in milliseconds: a little at a time, so that creates do not wait behind it. */
const SYNC_INTERVAL = 50;

/** Returns what to print. @throws Error that says why there is no backup */
export async function backUp(copy: string, name: string, env: NodeJS.ProcessEnv): Promise<string> {
  const database = toDatabaseFile(name, env);
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

/** @throws Error if the configured database is no file */
export function toDatabaseFile(name: string, env: NodeJS.ProcessEnv): string {
  const { database } = loadConfig(env, { name });
  if (database.kind === 'sqlite') return database.file;
  if (database.kind === 'memory') throw new Error('DATABASE_URL is in memory, which no other program can see.');
  throw new Error(
    'DATABASE_URL names PostgreSQL: use pg_dump --format=custom and pg_restore, or the snapshots of its provider; to move to another database, move.',
  );
}

/** Creates a file for its owner only. Unless it is renamed, it is removed when this process ends, with SQLite's journal of it. */
export async function openPart(part: string): Promise<FileHandle> {
  const file = await open(part, 'wx', 0o600);
  const remove = () => {
    for (const end of ['', '-journal']) rmSync(part + end, { force: true });
  };
  process.once('exit', remove);
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT'] as const) {
    // Not process.exit, which waits for the thread that copies.
    process.once(signal, () => {
      remove();
      process.kill(process.pid, signal);
    });
  }
  return file;
}

/** Flushes the folder of a file to disk, after the file was renamed. */
export async function syncFolder(file: string): Promise<void> {
  const folder = await open(dirname(file));
  await folder.sync();
  await folder.close();
}
