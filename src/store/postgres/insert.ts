/** Writes pets: all that wait in one INSERT, which PostgreSQL commits by itself. */
import { NEW_FIELDS } from '../columns.ts';
import { type NewPet, StoreUnavailable } from '../store.ts';
import { toArrays, toArraysSql } from './arrays.ts';
import type { Connection } from './connection.ts';
import type { AskAll } from './gathering.ts';

/** The id of each pet, or why it has none. @throws Error when the connection is lost, and nothing is known */
export type InsertPets = AskAll<NewPet, bigint | Error>;

export function buildInsertPets(schema: string): InsertPets {
  const { columns, arrays } = toArraysSql(NEW_FIELDS);
  const sql = `
    INSERT INTO ${schema}.pets (${columns})
    SELECT ${columns} FROM unnest(${arrays}) WITH ORDINALITY AS added (${columns}, place) ORDER BY place
    RETURNING id`;
  return blameOne(async (connection, pets) => {
    const rows = await connection.query(sql, toArrays(NEW_FIELDS, pets));
    return rows.map(([id]) => BigInt(id as string));
  });
}

/** What makes the whole statement fail fails alone: halves the others until it is found. */
export function blameOne<Create, Outcome>(write: AskAll<Create, Outcome>): AskAll<Create, Outcome | Error> {
  return async function writeAll(connection: Connection, creates: Create[]): Promise<(Outcome | Error)[]> {
    try {
      return await write(connection, creates);
    } catch (error) {
      if (error instanceof StoreUnavailable) return creates.map(() => error);
      if (!connection.isOpen) throw error;
      if (creates.length === 1) return [error as Error];
      const middle = creates.length / 2;
      const first = await writeAll(connection, creates.slice(0, middle));
      return [...first, ...(await writeAll(connection, creates.slice(middle)))];
    }
  };
}
