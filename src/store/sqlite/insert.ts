/** Writes pets in one transaction: all of them or none, one fsync however many they are (group commit). */
import type { Database } from 'better-sqlite3';
import { COLUMNS, NEW_FIELDS } from '../columns.ts';
import type { Keyed, Outcome } from '../once.ts';
import type { NewPet } from '../store.ts';
import { type KeyedRow, prepareInsertOnce } from './insert-once.ts';
import { inTransaction } from './transaction.ts';

/** Pets as one text: it is copied to another thread, and written by one statement, in half the time of a value each. */
export interface Rows {
  count: number;
  /** A JSON array of arrays: the values of each pet, in the order of NEW_FIELDS. */
  text: string;
}

export interface Batch {
  rows: Rows;
  /** Those with a key. */
  keyed: KeyedRow[];
}

export interface Inserted {
  /** The id of the first pet without a key; those after it have the next ones. */
  first: bigint;
  /** What those with a key have come to. */
  keyed: Outcome[];
}

/** A create that waits. */
export interface Create {
  pet: NewPet;
  keyed: Keyed | undefined;
}

/** @throws StoreUnavailable when it is unknown whether COMMIT stored them */
export type InsertPets = (batch: Batch) => Inserted;

export function toBatch(creates: readonly Create[]): Batch {
  const rows: string[] = [];
  const keyed: KeyedRow[] = [];
  for (const { pet, keyed: once } of creates) {
    const row = toRow(pet);
    if (once) keyed.push([once.caller, once.key, once.digest, once.hours, row]);
    else rows.push(row);
  }
  return { rows: toRows(rows), keyed };
}

const toRows = (rows: string[]): Rows => ({ count: rows.length, text: `[${rows.join()}]` });

function toRow(pet: NewPet): string {
  let row = '';
  for (const field of NEW_FIELDS) row += `${row === '' ? '[' : ','}${toJson(pet, field)}`;
  return `${row}]`;
}

/** JSON.stringify knows no bigint. */
function toJson(pet: NewPet, field: keyof NewPet): string {
  const value = pet[field];
  if (value === undefined) return 'null';
  return COLUMNS[field].type === 'text' ? JSON.stringify(value) : String(value);
}

/** Says what each create of the batch has come to, one after the other. */
export function readOutcomes({ first, keyed }: Inserted): (create: Create) => Outcome {
  let id = first;
  let place = 0;
  return (create) => (create.keyed ? (keyed[place++] as Outcome) : id++);
}

export function prepareInsertPets(db: Database): InsertPets {
  const names = NEW_FIELDS.map((field) => COLUMNS[field].column);
  const values = names.map((_name, index) => `value ->> ${index}`);
  // json_each gives the pets in their order. While the statement runs nobody else writes, so their ids have no gaps.
  const insert = db.prepare<[string]>(`INSERT INTO pets (${names}) SELECT ${values} FROM json_each(?)`);
  const insertRows = ({ count, text }: Rows) =>
    count > 0 ? (insert.run(text).lastInsertRowid as bigint) - BigInt(count) + 1n : 0n;
  const insertOnce = prepareInsertOnce(db, (rows) => insertRows(toRows(rows)));
  return inTransaction(db, ({ rows, keyed }: Batch) => {
    const first = insertRows(rows);
    return { first, keyed: keyed.length > 0 ? insertOnce(keyed) : [] };
  });
}
