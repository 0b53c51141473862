/** Writes records with an Idempotency-Key: each key's record once, all that wait in one statement. */
import type { Fields } from '../collection.ts';
import type { Keyed, Outcome } from '../once.ts';
import type { Table } from '../table.ts';
import { toArrays, toArraysSql } from './arrays.ts';
import type { AskAll } from './gathering.ts';
import { blameOne } from './insert.ts';

export interface KeyedRecord {
  record: Fields;
  keyed: Keyed;
}

const KEY_FIELDS = ['caller', 'operation', 'key', 'digest', 'hours'] as const;

export function buildInsertOnce(schema: string, table: Table): AskAll<KeyedRecord, Outcome | Error> {
  const sql = buildSql(schema, table);
  return blameOne(async (connection, creates) => {
    const records = creates.map(({ record }) => record);
    const rows = await connection.query(sql, [
      ...toArrays(table.newFields, records),
      ...KEY_FIELDS.map((name) => creates.map(({ keyed }) => keyed[name])),
      creates.length + 1,
    ]);
    return rows.map(([id, isNew, isSame]) =>
      isNew === 't' ? BigInt(id as string) : { id: BigInt(id as string), isSame: isSame === 't' },
    );
  });
}

/**
 * Keys first: one that is known keeps its record, and so does the first of those that are there twice; the ids of the others are lost.
 * What another has committed meanwhile is no part of what the statement sees, but INSERT finds it all the same, and returns it by an
 * update that changes nothing. The lock is taken before ids are given, as by every INSERT of records.
 */
function buildSql(schema: string, { name, newFields }: Table): string {
  const { columns, arrays } = toArraysSql(newFields);
  const next = newFields.length + 1;
  const keys = `${schema}.idempotency_keys`;
  const records = `'${`${schema}.${name}`.replaceAll("'", "''")}'`;
  const lock = `'${schema.replaceAll("'", "''")}'::regnamespace::oid::bigint`;
  const claimed = ['record_id', 'digest', 'expires_at'].map(
    (column) => `${column} = CASE WHEN known.expires_at > now() THEN known.${column} ELSE excluded.${column} END`,
  );
  return `
    WITH locked AS MATERIALIZED (SELECT pg_advisory_xact_lock(${lock})),
    asked AS MATERIALIZED (
      SELECT given.*, nextval(pg_get_serial_sequence(${records}, 'id')) AS _id
      FROM locked,
        unnest(${arrays}, $${next}::text[], $${next + 1}::text[], $${next + 2}::text[], $${next + 3}::text[], $${next + 4}::int[])
        WITH ORDINALITY AS given (${columns}, _caller, _operation, _key, _digest, _hours, _place)
    ),
    claimed AS (
      INSERT INTO ${keys} AS known (record_id, caller, operation, key, digest, expires_at)
      SELECT DISTINCT ON (_caller, _operation, _key)
        _id, _caller, _operation, _key, _digest, now() + _hours * interval '1 hour'
      FROM asked ORDER BY _caller, _operation, _key, _place
      ON CONFLICT (caller, operation, key) DO UPDATE SET ${claimed}
      RETURNING known.*
    ),
    added AS (
      INSERT INTO ${schema}.${name} (id, ${columns})
      SELECT _id, ${newFields.map(({ column }) => `asked.${column}`)} FROM asked JOIN claimed ON record_id = _id
    ),
    forgotten AS (
      DELETE FROM ${keys} AS known
      WHERE record_id IN (
        SELECT record_id FROM ${keys} WHERE expires_at <= now() ORDER BY expires_at LIMIT $${next + 5})
      AND NOT EXISTS (
        SELECT FROM asked WHERE _caller = known.caller AND _operation = known.operation AND _key = known.key)
    )
    SELECT record_id, record_id = _id, claimed.digest = _digest
    FROM asked JOIN claimed ON claimed.caller = _caller AND claimed.operation = _operation AND claimed.key = _key
    ORDER BY _place`;
}
