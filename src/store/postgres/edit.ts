/** Puts records in the place of others, and deletes them: all that wait in one statement. */
import type { Fields } from '../collection.ts';
import type { Table } from '../table.ts';
import { toArrays, toArraysSql } from './arrays.ts';
import type { AskAll } from './gathering.ts';
import { blameOne } from './insert.ts';

export interface Edit {
  id: bigint;
  /** Undefined where the record is deleted. */
  record: Fields | undefined;
}

/** Says of each whether there was a record with its id. */
export function buildEdit(schema: string, { name, newFields }: Table): AskAll<Edit, boolean | Error> {
  const { columns, arrays } = toArraysSql(newFields);
  const [ids, deleted] = [`$${newFields.length + 1}::bigint[]`, `$${newFields.length + 2}::bigint[]`];
  const sql = `
    WITH replaced AS (
      UPDATE ${schema}.${name} AS known SET (${columns}) = ROW (${newFields.map(({ column }) => `given.${column}`)})
      FROM unnest(${arrays}, ${ids}) AS given (${columns}, _id) WHERE known.id = _id
      RETURNING known.id
    ),
    deleted AS (DELETE FROM ${schema}.${name} WHERE id = ANY (${deleted}) RETURNING id)
    SELECT id FROM replaced UNION ALL SELECT id FROM deleted`;

  return blameOne(async (connection, edits) => {
    const last = toLast(edits);
    const replacing = [...last].filter(([, record]) => record !== undefined);
    const deleting = [...last].filter(([, record]) => record === undefined);
    const rows = await connection.query(sql, [
      ...toArrays(
        newFields,
        replacing.map(([, record]) => record as Fields),
      ),
      replacing.map(([id]) => id),
      deleting.map(([id]) => id),
    ]);
    const present = new Set(rows.map(([id]) => BigInt(id as string)));
    return edits.map(({ id, record }) => (record ? present.has(id) : present.delete(id)));
  });
}

/** What is left of the edits of each id: a record that is deleted is gone, whatever comes after it. */
function toLast(edits: readonly Edit[]): Map<bigint, Fields | undefined> {
  const last = new Map<bigint, Fields | undefined>();
  for (const { id, record } of edits) {
    const isDeleted = last.has(id) && last.get(id) === undefined;
    if (!isDeleted) last.set(id, record);
  }
  return last;
}
