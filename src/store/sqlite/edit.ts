/** Puts records in the place of others, and deletes them. To be called in the transaction of other writes. */
import type { Database } from 'better-sqlite3';
import type { Table } from '../table.ts';

/** The row is the new values in JSON; null where the record is deleted. */
export type Edit = [id: bigint, row: string | null];

/** Says of each whether there was a record with its id. */
export function prepareEdit(db: Database, { name, newFields }: Table): (edits: Edit[]) => boolean[] {
  const columns = newFields.map(({ column }) => column);
  const values = newFields.map((_field, index) => `@row ->> ${index}`);
  const replace = db.prepare<[{ row: string; id: bigint }]>(
    `UPDATE ${name} SET (${columns}) = (SELECT ${values}) WHERE id = @id`,
  );
  const remove = db.prepare<[bigint]>(`DELETE FROM ${name} WHERE id = ?`);
  return (edits) => edits.map(([id, row]) => (row === null ? remove.run(id) : replace.run({ row, id })).changes === 1);
}
