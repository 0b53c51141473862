/** Inserts all waiting records by one INSERT, which PostgreSQL commits by itself. */
import type { Fields } from '../collection.ts';
import type { Table } from '../table.ts';
import type { Created } from '../write.ts';
import { toArrays, toArraysSql } from './arrays.ts';
import { type AskAll, blameOne } from './coalescing.ts';
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
