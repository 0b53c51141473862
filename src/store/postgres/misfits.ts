/** Counts the stored pets that do not fit a contract. Reads them only until all have been found to fit it. */
import { COLUMNS, FIELDS, type Field } from '../columns.ts';
import type { Pet } from '../store.ts';
import type { Connection, Row } from './connection.ts';

/** How many pets are read at once: however many there are, they need little memory. */
const CHUNK = 5000;

export function buildCountMisfits(schema: string) {
  const columns = FIELDS.map((field) => COLUMNS[field].column);
  const select = `SELECT ${columns} FROM ${schema}.pets WHERE id > $1 ORDER BY id LIMIT ${CHUNK}`;
  const selectPassed = `SELECT 1 FROM ${schema}.passed_check WHERE contract = $1`;
  const updatePassed = `UPDATE ${schema}.passed_check SET contract = $1`;

  return async ({ query }: Connection, contract: string, fits: (pet: Pet) => boolean): Promise<number> => {
    if ((await query(selectPassed, [contract])).length > 0) return 0;
    let count = 0;
    for (let last: bigint | undefined = 0n; last !== undefined; ) {
      const pets: Pet[] = (await query(select, [last])).map(toPet);
      for (const pet of pets) if (!fits(pet)) count++;
      last = pets.at(-1)?.id;
    }
    if (count === 0) await query(updatePassed, [contract]);
    return count;
  };
}

/** Fields that are NULL are left out. */
function toPet(row: Row): Pet {
  const pet: Partial<Record<Field, unknown>> = {};
  for (const [index, field] of FIELDS.entries()) {
    const text = row[index];
    if (text != null) pet[field] = COLUMNS[field].type === 'integer' ? BigInt(text) : text;
  }
  return pet as Pet;
}
