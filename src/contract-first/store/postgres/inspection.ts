/** Inspects a schema of PostgreSQL for `--check`. */
import type { AnyDomain } from '../description.ts';
import type { Inspection } from '../store.ts';
import { planToMigrate } from './migrate.ts';
import { quote } from './names.ts';
import { buildConnect } from './primary.ts';
import type { PostgresSettings } from './settings.ts';

/** How long each step may take, in milliseconds. */
const TIMEOUT = 10_000;

/** @throws Error that says why no server can be used, or why a start would fail */
export async function inspectPostgres(settings: PostgresSettings, domain: AnyDomain): Promise<Inspection> {
  const connection = await buildConnect(settings)({ toConnect: TIMEOUT, toAnswer: TIMEOUT });
  try {
    await connection.query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY');
    const planned = await planToMigrate(connection, settings.schema, domain);
    if (planned.version === 0) return { ...planned, validKeys: 0, keys: 0 };
    const count = `SELECT count(*), count(*) FILTER (WHERE revoked_at IS NULL AND coalesce(expires_at > $1, true))
      FROM ${quote(settings.schema)}.api_keys`;
    const [[keys, validKeys]] = (await connection.query(count, [new Date().toISOString()])) as [[string, string]];
    return { ...planned, validKeys: Number(validKeys), keys: Number(keys) };
  } finally {
    connection.end();
  }
}
