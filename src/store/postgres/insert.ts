/** Writes pets: all that wait in one INSERT, which PostgreSQL commits by itself. */

import { COLUMNS, NEW_FIELDS } from '../columns.ts';
import { type NewPet, StoreUnavailable } from '../store.ts';
import type { Connection } from './connection.ts';

/** The id of each pet, or why it has none. @throws Error when the connection is lost, and nothing is known */
export type InsertPets = (connection: Connection, pets: NewPet[]) => Promise<(bigint | Error)[]>;

export function buildInsertPets(schema: string): InsertPets {
  const names = NEW_FIELDS.map((field) => COLUMNS[field].column);
  const arrays = NEW_FIELDS.map(
    (field, index) => `$${index + 1}::${COLUMNS[field].type === 'text' ? 'text' : 'bigint'}[]`,
  );
  const sql = `
    INSERT INTO ${schema}.pets (${names})
    SELECT ${names} FROM unnest(${arrays}) WITH ORDINALITY AS added (${names}, place) ORDER BY place
    RETURNING id`;

  const insert: InsertPets = async (connection, pets) => {
    try {
      const rows = await connection.query(
        sql,
        NEW_FIELDS.map((field) => pets.map((pet) => pet[field] ?? null)),
      );
      return rows.map(([id]) => BigInt(id as string));
    } catch (error) {
      if (error instanceof StoreUnavailable) return pets.map(() => error);
      if (!connection.isOpen) throw error;
      if (pets.length === 1) return [error as Error];
      // One pet made the whole statement fail.
      const middle = pets.length / 2;
      const first = await insert(connection, pets.slice(0, middle));
      return [...first, ...(await insert(connection, pets.slice(middle)))];
    }
  };
  return insert;
}
