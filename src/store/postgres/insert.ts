/** Writes records: all that wait in one INSERT, which PostgreSQL commits by itself. */
import type { Fields } from '../collection.ts';
import { StoreUnavailable } from '../store.ts';
import type { Table } from '../table.ts';
import { toArrays, toArraysSql } from './arrays.ts';
import type { Connection } from './connection.ts';
import type { AskAll } from './gathering.ts';

export function buildInsert(schema: string, table: Table): AskAll<Fields, bigint | Error> {
  const { columns, arrays } = toArraysSql(table.newFields);
  const sql = `
    INSERT INTO ${schema}.${table.name} (${columns})
    SELECT ${columns} FROM unnest(${arrays}) WITH ORDINALITY AS added (${columns}, _place) ORDER BY _place
    RETURNING id`;
  return blameOne(async (connection, records) => {
    const rows = await connection.query(sql, toArrays(table.newFields, records));
    return rows.map(([id]) => BigInt(id as string));
  });
}

/** SQLSTATE of a sequence that has given its last number. */
const USED_UP = '2200H';

/** What makes the whole statement fail fails alone: halves the others until it is found. */
export function blameOne<Write, Outcome>(write: AskAll<Write, Outcome>): AskAll<Write, Outcome | Error> {
  return async function writeAll(connection: Connection, writes: Write[]): Promise<(Outcome | Error)[]> {
    try {
      return await write(connection, writes);
    } catch (error) {
      if (error instanceof StoreUnavailable) return writes.map(() => error);
      if (!connection.isOpen) throw error;
      if (writes.length === 1) return [toFault(error as Error)];
      const middle = writes.length / 2;
      const first = await writeAll(connection, writes.slice(0, middle));
      return [...first, ...(await writeAll(connection, writes.slice(middle)))];
    }
  };
}

const toFault = (error: Error & { code?: string }) =>
  error.code === USED_UP ? new StoreUnavailable(error, 'ids_used_up') : error;
