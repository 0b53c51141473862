/** Writes pets in one transaction: all of them or none, one fsync however many they are (group commit). */
import type { Database } from 'better-sqlite3';
import { COLUMNS, NEW_FIELDS } from '../columns.ts';
import type { NewPet } from '../store.ts';
import { inTransaction } from './transaction.ts';

type Value = string | bigint | null;

/** Pets by column: copying these between threads costs less than copying one object per pet. */
export interface Batch {
  count: number;
  /** The values of each of NEW_FIELDS, in the order of the pets. */
  columns: (Value[] | BigInt64Array)[];
}

/** The ids of the pets, in their order. @throws StoreUnavailable when it is unknown whether COMMIT stored them */
export type InsertPets = (batch: Batch) => BigInt64Array;

export function toBatch(pets: NewPet[]): Batch {
  return { count: pets.length, columns: NEW_FIELDS.map((field) => toColumn(pets, field)) };
}

function toColumn(pets: NewPet[], field: keyof NewPet): Value[] | BigInt64Array {
  const { type, isRequired } = COLUMNS[field];
  if (type !== 'integer' || !isRequired) return pets.map((pet) => pet[field] ?? null);
  const values = new BigInt64Array(pets.length);
  for (const [index, pet] of pets.entries()) values[index] = pet[field] as unknown as bigint;
  return values;
}

export function prepareInsertPets(db: Database): InsertPets {
  const names = NEW_FIELDS.map((field) => COLUMNS[field].column);
  const insert = db.prepare<Value[]>(`INSERT INTO pets (${names}) VALUES (${names.map(() => '?')})`);
  return inTransaction(db, ({ count, columns }: Batch) => {
    const ids = new BigInt64Array(count);
    const values: Value[] = [];
    for (let index = 0; index < count; index++) {
      for (let column = 0; column < columns.length; column++) values[column] = columns[column]?.[index] as Value;
      ids[index] = insert.run(...values).lastInsertRowid as bigint;
    }
    return ids;
  });
}
