/** Opens a database file as the source or the target of a move. */
import type { Database } from 'better-sqlite3';
import { MOST_MOVED, type MovedTable, type MovingSide, type Row, sizeOf } from '../contents.ts';
import type { Field } from '../tables/table.ts';
import { openConnection } from './connection.ts';
import { DIALECT, Driver } from './drive.ts';
import { prepareInsertRows } from './insert.ts';
import { raiseSequence } from './migrate.ts';
import { preventGc } from './sqlite.ts';

export function openSqliteToMove(file: string): MovingSide {
  const db = openConnection(file, { fileMustExist: true });
  const driver = new Driver(db);
  const query = (sql: string, values: unknown[] = []) => driver.query({ sql, values }) as Row[];
  const readLast = ({ name }: MovedTable) => {
    const [row] = query('SELECT CAST(seq AS text) FROM sqlite_sequence WHERE name = ?', [name]);
    return row?.[0] ?? '0';
  };
  return {
    // In the source, the snapshot begins with the first statement after BEGIN.
    begin: (isTarget) => query(isTarget ? 'BEGIN IMMEDIATE' : 'BEGIN'),
    ...DIALECT,
    query,
    read: (table) => readRows(db, table),
    insert: (table, rows) => prepareInsertRows(db, table, table.columns as Field[])(JSON.stringify(rows)),
    readLast,
    raiseLast: ({ name }, last) => driver.drive(raiseSequence(name, last)),
    commit: () => query('COMMIT'),
    end: () => db.close(),
  };
}

function* readRows(db: Database, { name, columns, order }: MovedTable): Generator<Row[]> {
  const texts = columns.map(({ column }) => `CAST(${column} AS text)`);
  const select = db.prepare<[], Row>(`SELECT ${texts} FROM ${name} ORDER BY ${order}`).raw();
  let rows: Row[] = [];
  let size = 0;
  for (const row of preventGc(select.iterate())) {
    rows.push(row);
    size += sizeOf([row]);
    if (size < MOST_MOVED) continue;
    yield rows;
    rows = [];
    size = 0;
  }
  yield rows;
}
