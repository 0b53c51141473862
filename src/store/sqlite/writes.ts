/** All writes that wait, in one transaction: all of them or none, one fsync however many they are (group commit). */
import type { Database } from 'better-sqlite3';
import type { Outcome } from '../once.ts';
import type { Table } from '../table.ts';
import type { Write, WriteOutcome } from '../write.ts';
import { type Edit, prepareEdit } from './edit.ts';
import { prepareInsert, type Rows, toRows } from './insert.ts';
import { type KeyedRow, prepareInsertOnce } from './insert-once.ts';
import { inTransaction } from './transaction.ts';
import { toRow } from './values.ts';

export interface Batch {
  /** Those that are added without a key. */
  rows: Rows;
  /** And with one. */
  keyed: KeyedRow[];
  edits: Edit[];
}

/** What the writes of a batch have come to. */
export interface Written {
  /** The id of the first record without a key; those after it have the next ones. */
  first: bigint;
  keyed: Outcome[];
  edits: boolean[];
}

export function toBatch({ newFields }: Table, writes: readonly Write[]): Batch {
  const rows: string[] = [];
  const keyed: KeyedRow[] = [];
  const edits: Edit[] = [];
  for (const { id, record, keyed: once } of writes) {
    const row = record && toRow(newFields, record);
    if (id !== undefined) edits.push([id, row ?? null]);
    else if (once) keyed.push([once.caller, once.operation, once.key, once.digest, once.hours, row as string]);
    else rows.push(row as string);
  }
  return { rows: toRows(rows), keyed, edits };
}

/** Says of each write of the batch what it has come to. */
export function toOutcomes(writes: readonly Write[], { first, keyed, edits }: Written): WriteOutcome[] {
  let [next, nextKeyed, nextEdit] = [first, 0, 0];
  return writes.map((write) => {
    if (write.id !== undefined) return edits[nextEdit++] as boolean;
    return write.keyed ? (keyed[nextKeyed++] as Outcome) : next++;
  });
}

/** @throws StoreUnavailable when it is unknown whether COMMIT stored them, or there are not enough ids */
export function prepareWriteAll(db: Database, table: Table): (batch: Batch) => Written {
  const insert = prepareInsert(db, table);
  const insertOnce = prepareInsertOnce(db, insert);
  const edit = prepareEdit(db, table);
  return inTransaction(db, ({ rows, keyed, edits }: Batch) => ({
    first: insert.insert(rows),
    keyed: keyed.length > 0 ? insertOnce(keyed) : [],
    edits: edit(edits),
  }));
}
