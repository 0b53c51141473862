/** Inserts all waiting records by one INSERT, which PostgreSQL commits by itself. */
import type { Fields } from '../collection.ts';
import { StoreUnavailable } from '../store.ts';
import type { Table } from '../table.ts';
import type { Created } from '../write.ts';
import { toArrays, toArraysSql } from './arrays.ts';
import type { AskAll } from './coalescing.ts';
import type { Connection } from './connection.ts';
import { NOW } from './names.ts';

export function buildInsert(schema: string, { name, newFields, sequence }: Table): AskAll<Fields, Created | Error> {
  const { columns, arrays } = toArraysSql(newFields);
  const times = newFields.filter(({ set }) => set === 'created' || set === 'changed');
  const values = newFields.map((field) => (times.includes(field) ? 'now' : field.column));
  // The time is computed when the first row is read; by then, the table's trigger holds the lock.
  const moment = times.length > 0 ? `WITH moment AS MATERIALIZED (SELECT ${NOW} AS now)` : '';
  const sql = `${moment}
    INSERT INTO ${schema}.${name} (${columns})
    SELECT ${values} FROM unnest(${arrays}) WITH ORDINALITY AS added (${columns}, _place)${moment && ', moment'} ORDER BY _place
    RETURNING ${[sequence, ...times.map(({ column }) => column)]}`;
  return blameOne(async (connection, records) => {
    const rows = await connection.query(sql, toArrays(newFields, records));
    return rows.map(([id, now]) => ({ sequence: BigInt(id as string), now: now ?? '' }));
  });
}

/** SQLSTATE of a sequence that has no more numbers. */
const USED_UP = '2200H';

/** Bisects a failing batch, so that only the faulty row is refused. */
function blameOne<Write, Outcome>(write: AskAll<Write, Outcome>): AskAll<Write, Outcome | Error> {
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

export const toFault = (error: Error & { code?: string }) =>
  error.code === USED_UP ? new StoreUnavailable(error, 'ids_used_up') : error;
