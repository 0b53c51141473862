/**
 * The commands `backup` and `restore` for SQLite. `backup` copies a snapshot of the database to a new file while the
 * server runs. `restore` replaces the database of a stopped server by such a file.
 */
import { createReadStream, existsSync, linkSync, mkdirSync, renameSync, rmSync, type Stats, statSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { constants, setPriority } from 'node:os';
import { dirname, resolve } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import type { Service } from '../../start/service.ts';
import { checkIntegrity, copySnapshot, exchange } from '../../store/sqlite/copies.ts';
import { inspectSqlite } from '../../store/sqlite/migrate.ts';
import type { AnyDomain } from '../../store/tables/description.ts';
import { loadConfig } from '../config.ts';

/**
 * The interval between flushes of the copy to disk, in milliseconds. The interval is short, so that each flush is small
 * and the server's writes do not wait long for the disk.
 */
const SYNC_INTERVAL = 50;

/** Makes a backup, and returns the text to print. @throws Error with the reason if the backup was not made */
export async function backUp(copy: string, name: string, env: NodeJS.ProcessEnv): Promise<string> {
  const database = toDatabaseFile(name, env);
  if (!existsSync(database))
    throw new Error(`There is no database ${database}. Go to the folder of the service, or set DATABASE_URL.`);
  checkNoCompanions(copy);
  if (existsSync(copy)) throw new Error(`${copy} is there already: a backup replaces none.`);
  // The thread that copies starts later, and inherits this low priority.
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

/** Checks the file name of the copy. @throws Error if SQLite would use a file of this name as the log of a database */
function checkNoCompanions(file: string): void {
  const [, database, end] = /^(.+)(-wal|-shm|-journal)$/s.exec(file) ?? [];
  if (database && existsSync(database))
    throw new Error(`${file} is where SQLite keeps changes of ${database}: take a name that does not end with ${end}.`);
}

/** Flushes the copy to disk repeatedly while it is written. Resolves when the whole copy is on disk. */
async function syncUntil(copying: Promise<void>, file: FileHandle): Promise<void> {
  const over = copying.then(() => true);
  while (!(await Promise.race([wait(SYNC_INTERVAL), over]))) await file.datasync();
  await file.sync();
}

/** The endings of the names of SQLite's log files, which are next to the database. */
const LOGS = ['-wal', '-shm', '-journal'];

/** Restores a backup, and returns the text to print. @throws Error with the reason if nothing was restored */
export async function restore(copy: string, { name, domain }: Service, env: NodeJS.ProcessEnv): Promise<string> {
  const file = resolve(toDatabaseFile(name, env));
  // Rejects pipes and devices, because reading them might never end.
  if (!statSync(copy, { throwIfNoEntry: false })?.isFile())
    throw new Error(`${copy} is ${existsSync(copy) ? 'not a file' : 'missing'}. Nothing was restored.`);
  mkdirSync(dirname(file), { recursive: true });
  const part = `${file}.${process.pid}.part`;
  await fill(part, copy, file);
  checkBackup(part, copy, domain);
  const before = replaceBy(part, file, await toFreeName(file));
  await syncFolder(file);
  return `Restored ${file}.${before ? ` The old one is now ${before}.` : ''}`;
}

/**
 * Checks a backup. @throws Error if it is damaged or empty, if it belongs to another program, or if a start would fail
 * with it
 */
function checkBackup(part: string, copy: string, domain: AnyDomain): void {
  try {
    checkIntegrity(part);
    if (inspectSqlite(part, domain).version === 0) throw new Error('it has no tables of this program');
  } catch (error) {
    throw new Error(`${copy} is no whole backup of this service: ${(error as Error).message}. Nothing was restored.`);
  }
}

/**
 * Copies the backup to the new file `part`. The file gets the owner and the mode of the database that it replaces,
 * because the service often runs as another user than the caller. If the database is missing, the file gets the owner
 * of the folder.
 */
async function fill(part: string, copy: string, file: string): Promise<void> {
  const handle = await openPart(part);
  for await (const bytes of createReadStream(copy, { highWaterMark: 2 ** 20 })) await handle.writeFile(bytes);
  const like = statSync(existsSync(file) ? file : dirname(file));
  if (like.isFile()) await handle.chmod(like.mode);
  await handle.chown(like.uid, like.gid).catch(() => Promise.reject(new Error(toOwnerAdvice(file, like))));
  await handle.sync();
  await handle.close();
}

/** Returns the message for the case that the owner of the file cannot be changed, which only root may do. */
function toOwnerAdvice(file: string, { uid, gid }: Stats): string {
  return `${file} belongs to user ${uid}, group ${gid}, to whom you cannot give a file: restore as that user, or as root. Nothing was restored.`;
}

/**
 * Returns a free name for the old database: its name and the current time in seconds. If an earlier restore has taken
 * this name, waits for the next second.
 */
async function toFreeName(file: string): Promise<string> {
  const name = `${file}.${new Date().toISOString().replace(/[-:]|\.\d+/g, '')}`;
  if (!['', ...LOGS].some((end) => existsSync(name + end))) return name;
  await wait(100);
  return toFreeName(file);
}

/**
 * Gives the restored file the name of the database, and renames the old database. Returns the new name of the old
 * database, or undefined if the file did not exist.
 */
function replaceBy(part: string, file: string, before: string): string | undefined {
  if (existsSync(file)) {
    try {
      exchange(part, file, before);
    } catch (error) {
      throw new Error(`${file} ${toAdvice(error as { code?: string; message: string })} Nothing was restored.`);
    }
    return before;
  }
  // SQLite's log files may exist without a database. SQLite would apply their changes to the restored database, so
  // these files are renamed first.
  for (const end of LOGS) if (existsSync(file + end)) renameSync(file + end, before + end);
  // `linkSync` fails if a server has created a database in the meantime. `renameSync` would replace that database.
  linkSync(part, file);
  return undefined;
}

function toAdvice({ code, message }: { code?: string; message: string }): string {
  if (code === 'SQLITE_BUSY') return 'is open in another program: stop the server first.';
  return `cannot be opened (${message}): when no server runs, move it away together with its -wal and -shm, and restore again.`;
}

/** Returns the configured SQLite file. @throws Error for a database in memory or on PostgreSQL */
function toDatabaseFile(name: string, env: NodeJS.ProcessEnv): string {
  const { database } = loadConfig(env, { name });
  if (database.kind === 'sqlite') return database.file;
  if (database.kind === 'memory') throw new Error('DATABASE_URL is in memory, which no other program can see.');
  throw new Error(
    'DATABASE_URL names PostgreSQL: use pg_dump --format=custom and pg_restore, or the snapshots of its provider; to move to another database, move.',
  );
}

/**
 * Creates a file that only its owner may read. If the file still has this name when the process ends, removes the file
 * and its journal.
 */
async function openPart(part: string): Promise<FileHandle> {
  const file = await open(part, 'wx', 0o600);
  const remove = () => {
    for (const end of ['', '-journal']) rmSync(part + end, { force: true });
  };
  process.once('exit', remove);
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGQUIT'] as const) {
    // Sends the signal to this process again, now without this handler. `process.exit` would wait for the thread that
    // copies.
    process.once(signal, () => {
      remove();
      process.kill(process.pid, signal);
    });
  }
  return file;
}

/** Flushes the folder of a renamed file to disk, so that the new name is durable. */
async function syncFolder(file: string): Promise<void> {
  const folder = await open(dirname(file));
  await folder.sync();
  await folder.close();
}
