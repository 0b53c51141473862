/** Replaces the SQLite database of a stopped server by a backup. */
import { createReadStream, existsSync, linkSync, mkdirSync, renameSync, type Stats, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import type { Service } from '../../service.ts';
import type { AnyDomain } from '../../store/description.ts';
import { checkIntegrity, exchange } from '../../store/sqlite/copies.ts';
import { inspectSqlite } from '../../store/sqlite/migrate.ts';
import { openPart, syncFolder, toDatabaseFile } from './backup.ts';

/** The files that SQLite writes beside a database. */
const LOGS = ['-wal', '-shm', '-journal'];

/** Returns what to print. @throws Error that says why nothing was restored */
export async function restore(copy: string, { name, domain }: Service, env: NodeJS.ProcessEnv): Promise<string> {
  const file = resolve(toDatabaseFile(name, env));
  // A pipe may never end.
  if (!statSync(copy).isFile()) throw new Error(`${copy} is not a file.`);
  mkdirSync(dirname(file), { recursive: true });
  const part = `${file}.${process.pid}.part`;
  await fill(part, copy, file);
  checkBackup(part, copy, domain);
  const before = replaceBy(part, file, await toFreeName(file));
  await syncFolder(file);
  return `Restored ${file}.${before ? ` What was there before is ${before} now.` : ''}`;
}

/** @throws Error if a start would not take this database; another program's, or an empty one, is no backup either */
function checkBackup(part: string, copy: string, domain: AnyDomain): void {
  try {
    checkIntegrity(part);
    if (inspectSqlite(part, domain).version === 0) throw new Error('it has no tables of this program');
  } catch (error) {
    throw new Error(`${copy} is no whole backup of this service: ${(error as Error).message}. Nothing was restored.`);
  }
}

/** Copies the backup to disk, with the owner and mode of the file that it replaces: the service often runs as another user. */
async function fill(part: string, copy: string, file: string): Promise<void> {
  const handle = await openPart(part);
  for await (const bytes of createReadStream(copy, { highWaterMark: 2 ** 20 })) await handle.writeFile(bytes);
  const like = statSync(existsSync(file) ? file : dirname(file));
  if (like.isFile()) await handle.chmod(like.mode);
  await handle.chown(like.uid, like.gid).catch(() => Promise.reject(new Error(toOwnerAdvice(file, like))));
  await handle.sync();
  await handle.close();
}

/** The advice if the owner cannot be set, which only root may do. */
function toOwnerAdvice(file: string, { uid, gid }: Stats): string {
  return `${file} belongs to user ${uid}, group ${gid}, to whom you cannot give a file: restore as that user, or as root. Nothing was restored.`;
}

/** A name for the old database with the current second; waits if an earlier restore has taken it. */
async function toFreeName(file: string): Promise<string> {
  const name = `${file}.${new Date().toISOString().replace(/[-:]|\.\d+/g, '')}`;
  if (!['', ...LOGS].some((end) => existsSync(name + end))) return name;
  await wait(100);
  return toFreeName(file);
}

/** Returns `before` if there was a database, which has that name now. */
function replaceBy(part: string, file: string, before: string): string | undefined {
  if (existsSync(file)) {
    try {
      exchange(part, file, before);
    } catch (error) {
      throw new Error(`${file} ${toAdvice(error as { code?: string; message: string })} Nothing was restored.`);
    }
    return before;
  }
  // Logs of a missing database are moved, or SQLite would apply them to the new one.
  for (const end of LOGS) if (existsSync(file + end)) renameSync(file + end, before + end);
  // Fails if a server has created a new database meanwhile.
  linkSync(part, file);
  return undefined;
}

function toAdvice({ code, message }: { code?: string; message: string }): string {
  if (code === 'SQLITE_BUSY') return 'is open in another program: stop the server first.';
  return `cannot be opened (${message}): when no server runs, move it away together with its -wal and -shm, and restore again.`;
}
