/** Reads or writes the whole contents of a database in one transaction, and counts records that do not fit a contract. */
import type { Database } from 'better-sqlite3';
import { JsonText } from '../../json/json-text.ts';
import type { Fields } from '../collection.ts';
import { toPlainShape } from '../shape.ts';
import { type Fits, type Part, StoreError } from '../store.ts';
import type { Table } from '../table.ts';
import { toKeptFields } from '../values.ts';
import { toStoreError } from './connection.ts';
import { Driver } from './drive.ts';
import { prepareInsertRows, toRow, toRows } from './insert.ts';
import { keep } from './kept-sqlite.ts';
import { KEYS } from './keys.ts';
import { toJsonSql } from './record-json.ts';
import { toTransactionError } from './transaction.ts';

/** A connection for one long transaction. */
export interface Aside {
  db: Database;
  /** Rolls back if it was not committed. */
  end(): void;
}

/** How many records are read at once, to limit memory. */
const CHUNK = 5000;

type RecordRow = [sequence: bigint, text: string];

export async function* readContents(
  open: () => Aside,
  tables: readonly Table[],
): AsyncGenerator<Part<JsonText<Fields>>> {
  let aside: Aside | undefined;
  try {
    aside = open();
    const { db } = aside;
    db.exec('BEGIN');
    const selectLastId = db.prepare<[string], bigint>('SELECT seq FROM sqlite_sequence WHERE name = ?').pluck();
    const lastIds = tables.map(({ collection, name }) => [collection, selectLastId.get(name) ?? 0n]);
    yield { lastIds: Object.fromEntries(lastIds), keys: new Driver(db).drive(KEYS.list()) };
    for (const table of tables) yield* readRecords(db, table);
  } catch (error) {
    throw toStoreError(error);
  } finally {
    aside?.end();
  }
}

function* readRecords(db: Database, table: Table): Generator<Part<JsonText<Fields>>> {
  const { collection, name, sequence } = table;
  const source = toPlainShape(table);
  const sql = `SELECT ${sequence}, ${toJsonSql(table)} FROM ${name} WHERE ${sequence} > ? ORDER BY ${sequence} LIMIT ${CHUNK}`;
  const select = db.prepare<[bigint], RecordRow>(sql).raw();
  for (let rows = select.all(0n); rows.length > 0; rows = select.all((rows.at(-1) as RecordRow)[0])) {
    yield { collection, records: rows.map(([, text]) => JsonText.of<Fields>(text, source)) };
  }
}

export async function writeContents(
  open: () => Aside,
  tables: readonly Table[],
  parts: AsyncIterable<Part<Fields>>,
  contract: string,
): Promise<void> {
  let aside: Aside | undefined;
  try {
    aside = open();
    await fill(aside.db, tables, parts, contract);
  } catch (error) {
    throw toStoreError(error);
  } finally {
    aside?.end();
  }
}

/** @throws StoreUnavailable when it is unknown whether COMMIT stored it */
async function fill(
  db: Database,
  tables: readonly Table[],
  parts: AsyncIterable<Part<Fields>>,
  contract: string,
): Promise<void> {
  db.exec('BEGIN IMMEDIATE');
  checkEmpty(db, tables);
  // The keys belong to deleted records, whose ids may now be used again.
  db.exec('DELETE FROM idempotency_keys');
  const inserts = new Map(tables.map((table) => [table.collection, prepareInsertRecords(db, table)]));
  const driver = new Driver(db);
  let known: Part<Fields>['lastIds'] = {};
  for await (const { lastIds, keys: added = [], collection = '', records = [] } of parts) {
    known = lastIds ?? known;
    for (const key of added) driver.drive(KEYS.insert(key));
    inserts.get(collection)?.(records);
  }
  for (const table of tables) keepIdsAbove(db, table, known[table.collection] ?? 0n);
  db.prepare<[string]>('UPDATE passed_check SET contract = ?').run(contract);
  try {
    db.exec('COMMIT');
  } catch (error) {
    throw toTransactionError(error, true);
  }
}

function prepareInsertRecords(db: Database, table: Table): (records: Fields[]) => void {
  const insert = prepareInsertRows(db, table, table.fields);
  return (records) => insert(toRows(records.map((record) => toRow(table.fields, toKeptFields(table, record)))).text);
}

function checkEmpty(db: Database, tables: readonly Table[]): void {
  const all = [...tables.map(({ name }) => [name, name]), ['keys', 'api_keys']];
  const select = all.map(([word, name]) => `SELECT '${word}' WHERE EXISTS (SELECT 1 FROM ${name})`);
  const held = db.prepare<[], string>(select.join(' UNION ALL ')).pluck().all();
  if (held.length > 0) throw new StoreError(`The database has ${held.join(' and ')} already, and must be empty.`);
}

/** Makes the next record's id higher than this one, and than any that was ever used here. */
function keepIdsAbove(db: Database, { name }: Table, id: bigint): void {
  db.exec(`
    INSERT INTO sqlite_sequence (name, seq)
    SELECT '${name}', 0 WHERE NOT EXISTS (SELECT 1 FROM sqlite_sequence WHERE name = '${name}')`);
  db.prepare<[bigint, string]>('UPDATE sqlite_sequence SET seq = max(seq, ?) WHERE name = ?').run(id, name);
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
