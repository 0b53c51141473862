/** `DATABASE_URL` -> the store behind it. */
import { openSqlite } from './sqlite.ts';
import { type Store, StoreError } from './store.ts';

/** `sqlite:pets.db`, `sqlite:/srv/pets.db` and `sqlite:///srv/pets.db`, but not `sqlite://pets.db`, which names a host. */
const SQLITE = /^sqlite:(?:\/\/(?=\/))?(?!\/\/)(.+)$/;

/** @throws StoreError that says which forms there are, or why the database cannot be used */
export function openStore(url: string): Store {
  const file = SQLITE.exec(url)?.[1];
  if (file === undefined) throw new StoreError('DATABASE_URL must be sqlite:<file> or sqlite::memory:.');
  try {
    return openSqlite(file);
  } catch (error) {
    throw new StoreError(`The database ${file} cannot be used: ${(error as Error).message}.`, { cause: error });
  }
}
