/** Writes pets in one transaction: all of them or none, one fsync however many they are (group commit). */
import type { Database } from 'better-sqlite3';
import type { NewPet } from './store.ts';

/** The ids of the pets, in their order. */
export type InsertPets = (pets: NewPet[]) => bigint[];

export function prepareInsertPets(db: Database): InsertPets {
  const insert = db.prepare<[string, bigint, string | null]>(
    'INSERT INTO pets (name, category_id, status) VALUES (?, ?, ?)',
  );
  const run = db.transaction((pets: NewPet[]) =>
    pets.map(({ name, categoryId, status }) => insert.run(name, categoryId, status ?? null).lastInsertRowid as bigint),
  );
  return run.immediate as InsertPets;
}
