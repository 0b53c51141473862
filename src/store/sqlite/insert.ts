/** Writes pets in one transaction: all of them or none, one fsync however many they are (group commit). */
import type { Database } from 'better-sqlite3';
import type { NewPet, PetStatus } from '../store.ts';

/** Pets by column: to copy them from thread to thread costs less than as many objects. */
export interface Batch {
  names: string[];
  categoryIds: BigInt64Array;
  statuses: (PetStatus | null)[];
}

/** The ids of the pets, in their order. */
export type InsertPets = (batch: Batch) => BigInt64Array;

export function toBatch(pets: NewPet[]): Batch {
  return {
    names: pets.map(({ name }) => name),
    categoryIds: BigInt64Array.from(pets, ({ categoryId }) => categoryId),
    statuses: pets.map(({ status }) => status ?? null),
  };
}

export function prepareInsertPets(db: Database): InsertPets {
  const insert = db.prepare<[string, bigint, string | null]>(
    'INSERT INTO pets (name, category_id, status) VALUES (?, ?, ?)',
  );
  const run = db.transaction(({ names, categoryIds, statuses }: Batch) =>
    categoryIds.map((categoryId, index) => {
      const { lastInsertRowid } = insert.run(names[index] as string, categoryId, statuses[index] as PetStatus | null);
      return lastInsertRowid as bigint;
    }),
  );
  return run.immediate as InsertPets;
}
