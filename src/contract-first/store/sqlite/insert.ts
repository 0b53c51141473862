/** Inserts many records by one statement, as one JSON text. That takes half the time of a statement for each record. */
import type { Database } from 'better-sqlite3';
import type { Fields } from '../collection.ts';
import { StoreUnavailable } from '../store.ts';
import { type Field, isText, type Table, toJsonText } from '../tables/table.ts';

/** Rows as one text, because a text is copied to a thread quickly. */
export interface Rows {
  count: number;
  /** A JSON array with an array of values for each row. */
  text: string;
}

export const toRows = (rows: string[]): Rows => ({ count: rows.length, text: `[${rows.join()}]` });

const MAX_ID = 2n ** 63n - 1n;

/** Writes a record's values as a JSON array, in the order of the fields. Copying text to a thread takes half the time of copying values. */
export function toRow(fields: readonly Field[], record: Fields): string {
  let row = '';
  for (const field of fields) {
    const bound = toBound(field, record[field.name]);
    // JSON.stringify alone does not support bigint.
    const json = typeof bound === 'bigint' && !isText(field.type) ? String(bound) : JSON.stringify(bound);
    row += `${row === '' ? '[' : ','}${json}`;
  }
  return `${row}]`;
}

/**
 * Converts a value to its bound form. A boolean becomes 0 or 1. A number becomes its JSON text, because SQLite prints only 15 digits. For a
 * field that may be absent or null, NULL means absent, and the text `null` means null.
 */
export function toBound({ type, isNullable, isOptional }: Field, value: unknown): unknown {
  if (value === undefined) return null;
  if (type === 'boolean' && value !== null) return Number(value);
  if (type === 'int32' && typeof value === 'number') return BigInt(value);
  if (type !== 'number' && type !== 'json') return value;
  return value === null && isNullable && !isOptional ? null : toJsonText(value);
}

/** Prepares a function that inserts rows, and returns the sequence number of the last one. `now` is SQL for times that the store sets. */
export function prepareInsertRows(db: Database, { name }: Pick<Table, 'name'>, fields: readonly Field[], now = '') {
  const values = fields.map(({ set }, index) => (now && isTime(set) ? now : `value ->> ${index}`));
  // Keeps the order: json_each returns the rows as they are in the text.
  const insert = db.prepare<[{ text: string; now?: string }]>(
    `INSERT INTO ${name} (${fields.map(({ column }) => column)}) SELECT ${values} FROM json_each(@text)`,
  );
  return (text: string, time?: string) =>
    insert.run(time === undefined ? { text } : { text, now: time }).lastInsertRowid as bigint;
}

const isTime = (set: Field['set']) => set === 'created' || set === 'changed';

export interface Insert {
  /**
   * Inserts rows, and returns the sequence number of the first row; the others follow without gaps.
   * @throws StoreUnavailable if the numbers are used up
   */
  insert(rows: Rows, now: string): bigint;
  /** Checks for free sequence numbers. @throws StoreUnavailable if fewer than `count` are left */
  checkLeft(count: number): void;
}

const USED_UP = new Error('all ids are used up');

export function prepareInsert(db: Database, table: Table): Insert {
  const insertRows = prepareInsertRows(db, table, table.newFields, '@now');
  // The last id is computed as SQLite does it (https://www.sqlite.org/autoinc.html). So it is right even if somebody has edited
  // sqlite_sequence.
  const lastId = db
    .prepare<[], bigint>(`
      SELECT max(id) FROM (SELECT 0 AS id UNION ALL SELECT seq FROM sqlite_sequence WHERE name = '${table.name}'
                           UNION ALL SELECT max(${table.sequence}) FROM ${table.name})`)
    .pluck();

  function checkLeft(count: number, error: unknown = USED_UP): void {
    if ((lastId.get() as bigint) > MAX_ID - BigInt(count)) throw new StoreUnavailable(error, 'ids_used_up');
  }
  return {
    insert: ({ count, text }, now) => {
      try {
        // The numbers have no gaps, because the statement holds the write lock.
        return insertRows(text, now) - BigInt(count) + 1n;
      } catch (error) {
        checkLeft(count, error);
        throw error;
      }
    },
    checkLeft,
  };
}
