/** Adds records as one text by one statement, in half the time of a statement and a list of values for each. */
import type { Database } from 'better-sqlite3';
import { StoreUnavailable } from '../store.ts';
import type { Field, Table } from '../table.ts';

/** Rows as one text, which is copied to another thread. */
export interface Rows {
  count: number;
  /** A JSON array of arrays: the values of each row. */
  text: string;
}

export const toRows = (rows: string[]): Rows => ({ count: rows.length, text: `[${rows.join()}]` });

export const MAX_ID = 2n ** 63n - 1n;

/** Returns the id of the last row. */
export function prepareInsertRows(db: Database, { name }: Table, fields: readonly Field[]): (text: string) => bigint {
  const values = fields.map((_field, index) => `value ->> ${index}`);
  // json_each gives the rows in their order.
  const insert = db.prepare<[string]>(
    `INSERT INTO ${name} (${fields.map(({ column }) => column)}) SELECT ${values} FROM json_each(?)`,
  );
  return (text) => insert.run(text).lastInsertRowid as bigint;
}

export interface Insert {
  /** Returns the id of the first one; those after it have the next ones. @throws StoreUnavailable where there are not enough ids */
  insert(rows: Rows): bigint;
  /** The highest id that was ever given. */
  lastId(): bigint;
}

export function prepareInsert(db: Database, table: Table): Insert {
  const insertRows = prepareInsertRows(db, table, table.newFields);
  // The one after it comes next (https://www.sqlite.org/autoinc.html), also where somebody has edited sqlite_sequence.
  const lastId = db
    .prepare<[], bigint>(`
      SELECT max(id) FROM (SELECT 0 AS id UNION ALL SELECT seq FROM sqlite_sequence WHERE name = '${table.name}'
                           UNION ALL SELECT max(id) FROM ${table.name})`)
    .pluck();
  return {
    insert: ({ count, text }) => {
      if (count === 0) return 0n;
      try {
        // While the statement runs nobody else writes, so the ids have no gaps.
        return insertRows(text) - BigInt(count) + 1n;
      } catch (error) {
        const isUsedUp = (lastId.get() as bigint) > MAX_ID - BigInt(count);
        throw isUsedUp ? new StoreUnavailable(error, 'ids_used_up') : error;
      }
    },
    lastId: () => lastId.get() as bigint,
  };
}
