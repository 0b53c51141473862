/** Writes pets with an Idempotency-Key: each key's pet once, all that wait in one statement. */
import { NEW_FIELDS } from '../columns.ts';
import type { Keyed, Outcome } from '../once.ts';
import type { NewPet } from '../store.ts';
import { toArrays, toArraysSql } from './arrays.ts';
import type { AskAll } from './gathering.ts';
import { blameOne } from './insert.ts';

export interface KeyedPet {
  pet: NewPet;
  keyed: Keyed;
}

export function buildInsertOnce(schema: string): AskAll<KeyedPet, Outcome | Error> {
  const sql = buildSql(schema);
  return blameOne(async (connection, creates) => {
    const rows = await connection.query(sql, [
      ...toArrays(
        NEW_FIELDS,
        creates.map(({ pet }) => pet),
      ),
      creates.map(({ keyed }) => keyed.caller),
      creates.map(({ keyed }) => keyed.key),
      creates.map(({ keyed }) => keyed.digest),
      creates.map(({ keyed }) => keyed.hours),
      creates.length + 1,
    ]);
    return rows.map(([id, isNew, isSame]) =>
      isNew === 't' ? BigInt(id as string) : { id: BigInt(id as string), isSame: isSame === 't' },
    );
  });
}

/**
 * Keys first: one that is known keeps its pet, and so does the first of those that are there twice; the ids of the others are lost. What
 * another has committed meanwhile is no part of what the statement sees, but INSERT finds it all the same, and returns it by an update
 * that changes nothing. The turn is taken before ids are given, as by every INSERT of pets.
 */
function buildSql(schema: string): string {
  const { columns, arrays } = toArraysSql(NEW_FIELDS);
  const next = NEW_FIELDS.length + 1;
  const keys = `${schema}.idempotency_keys`;
  const pets = `'${`${schema}.pets`.replaceAll("'", "''")}'`;
  const claimed = ['pet_id', 'digest', 'expires_at'].map(
    (column) => `${column} = CASE WHEN known.expires_at > now() THEN known.${column} ELSE excluded.${column} END`,
  );
  return `
    WITH turn AS MATERIALIZED (SELECT pg_advisory_xact_lock(${pets}::regclass::oid::bigint)),
    asked AS MATERIALIZED (
      SELECT given.*, nextval(pg_get_serial_sequence(${pets}, 'id')) AS id
      FROM turn,
        unnest(${arrays}, $${next}::text[], $${next + 1}::text[], $${next + 2}::text[], $${next + 3}::int[])
        WITH ORDINALITY AS given (${columns}, caller, key, digest, hours, place)
    ),
    claimed AS (
      INSERT INTO ${keys} AS known (pet_id, caller, key, digest, expires_at)
      SELECT DISTINCT ON (caller, key) id, caller, key, digest, now() + hours * interval '1 hour'
      FROM asked ORDER BY caller, key, place
      ON CONFLICT (caller, key) DO UPDATE SET ${claimed}
      RETURNING pet_id, caller, key, digest
    ),
    added AS (
      INSERT INTO ${schema}.pets (id, ${columns})
      SELECT id, ${columns} FROM asked JOIN claimed ON claimed.pet_id = asked.id
    ),
    forgotten AS (
      DELETE FROM ${keys} AS known
      WHERE pet_id IN (
        SELECT pet_id FROM (SELECT pet_id, expires_at FROM ${keys} ORDER BY pet_id LIMIT $${next + 4}) AS oldest
        WHERE expires_at <= now())
      AND NOT EXISTS (SELECT FROM asked WHERE asked.caller = known.caller AND asked.key = known.key)
    )
    SELECT claimed.pet_id, claimed.pet_id = asked.id, claimed.digest = asked.digest
    FROM asked JOIN claimed ON claimed.caller = asked.caller AND claimed.key = asked.key
    ORDER BY asked.place`;
}
