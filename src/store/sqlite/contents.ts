/** All that a database holds, read or written in one transaction. */
import type { Database } from 'better-sqlite3';
import { JsonText } from '../../json/json-text.ts';
import type { Fields } from '../collection.ts';
import { type Part, StoreError } from '../store.ts';
import type { Table } from '../table.ts';
import { toStoreError } from './connection.ts';
import { prepareInsertRows, toRows } from './insert.ts';
import { prepareKeys } from './keys.ts';
import { toJsonSql } from './record-json.ts';
import { toTransactionError } from './transaction.ts';
import { toRow } from './values.ts';

/** A connection for one long transaction. */
export interface Aside {
  db: Database;
  /** Takes back what was not committed. */
  end(): void;
}

/** How many records are read at once: however many there are, they need little memory. */
const CHUNK = 5000;

type RecordRow = [id: bigint, text: string];

export async function* readContents(open: () => Aside, table: Table): AsyncGenerator<Part<JsonText<Fields>>> {
  let aside: Aside | undefined;
  try {
    aside = open();
    const { db } = aside;
    db.exec('BEGIN');
    const selectLastId = db.prepare<[string], bigint>('SELECT seq FROM sqlite_sequence WHERE name = ?').pluck();
    yield { lastId: selectLastId.get(table.name) ?? 0n, keys: prepareKeys(db).list(), records: [] };
    const sql = `SELECT id, ${toJsonSql(table)} FROM ${table.name} WHERE id > ? ORDER BY id LIMIT ${CHUNK}`;
    const select = db.prepare<[bigint], RecordRow>(sql).raw();
    for (let rows = select.all(0n); rows.length > 0; rows = select.all((rows.at(-1) as RecordRow)[0])) {
      yield { lastId: 0n, keys: [], records: rows.map(([, text]) => JsonText.of<Fields>(text)) };
    }
  } catch (error) {
    throw toStoreError(error);
  } finally {
    aside?.end();
  }
}

export async function writeContents(
  open: () => Aside,
  table: Table,
  parts: AsyncIterable<Part<Fields>>,
  contract: string,
): Promise<void> {
  let aside: Aside | undefined;
  try {
    aside = open();
    await fill(aside.db, table, parts, contract);
  } catch (error) {
    throw toStoreError(error);
  } finally {
    aside?.end();
  }
}

/** @throws StoreUnavailable when it is unknown whether COMMIT stored it */
async function fill(db: Database, table: Table, parts: AsyncIterable<Part<Fields>>, contract: string): Promise<void> {
  db.exec('BEGIN IMMEDIATE');
  checkEmpty(db, table);
  // Of records that are gone: their ids may be given to others now.
  db.exec('DELETE FROM idempotency_keys');
  const insert = prepareInsertRows(db, table, table.fields);
  const keys = prepareKeys(db);
  let lastId = 0n;
  for await (const part of parts) {
    lastId = part.lastId || lastId;
    for (const key of part.keys) keys.insert(key);
    insert(toRows(part.records.map((record) => toRow(table.fields, record))).text);
  }
  keepIdsAbove(db, table, lastId);
  db.prepare<[string]>('UPDATE passed_check SET contract = ?').run(contract);
  try {
    db.exec('COMMIT');
  } catch (error) {
    throw toTransactionError(error, true);
  }
}

function checkEmpty(db: Database, { name }: Table): void {
  const select = db.prepare<[], string>(`
    SELECT '${name}' WHERE EXISTS (SELECT 1 FROM ${name}) UNION ALL SELECT 'keys' WHERE EXISTS (SELECT 1 FROM api_keys)`);
  const held = select.pluck().all();
  if (held.length > 0) throw new StoreError(`The database has ${held.join(' and ')} already, and must be empty.`);
}

/** The next record gets a higher id than this, and than any that was ever given here. */
function keepIdsAbove(db: Database, { name }: Table, id: bigint): void {
  db.exec(`
    INSERT INTO sqlite_sequence (name, seq)
    SELECT '${name}', 0 WHERE NOT EXISTS (SELECT 1 FROM sqlite_sequence WHERE name = '${name}')`);
  db.prepare<[bigint, string]>('UPDATE sqlite_sequence SET seq = max(seq, ?) WHERE name = ?').run(id, name);
}
