/** What a start would find in a schema of PostgreSQL. */
import type { AnyDomain } from '../description.ts';
import { loadParts, newestOf } from '../migrations.ts';
import type { Inspection } from '../store.ts';
import type { Row } from './connection.ts';
import { quote } from './names.ts';
import { buildConnect } from './primary.ts';
import type { PostgresSettings } from './settings.ts';

/** How long each step may take, in milliseconds. */
const TIMEOUT = 10_000;

/** @throws Error that says why no server can be used */
export async function inspectPostgres(settings: PostgresSettings, domain: AnyDomain): Promise<Inspection> {
  const newest = newestOf(loadParts('postgres', domain));
  const connection = await buildConnect(settings)({ toConnect: TIMEOUT, toAnswer: TIMEOUT });
  try {
    const row = async (sql: string, values?: unknown[]) => (await connection.query(sql, values))[0] as Row;
    const schema = quote(settings.schema);
    const [encoding, versions, table] = await row(
      "SELECT current_setting('server_encoding'), to_regclass($1), to_regclass($2)",
      [`${schema}.schema_versions`, `${schema}.api_keys`],
    );
    if (encoding !== 'UTF8') throw new Error('its encoding is not UTF8');
    const [version] = versions ? await row(`SELECT sum(version) FROM ${schema}.schema_versions`) : ['0'];
    const count = `SELECT count(*), count(*) FILTER (WHERE revoked_at IS NULL AND coalesce(expires_at > $1, true)) FROM ${schema}.api_keys`;
    const [keys, validKeys] = table ? await row(count, [new Date().toISOString()]) : ['0', '0'];
    return { version: Number(version), newest, validKeys: Number(validKeys), keys: Number(keys) };
  } finally {
    connection.end();
  }
}
