/** Shared by backup and restore: the database's file, and files that are complete or absent. */
import { rmSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { dirname } from 'node:path';
import { toPrintableLines } from '../../json/literals.ts';
import { loadConfig } from '../config.ts';
import { readFileName } from './command.ts';

/** Prints the result or the failure on standard error; the exit code is 1 after a failure. */
export async function runOnCopy(usage: string, run: (copy: string) => Promise<string>): Promise<void> {
  try {
    tell(await run(readFileName(process.argv.slice(2), usage)));
  } catch (error) {
    tell((error as Error).message);
    process.exitCode = 1;
  }
}

/** A file may come from anybody, so control characters are escaped. */
const tell = (text: string) => console.error(toPrintableLines(text));

/** @throws Error if the configured database is no file */
export function toDatabaseFile(env: NodeJS.ProcessEnv): string {
  const { database } = loadConfig(env);
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
