/** All that a database holds, read or written in one transaction. */
import type { Database } from 'better-sqlite3';
import { JsonText } from '../../json/json-text.ts';
import { COLUMNS, FIELDS } from '../columns.ts';
import { type Part, type Pet, StoreError } from '../store.ts';
import { toStoreError } from './connection.ts';
import { prepareKeys } from './keys.ts';
import { PET_JSON } from './pet-json.ts';
import { toTransactionError } from './transaction.ts';

/** A connection for one long transaction. */
export interface Aside {
  db: Database;
  /** Takes back what was not committed. */
  end(): void;
}

/** How many pets are read at once: however many there are, they need little memory. */
const CHUNK = 5000;

type PetRow = [id: bigint, text: string];

export async function* readContents(open: () => Aside): AsyncGenerator<Part<JsonText<Pet>>> {
  let aside: Aside | undefined;
  try {
    aside = open();
    const { db } = aside;
    db.exec('BEGIN');
    const lastId = db.prepare<[], bigint>("SELECT seq FROM sqlite_sequence WHERE name = 'pets'").pluck().get();
    yield { lastId: lastId ?? 0n, keys: prepareKeys(db).list(), pets: [] };
    const sql = `SELECT id, ${PET_JSON} FROM pets WHERE id > ? ORDER BY id LIMIT ${CHUNK}`;
    const select = db.prepare<[bigint], PetRow>(sql).raw();
    for (let rows = select.all(0n); rows.length > 0; rows = select.all((rows.at(-1) as PetRow)[0])) {
      yield { lastId: 0n, keys: [], pets: rows.map(([, text]) => JsonText.of<Pet>(text)) };
    }
  } catch (error) {
    throw toStoreError(error);
  } finally {
    aside?.end();
  }
}

export async function writeContents(
  open: () => Aside,
  parts: AsyncIterable<Part<Pet>>,
  contract: string,
): Promise<void> {
  let aside: Aside | undefined;
  try {
    aside = open();
    await fill(aside.db, parts, contract);
  } catch (error) {
    throw toStoreError(error);
  } finally {
    aside?.end();
  }
}

/** @throws StoreUnavailable when it is unknown whether COMMIT stored it */
async function fill(db: Database, parts: AsyncIterable<Part<Pet>>, contract: string): Promise<void> {
  db.exec('BEGIN IMMEDIATE');
  checkEmpty(db);
  // Of pets that are gone: their ids may be given to others now.
  db.exec('DELETE FROM idempotency_keys');
  const columns = FIELDS.map((field) => COLUMNS[field].column);
  const insert = db.prepare<unknown[]>(`INSERT INTO pets (${columns}) VALUES (${columns.map(() => '?')})`);
  const keys = prepareKeys(db);
  let lastId = 0n;
  for await (const part of parts) {
    lastId = part.lastId || lastId;
    for (const key of part.keys) keys.insert(key);
    for (const pet of part.pets) insert.run(FIELDS.map((field) => pet[field] ?? null));
  }
  keepIdsAbove(db, lastId);
  db.prepare<[string]>('UPDATE passed_check SET contract = ?').run(contract);
  try {
    db.exec('COMMIT');
  } catch (error) {
    throw toTransactionError(error, true);
  }
}

function checkEmpty(db: Database): void {
  const select = db.prepare<[], string>(`
    SELECT 'pets' WHERE EXISTS (SELECT 1 FROM pets) UNION ALL SELECT 'keys' WHERE EXISTS (SELECT 1 FROM api_keys)`);
  const held = select.pluck().all();
  if (held.length > 0) throw new StoreError(`The database has ${held.join(' and ')} already, and must be empty.`);
}

/** The next pet gets a higher id than this, and than any that was ever given here. */
function keepIdsAbove(db: Database, id: bigint): void {
  db.exec(`
    INSERT INTO sqlite_sequence (name, seq)
    SELECT 'pets', 0 WHERE NOT EXISTS (SELECT 1 FROM sqlite_sequence WHERE name = 'pets')`);
  db.prepare<[bigint]>("UPDATE sqlite_sequence SET seq = max(seq, ?) WHERE name = 'pets'").run(id);
}
