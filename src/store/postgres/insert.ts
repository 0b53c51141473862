/** Writes pets: all that wait in one INSERT, which PostgreSQL commits by itself. */
import { NEW_FIELDS } from '../columns.ts';
import { type NewPet, StoreUnavailable } from '../store.ts';
import { toArrays, toArraysSql } from './arrays.ts';
import type { Connection } from './connection.ts';

/** The id of each pet, or why it has none. @throws Error when the connection is lost, and nothing is known */
export type InsertPets = (connection: Connection, pets: NewPet[]) => Promise<(bigint | Error)[]>;

export function buildInsertPets(schema: string): InsertPets {
  const { columns, arrays } = toArraysSql(NEW_FIELDS);
  const sql = `
    INSERT INTO ${schema}.pets (${columns})
    SELECT ${columns} FROM unnest(${arrays}) WITH ORDINALITY AS added (${columns}, place) ORDER BY place
    RETURNING id`;

  const insert: InsertPets = async (connection, pets) => {
    try {
      const rows = await connection.query(sql, toArrays(NEW_FIELDS, pets));
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
