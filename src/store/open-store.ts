/** A database -> the store on it. */
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Database, SqliteDatabase } from './database-url.ts';
import { nameOfPlace, type PostgresPlace } from './postgres/place.ts';
import { openSqlite } from './sqlite/open-sqlite.ts';
import { type Awaitable, type Store, StoreError, type StoreLimits, StoreUnavailable } from './store.ts';

/** @throws StoreError that says why the database cannot be used */
export function openStore(database: SqliteDatabase, limits: StoreLimits): Store;
export function openStore(database: Database, limits: StoreLimits): Awaitable<Store>;
export function openStore(database: Database, limits: StoreLimits): Awaitable<Store> {
  if (database.kind === 'postgres') return openOnPostgres(database, limits);
  const file = database.kind === 'memory' ? ':memory:' : database.file;
  try {
    return openSqlite(file, limits);
  } catch (error) {
    throw toStoreError(file, error);
  }
}

/** Its code is loaded only where it is used. */
async function openOnPostgres(place: PostgresPlace, limits: StoreLimits): Promise<Store> {
  try {
    const { openPostgres } = await import('./postgres/open-postgres.ts');
    return await openPostgres(place, limits);
  } catch (error) {
    throw toStoreError(nameOfPlace(place), error);
  }
}

function toStoreError(name: string, error: unknown): StoreError {
  const { message } = (error instanceof StoreUnavailable ? error.cause : error) as Error;
  return new StoreError(`The database ${name} cannot be used: ${message}.`, { cause: error });
}

/** The absolute path of a database that does not exist yet; undefined where it does, or is in memory. */
export function missingFile(database: Database): string | undefined {
  return database.kind === 'sqlite' && !existsSync(database.file) ? resolve(database.file) : undefined;
}
