/** Writes pets with an Idempotency-Key: each key's pet once. To be called in the transaction of other pets. */
import type { Database } from 'better-sqlite3';
import type { Outcome } from '../once.ts';

/** A pet's values in JSON, and before them what is kept of its key. */
export type KeyedRow = [caller: string, key: string, digest: string, hours: number, row: string];

type KnownRow = [id: bigint, isSame: bigint];

/** `insertRows` writes such rows, and gives them the ids that follow the last one. */
export function prepareInsertOnce(
  db: Database,
  insertRows: (rows: string[]) => void,
): (keyed: KeyedRow[]) => Outcome[] {
  // The one after it comes next (https://www.sqlite.org/autoinc.html), also where somebody has edited sqlite_sequence.
  const lastId = db
    .prepare<[], bigint>(`
      SELECT max(id) FROM (SELECT 0 AS id UNION ALL SELECT seq FROM sqlite_sequence WHERE name = 'pets'
                           UNION ALL SELECT max(id) FROM pets)`)
    .pluck();
  // Each by itself: with binding, that takes half the time of reading all of them from one text.
  const claim = db.prepare<[id: bigint, caller: string, key: string, digest: string, hours: number]>(`
    INSERT INTO idempotency_keys (pet_id, caller, key, digest, expires_at)
    VALUES (?, ?, ?, ?, unixepoch() + 3600 * ?)
    ON CONFLICT (caller, key) DO UPDATE
    SET pet_id = excluded.pet_id, digest = excluded.digest, expires_at = excluded.expires_at
    WHERE expires_at <= unixepoch()`);
  const selectKnown = db
    .prepare<[digest: string, caller: string, key: string], KnownRow>(
      'SELECT pet_id, digest = ? FROM idempotency_keys WHERE caller = ? AND key = ?',
    )
    .raw();
  // One more than come: so they become fewer, and no write waits for many.
  const forget = db.prepare<[number]>(`
    DELETE FROM idempotency_keys
    WHERE pet_id IN (
      SELECT pet_id FROM (SELECT pet_id, expires_at FROM idempotency_keys ORDER BY pet_id LIMIT ?)
      WHERE expires_at <= unixepoch())`);

  function toKnown(caller: string, key: string, digest: string): Outcome {
    const [id, isSame] = selectKnown.get(digest, caller, key) as KnownRow;
    return { id, isSame: isSame === 1n };
  }

  return (keyed) => {
    const rows: string[] = [];
    let id = (lastId.get() as bigint) + 1n;
    const outcomes = keyed.map(([caller, key, digest, hours, row]) => {
      if (claim.run(id, caller, key, digest, hours).changes === 0) return toKnown(caller, key, digest);
      rows.push(row);
      return id++;
    });
    insertRows(rows);
    forget.run(keyed.length + 1);
    return outcomes;
  };
}
