/** What a start would find in a schema of PostgreSQL. */
import type { Inspection } from '../store.ts';
import type { Row } from './connection.ts';
import { loadMigrations } from './migrate.ts';
import { quote } from './names.ts';
import type { PostgresPlace } from './place.ts';
import { buildConnect } from './primary.ts';

/** How long each step may take, in milliseconds. */
const TIMEOUT = 10_000;

/** @throws Error that says why no server can be used */
export async function inspectPostgres(place: PostgresPlace): Promise<Inspection> {
  const newest = loadMigrations().length;
  const connection = await buildConnect(place)({ toConnect: TIMEOUT, toAnswer: TIMEOUT });
  try {
    const row = async (sql: string, values?: unknown[]) => (await connection.query(sql, values))[0] as Row;
    const schema = quote(place.schema);
    const [encoding, versions, table] = await row(
      "SELECT current_setting('server_encoding'), to_regclass($1), to_regclass($2)",
      [`${schema}.schema_version`, `${schema}.api_keys`],
    );
    if (encoding !== 'UTF8') throw new Error('its encoding is not UTF8');
    const [version] = versions ? await row(`SELECT version FROM ${schema}.schema_version`) : ['0'];
    const count = `SELECT count(*), count(*) FILTER (WHERE revoked_at IS NULL AND coalesce(expires_at > $1, true)) FROM ${schema}.api_keys`;
    const [keys, validKeys] = table ? await row(count, [new Date().toISOString()]) : ['0', '0'];
    return { version: Number(version), newest, validKeys: Number(validKeys), keys: Number(keys) };
  } finally {
    connection.end();
  }
}
