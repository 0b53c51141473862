/** A database -> the store on it. */
import type { Database } from './database-url.ts';
import { openSqlite } from './sqlite/open-sqlite.ts';
import { type Store, StoreError } from './store.ts';

/** @throws StoreError that says why the database cannot be used */
export function openStore(database: Database): Store {
  const file = database.kind === 'memory' ? ':memory:' : database.file;
  try {
    return openSqlite(file);
  } catch (error) {
    throw new StoreError(`The database ${file} cannot be used: ${(error as Error).message}.`, { cause: error });
  }
}
