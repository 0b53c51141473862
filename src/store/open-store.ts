/** A database -> the store on it. */
import { existsSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Database } from './database-url.ts';
import { openSqlite } from './sqlite/open-sqlite.ts';
import { type Store, StoreError, type StoreLimits } from './store.ts';

/** @throws StoreError that says why the database cannot be used */
export function openStore(database: Database, limits: StoreLimits): Store {
  const file = database.kind === 'memory' ? ':memory:' : database.file;
  try {
    return openSqlite(file, limits);
  } catch (error) {
    throw new StoreError(`The database ${file} cannot be used: ${(error as Error).message}.`, { cause: error });
  }
}

/** The absolute path of a database that does not exist yet; undefined where it does, or is in memory. */
export function missingFile(database: Database): string | undefined {
  return database.kind === 'sqlite' && !existsSync(database.file) ? resolve(database.file) : undefined;
}
