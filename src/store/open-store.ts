/** `DATABASE_URL` -> the store behind it. */
import { openSqlite } from './sqlite.ts';
import type { Store } from './store.ts';

/** @throws Error that says which forms there are, or why the database cannot be used */
export function openStore(url: string): Store {
  const [, file] = /^sqlite:(?:\/\/(?=\/))?(.+)$/.exec(url) ?? [];
  if (file === undefined) throw new Error('DATABASE_URL must be sqlite:<file> or sqlite::memory:');
  return openSqlite(file);
}
