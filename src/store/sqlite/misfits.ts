/** Counts the stored records that do not fit a contract. Reads them only until all have been found to fit it. */
import type { Database } from 'better-sqlite3';
import type { Table } from '../table.ts';
import { keep } from './kept-sqlite.ts';
import { toJsonSql } from './record-json.ts';

export function prepareCountMisfits(db: Database, table: Table) {
  // NULL where a field is missing that the description calls required.
  const select = db.prepare<[], string | null>(`SELECT ${toJsonSql(table)} FROM ${table.name}`).pluck();
  const readPassed = db.prepare<[], string>('SELECT contract FROM passed_check').pluck();
  const writePassed = db.prepare<[string]>('UPDATE passed_check SET contract = ?');

  return (contract: string, fits: (record: string) => boolean): number => {
    if (readPassed.get() === contract) return 0;
    let count = 0;
    for (const text of keep(select.iterate())) if (!fits(text ?? 'null')) count++;
    if (count === 0) writePassed.run(contract);
    return count;
  };
}
