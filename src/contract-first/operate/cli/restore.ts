/** Replaces the SQLite database of a stopped server by a backup. */
import { createReadStream, existsSync, linkSync, mkdirSync, renameSync, type Stats, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import type { AnyDomain } from '../../store/description.ts';
import { checkIntegrity, exchange } from '../../store/sqlite/copies.ts';
import { inspectSqlite } from '../../store/sqlite/migrate.ts';
import { type Job, PROGRAM } from './command.ts';
import { openPart, readFileName, syncFolder, toDatabaseFile } from './copies.ts';

/** The files that SQLite writes beside a database. */
const LOGS = ['-wal', '-shm', '-journal'];

export const toUsage = () =>
  `${PROGRAM} restore <file>   puts a backup in the place of the database, while no server runs`;

export async function run(job: Job): Promise<void> {
  const copy = readFileName(job.args);
  const place = resolve(toDatabaseFile(job));
  // A pipe may never end.
  if (!statSync(copy).isFile()) throw new Error(`${copy} is not a file.`);
  mkdirSync(dirname(place), { recursive: true });
  const part = `${place}.${process.pid}.part`;
  await fill(part, copy, place);
  checkBackup(part, copy, job.service.domain);
  const kept = putInPlace(part, place, await toFreeName(place));
  await syncFolder(place);
  job.tell(`Restored ${place}.${kept ? ` What was there before is ${kept} now.` : ''}`);
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
async function fill(part: string, copy: string, place: string): Promise<void> {
  const file = await openPart(part);
  for await (const bytes of createReadStream(copy, { highWaterMark: 2 ** 20 })) await file.writeFile(bytes);
  const like = statSync(existsSync(place) ? place : dirname(place));
  if (like.isFile()) await file.chmod(like.mode);
  await file.chown(like.uid, like.gid).catch(() => Promise.reject(new Error(toOwnerAdvice(place, like))));
  await file.sync();
  await file.close();
}

/** The advice if the owner cannot be set, which only root may do. */
function toOwnerAdvice(place: string, { uid, gid }: Stats): string {
  return `${place} belongs to user ${uid}, group ${gid}, to whom you cannot give a file: restore as that user, or as root. Nothing was restored.`;
}

/** A name for the old database with the current second; waits if an earlier restore has taken it. */
async function toFreeName(place: string): Promise<string> {
  const name = `${place}.${new Date().toISOString().replace(/[-:]|\.\d+/g, '')}`;
  if (!['', ...LOGS].some((end) => existsSync(name + end))) return name;
  await wait(100);
  return toFreeName(place);
}

/** Returns `kept` if there was a database before, which has that name now. */
function putInPlace(part: string, place: string, kept: string): string | undefined {
  if (existsSync(place)) {
    try {
      exchange(part, place, kept);
    } catch (error) {
      throw new Error(`${place} ${toAdvice(error as { code?: string; message: string })} Nothing was restored.`);
    }
    return kept;
  }
  // Logs of a missing database are moved, or SQLite would apply them to the new one.
  for (const end of LOGS) if (existsSync(place + end)) renameSync(place + end, kept + end);
  // Fails if a server has created a new database meanwhile.
  linkSync(part, place);
  return undefined;
}

function toAdvice({ code, message }: { code?: string; message: string }): string {
  if (code === 'SQLITE_BUSY') return 'is open in another program: stop the server first.';
  return `cannot be opened (${message}): when no server runs, move it away together with its -wal and -shm, and restore again.`;
}
