/** Shared by backup and restore: the database's file, and files that are complete or absent. */
import { rmSync } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { dirname } from 'node:path';
import { loadConfig } from '../config.ts';
import { type Job, UsageError } from './command.ts';

/** The only argument. @throws UsageError if there is another, or an option */
export function readFileName([file, ...rest]: string[]): string {
  if (!file || rest.length > 0 || file.startsWith('-')) throw new UsageError();
  return file;
}

/** @throws Error if the configured database is no file */
export function toDatabaseFile({ service, env }: Job): string {
  const { database } = loadConfig(env, { name: service.name });
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
