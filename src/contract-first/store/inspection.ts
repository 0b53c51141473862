/** Inspects a database for `--check`, without creating, migrating or writing anything. */
import { accessSync, constants, existsSync, statfsSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import type { Database } from './database-url.ts';
import type { AnyDomain } from './description.ts';
import { nameOfServer } from './postgres/settings.ts';
import { inspectSqlite } from './sqlite/migrate.ts';
import type { Inspection } from './store.ts';

/** @throws Error that says why the database cannot be used */
export async function inspectDatabase(database: Database, domain: AnyDomain): Promise<Inspection> {
  if (database.kind === 'postgres') {
    const { inspectPostgres } = await import('./postgres/migrate.ts');
    return inspectPostgres(database, domain);
  }
  return inspectSqlite(database.kind === 'memory' ? undefined : database.file, domain);
}

/** The name of a database for people, without its password. */
export function nameOfDatabase(database: Database): string {
  if (database.kind === 'postgres') return `PostgreSQL, ${nameOfServer(database)}`;
  return database.kind === 'memory' ? 'SQLite, in memory' : `SQLite, ${resolve(database.file)}`;
}

/** The free bytes for a database file. @throws Error if the file, or its folder, cannot be written */
export function inspectDisk(file: string): number {
  let folder = dirname(resolve(file));
  while (!existsSync(folder)) folder = dirname(folder);
  if (!statSync(folder).isDirectory()) throw new Error(`${folder} is not a folder`);
  if (existsSync(file) && !statSync(file).isFile()) throw new Error(`${file} is not a file`);
  for (const place of existsSync(file) ? [folder, file] : [folder]) accessSync(place, constants.R_OK | constants.W_OK);
  const { bavail, bsize } = statfsSync(folder);
  return bavail * bsize;
}
