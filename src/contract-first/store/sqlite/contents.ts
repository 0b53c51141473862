/** The whole contents of a database: to be moved in one transaction, and the count of records that do not fit a contract. */
import type { Database } from 'better-sqlite3';
import { MOST_MOVED, type MovedTable, type MovingSide, type Row, sizeOf } from '../moving.ts';
import type { Fits } from '../store.ts';
import type { Field, Table } from '../table.ts';
import { openConnection } from './connection.ts';
import { Driver } from './drive.ts';
import { prepareInsertRows } from './insert.ts';
import { keep } from './kept-sqlite.ts';
import { toJsonSql } from './record-json.ts';

export function openSqliteToMove(file: string): MovingSide {
  const db = openConnection(file, { fileMustExist: true });
  const driver = new Driver(db);
  const query = (sql: string, values: unknown[] = []) => driver.query({ sql, values }) as Row[];
  const readLast = ({ name }: MovedTable) => {
    const [row] = query('SELECT CAST(seq AS text) FROM sqlite_sequence WHERE name = ?', [name]);
    return row?.[0] ?? '0';
  };
  return {
    // A reader's snapshot begins with its first statement.
    begin: (isTarget) => query(isTarget ? 'BEGIN IMMEDIATE' : 'BEGIN'),
    place: 'rowid',
    mark: '?',
    query,
    read: (table) => readRows(db, table),
    insert: (table, rows) => prepareInsertRows(db, table, table.columns as Field[])(JSON.stringify(rows)),
    readLast,
    raiseLast: ({ name }, last) => {
      query(
        'INSERT INTO sqlite_sequence (name, seq) SELECT ?, 0 WHERE NOT EXISTS (SELECT 1 FROM sqlite_sequence WHERE name = ?)',
        [name, name],
      );
      query('UPDATE sqlite_sequence SET seq = max(seq, CAST(? AS integer)) WHERE name = ?', [last, name]);
    },
    commit: () => query('COMMIT'),
    end: () => db.close(),
  };
}

function* readRows(db: Database, { name, columns, order }: MovedTable): Generator<Row[]> {
  const texts = columns.map(({ column }) => `CAST(${column} AS text)`);
  const select = db.prepare<[], Row>(`SELECT ${texts} FROM ${name} ORDER BY ${order}`).raw();
  let rows: Row[] = [];
  let size = 0;
  for (const row of keep(select.iterate())) {
    rows.push(row);
    size += sizeOf([row]);
    if (size < MOST_MOVED) continue;
    yield rows;
    rows = [];
    size = 0;
  }
  yield rows;
}

/** Counts the stored records that do not fit a contract. Once all fit, they are not read again for this contract. */
export function prepareCountInvalidRecords(db: Database, tables: readonly Table[]) {
  const selects = tables.map((table) => ({
    collection: table.collection,
    // The JSON is NULL if a required field is missing.
    select: db.prepare<[], string | null>(`SELECT ${toJsonSql(table)} FROM ${table.name}`).pluck(),
  }));
  const readPassed = db.prepare<[], string>('SELECT contract FROM passed_check').pluck();
  const writePassed = db.prepare<[string]>('UPDATE passed_check SET contract = ?');

  return (contract: string, fits: Fits): number => {
    if (readPassed.get() === contract) return 0;
    let count = 0;
    for (const { collection, select } of selects) {
      for (const text of keep(select.iterate())) if (!fits(text ?? 'null', collection)) count++;
    }
    if (count === 0) writePassed.run(contract);
    return count;
  };
}
