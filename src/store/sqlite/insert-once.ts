/** Writes records with an Idempotency-Key: each key's record once. To be called in the transaction of other writes. */
import type { Database } from 'better-sqlite3';
import type { Outcome } from '../once.ts';
import { StoreUnavailable } from '../store.ts';
import { type Insert, MAX_ID, toRows } from './insert.ts';

/** A record's values in JSON, and before them what is kept of its key. */
export type KeyedRow = [caller: string, operation: string, key: string, digest: string, hours: number, row: string];

type KnownRow = [id: bigint, isSame: bigint];

const NO_ID = new Error('every id is given');

export function prepareInsertOnce(db: Database, { insert, lastId }: Insert): (keyed: KeyedRow[]) => Outcome[] {
  // Each by itself: with binding, that takes half the time of reading all of them from one text.
  const claim = db.prepare<
    [id: bigint, caller: string, operation: string, key: string, digest: string, hours: number]
  >(`
    INSERT INTO idempotency_keys (record_id, caller, operation, key, digest, expires_at)
    VALUES (?, ?, ?, ?, ?, unixepoch() + 3600 * ?)
    ON CONFLICT (caller, operation, key) DO UPDATE
    SET record_id = excluded.record_id, digest = excluded.digest, expires_at = excluded.expires_at
    WHERE expires_at <= unixepoch()`);
  const selectKnown = db
    .prepare<[digest: string, caller: string, operation: string, key: string], KnownRow>(
      'SELECT record_id, digest = ? FROM idempotency_keys WHERE caller = ? AND operation = ? AND key = ?',
    )
    .raw();
  // One more than come: so they become fewer, and no write waits for many.
  const forget = db.prepare<[number]>(`
    DELETE FROM idempotency_keys
    WHERE record_id IN (
      SELECT record_id FROM idempotency_keys WHERE expires_at <= unixepoch() ORDER BY expires_at LIMIT ?)`);

  return (keyed) => {
    const rows: string[] = [];
    const last = lastId();
    if (last > MAX_ID - BigInt(keyed.length)) throw new StoreUnavailable(NO_ID, 'ids_used_up');
    let id = last + 1n;
    const outcomes = keyed.map(([caller, operation, key, digest, hours, row]): Outcome => {
      if (claim.run(id, caller, operation, key, digest, hours).changes > 0) {
        rows.push(row);
        return id++;
      }
      const [known, isSame] = selectKnown.get(digest, caller, operation, key) as KnownRow;
      return { id: known, isSame: isSame === 1n };
    });
    insert(toRows(rows));
    forget.run(keyed.length + 1);
    return outcomes;
  };
}
