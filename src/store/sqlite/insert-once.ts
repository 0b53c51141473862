/** Writes pets with an Idempotency-Key: each key's pet once. To be called in the transaction of other pets. */
import type { Database } from 'better-sqlite3';
import type { Known } from '../once.ts';
import type { Rows } from './insert.ts';

export interface InsertedOnce {
  /** The id of the first pet; that of each other is as much higher as its place is. */
  first: bigint;
  /** Those that are not new, by their places. */
  known: Map<number, Known>;
}

/** `values` are those of the columns `names`, in a row's JSON; the key's come after them. */
export function prepareInsertOnce(db: Database, names: string[], values: string[]): (rows: Rows) => InsertedOnce {
  const [caller, key, digest, hours] = [0, 1, 2, 3].map((index) => `value ->> ${names.length + index}`);
  const lastId = db.prepare<[], bigint>("SELECT seq FROM sqlite_sequence WHERE name = 'pets'").pluck();
  // Keys first: one that is known keeps its pet, and so does the first of those that are there twice. The ids of the others are lost.
  const claim = db.prepare<{ first: bigint; text: string }>(`
    INSERT INTO idempotency_keys (pet_id, caller, key, digest, expires_at)
    SELECT @first + key, ${caller}, ${key}, ${digest}, unixepoch() + 3600 * (${hours}) FROM json_each(@text) WHERE true
    ON CONFLICT (caller, key) DO UPDATE
    SET pet_id = excluded.pet_id, digest = excluded.digest, expires_at = excluded.expires_at
    WHERE expires_at <= unixepoch()`);
  const insert = db.prepare<{ first: bigint; text: string }>(`
    INSERT INTO pets (id, ${names})
    SELECT pet_id, ${values} FROM json_each(@text) AS asked CROSS JOIN idempotency_keys ON pet_id = @first + asked.key`);
  const selectKnown = db
    .prepare<{ first: bigint; text: string }, [place: bigint, id: bigint, isSame: bigint]>(`
      SELECT asked.key, pet_id, digest = (${digest})
      FROM json_each(@text) AS asked CROSS JOIN idempotency_keys AS known ON known.caller = (${caller}) AND known.key = (${key})
      WHERE pet_id <> @first + asked.key`)
    .raw();
  // One more than come: so they become fewer, and no write waits for many.
  const forget = db.prepare<[number]>(`
    DELETE FROM idempotency_keys
    WHERE pet_id IN (
      SELECT pet_id FROM (SELECT pet_id, expires_at FROM idempotency_keys ORDER BY pet_id LIMIT ?)
      WHERE expires_at <= unixepoch())`);

  return ({ count, text }) => {
    const first = (lastId.get() ?? 0n) + 1n;
    claim.run({ first, text });
    const isNew = insert.run({ first, text }).changes === count;
    const known = isNew ? [] : selectKnown.all({ first, text });
    forget.run(count + 1);
    return {
      first,
      known: new Map(known.map(([place, id, isSame]) => [Number(place), { id, isSame: isSame === 1n }])),
    };
  };
}
