/** Counts the stored records that do not fit a contract. Reads them only until all have been found to fit it. */
import type { Table } from '../table.ts';
import type { Connection } from './connection.ts';
import { toJsonSql } from './record-json.ts';

/** How many records are read at once: however many there are, they need little memory. */
const CHUNK = 5000;

export function buildCountMisfits(schema: string, table: Table) {
  // NULL where a field is missing that the description calls required.
  const select = `SELECT id, ${toJsonSql(table)} FROM ${schema}.${table.name} WHERE id > $1 ORDER BY id LIMIT ${CHUNK}`;
  const selectPassed = `SELECT 1 FROM ${schema}.passed_check WHERE contract = $1`;
  const updatePassed = `UPDATE ${schema}.passed_check SET contract = $1`;

  return async ({ query }: Connection, contract: string, fits: (record: string) => boolean): Promise<number> => {
    if ((await query(selectPassed, [contract])).length > 0) return 0;
    let count = 0;
    for (let last: string | null | undefined = '0'; last !== undefined; ) {
      const rows: (string | null)[][] = await query(select, [last]);
      for (const [, text] of rows) if (!fits(text ?? 'null')) count++;
      last = rows.at(-1)?.[0];
    }
    if (count === 0) await query(updatePassed, [contract]);
    return count;
  };
}
