/** Writes pets in one transaction: all of them or none, one fsync however many they are (group commit). */
import type { Database } from 'better-sqlite3';
import { COLUMNS, NEW_FIELDS } from '../columns.ts';
import type { Keyed, Outcome } from '../once.ts';
import type { NewPet } from '../store.ts';
import { type InsertedOnce, prepareInsertOnce } from './insert-once.ts';
import { inTransaction } from './transaction.ts';

/** Pets as one text: it is copied to another thread, and written by one statement, in half the time of a value each. */
export interface Rows {
  count: number;
  /** A JSON array of arrays: the values of each pet, in the order of NEW_FIELDS, and then those of its key. */
  text: string;
}

export interface Batch {
  rows: Rows;
  /** Those with a key; undefined where there are none. */
  keyed: Rows | undefined;
}

/** The ids of the pets: those without a key have this one and those after it. */
export interface Inserted {
  first: bigint;
  keyed?: InsertedOnce | undefined;
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
  const keyed: string[] = [];
  for (const create of creates) {
    if (create.keyed) keyed.push(toRow(create.pet, create.keyed));
    else rows.push(toRow(create.pet));
  }
  return { rows: toRows(rows), keyed: keyed.length > 0 ? toRows(keyed) : undefined };
}

const toRows = (rows: string[]): Rows => ({ count: rows.length, text: `[${rows.join()}]` });

function toRow(pet: NewPet, keyed?: Keyed): string {
  let row = '';
  for (const field of NEW_FIELDS) row += `${row === '' ? '[' : ','}${toJson(pet, field)}`;
  if (keyed) row += `,${JSON.stringify([keyed.caller, keyed.key, keyed.digest, keyed.hours]).slice(1, -1)}`;
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
  return (create) => (create.keyed ? outcomeAt(place++, keyed as InsertedOnce) : id++);
}

const outcomeAt = (place: number, { first, known }: InsertedOnce): Outcome => known.get(place) ?? first + BigInt(place);

export function prepareInsertPets(db: Database): InsertPets {
  const names = NEW_FIELDS.map((field) => COLUMNS[field].column);
  const values = names.map((_name, index) => `value ->> ${index}`);
  // json_each gives the pets in their order. While the statement runs nobody else writes, so their ids have no gaps.
  const insert = db.prepare<[string]>(`INSERT INTO pets (${names}) SELECT ${values} FROM json_each(?)`);
  const insertOnce = prepareInsertOnce(db, names, values);
  return inTransaction(db, ({ rows: { count, text }, keyed }: Batch) => {
    const first = count > 0 ? (insert.run(text).lastInsertRowid as bigint) - BigInt(count) + 1n : 0n;
    return { first, keyed: keyed && insertOnce(keyed) };
  });
}
