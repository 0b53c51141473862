/** Counts the stored pets that do not fit a contract. Reads them only until all have been found to fit it. */
import type { Database } from 'better-sqlite3';
import { COLUMNS } from '../columns.ts';
import type { Pet } from '../store.ts';
import { keep } from './kept-sqlite.ts';

type Row = Record<keyof Pet, unknown>;

export function prepareCountMisfits(db: Database) {
  const columns = Object.entries(COLUMNS).map(([field, { column }]) => `${column} AS "${field}"`);
  const select = db.prepare<[], Row>(`SELECT ${columns} FROM pets`);
  const readPassed = db.prepare<[], string>('SELECT contract FROM passed_check').pluck();
  const writePassed = db.prepare<[string]>('UPDATE passed_check SET contract = ?');

  return (contract: string, fits: (pet: Pet) => boolean): number => {
    if (readPassed.get() === contract) return 0;
    let count = 0;
    for (const row of keep(select.iterate())) if (!fits(toPet(row))) count++;
    if (count === 0) writePassed.run(contract);
    return count;
  };
}

/** Fields that are NULL are left out. */
function toPet(row: Row): Pet {
  for (const field of Object.keys(row) as (keyof Pet)[]) if (row[field] === null) delete row[field];
  return row as Pet;
}
