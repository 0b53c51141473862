/**
 * Opens the store on a database. For `--check`, inspects a database without creating, migrating or writing anything.
 */
import { accessSync, constants, existsSync, statfsSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import type { OfDomain } from './changes/transactions.ts';
import type { Awaitable } from './collection.ts';
import type { Database } from './database-url.ts';
import { nameOfServer, type PostgresSettings } from './postgres/settings.ts';
import { inspectSqlite } from './sqlite/migrate.ts';
import { openSqlite } from './sqlite/open-sqlite.ts';
import { type Inspection, type Store, StoreError, type StoreLimits, StoreUnavailable } from './store.ts';
import type { AnyDomain } from './tables/description.ts';
import type { RecordCheck } from './tables/migrate.ts';

/**
 * Opens the store. If `made` contains no codecs, only the types of the columns restrict the records. @throws StoreError
 * with the reason why the database cannot be used
 */
export function openStore(
  database: Database,
  domain: AnyDomain,
  limits: StoreLimits,
  made?: OfDomain,
): Awaitable<Store> {
  if (database.kind === 'postgres') return openOnPostgres(database, domain, limits, made);
  const file = database.kind === 'memory' ? ':memory:' : database.file;
  try {
    return openSqlite(file, domain, limits, made);
  } catch (error) {
    throw toStoreError(file, error);
  }
}

/**
 * Opens the store on PostgreSQL. The modules for PostgreSQL are imported here, so that a server on SQLite does not load
 * them.
 */
async function openOnPostgres(
  settings: PostgresSettings,
  ...parts: [domain: AnyDomain, limits: StoreLimits, made?: OfDomain]
): Promise<Store> {
  try {
    const { openPostgres } = await import('./postgres/open-postgres.ts');
    return await openPostgres(settings, ...parts);
  } catch (error) {
    throw toStoreError(nameOfServer(settings), error);
  }
}

function toStoreError(name: string, error: unknown): StoreError {
  const { message } = (error instanceof StoreUnavailable ? error.cause : error) as Error;
  return new StoreError(`The database ${name} cannot be used: ${message}.`, { cause: error });
}

/**
 * Returns the absolute path of the database file if the file does not exist yet. Returns undefined if the file exists,
 * or if the database is not a file.
 */
export function missingFile(database: Database): string | undefined {
  return database.kind === 'sqlite' && !existsSync(database.file) ? resolve(database.file) : undefined;
}

/**
 * Whether opening the store would create the database file, or the tables in PostgreSQL. Returns false if PostgreSQL
 * cannot be inspected: then opening the store gives the reason.
 */
export async function isNew(database: Database, domain: AnyDomain): Promise<boolean> {
  if (database.kind !== 'postgres') return missingFile(database) !== undefined;
  return inspectDatabase(database, domain).then(
    ({ version }) => version === 0,
    () => false,
  );
}

/** Inspects a database without changing it. @throws Error with the reason why the database cannot be used */
export async function inspectDatabase(
  database: Database,
  domain: AnyDomain,
  records?: RecordCheck,
): Promise<Inspection> {
  if (database.kind === 'postgres') {
    const { inspectPostgres } = await import('./postgres/migrate.ts');
    return inspectPostgres(database, domain, records);
  }
  return inspectSqlite(database.kind === 'memory' ? undefined : database.file, domain, records);
}

/** Returns the name of a database for messages. The name does not contain the password. */
export function nameOfDatabase(database: Database): string {
  if (database.kind === 'postgres') return `PostgreSQL, ${nameOfServer(database)}`;
  return database.kind === 'memory' ? 'SQLite, in memory' : `SQLite, ${resolve(database.file)}`;
}

/**
 * Returns the number of free bytes on the disk of a database file. @throws Error if the file or its folder cannot be
 * read and written
 */
export function inspectDisk(file: string): number {
  let folder = dirname(resolve(file));
  while (!existsSync(folder)) folder = dirname(folder);
  if (!statSync(folder).isDirectory()) throw new Error(`${folder} is not a folder`);
  if (existsSync(file) && !statSync(file).isFile()) throw new Error(`${file} is not a file`);
  for (const location of existsSync(file) ? [folder, file] : [folder])
    accessSync(location, constants.R_OK | constants.W_OK);
  const { bavail, bsize } = statfsSync(folder);
  return bavail * bsize;
}
