/** Brings a schema of a database to this program's version. Forward only: that of a newer program is refused, never changed. */
import { readMigrations } from '../migrations.ts';
import type { Connection } from './connection.ts';
import { quote } from './names.ts';

const MIGRATIONS = new URL('migrations/', import.meta.url);

export const loadMigrations = () => readMigrations(MIGRATIONS);

/**
 * Programs that start at once take turns, so that each migration runs once.
 * @throws Error when the version is newer than the program's; any error leaves the database as it was
 */
export async function migrate(connection: Connection, schema: string, migrations: string[]): Promise<void> {
  const one = async (sql: string, values?: unknown[]) => (await connection.query(sql, values))[0]?.[0];
  if ((await one('SHOW server_encoding')) !== 'UTF8') throw new Error('its encoding is not UTF8');
  await connection.query('BEGIN ISOLATION LEVEL READ COMMITTED');
  await connection.query('SET LOCAL statement_timeout = 0');
  await connection.query('SELECT pg_advisory_xact_lock(hashtextextended($1, 0))', [`petstore migrations ${schema}`]);
  if (!(await one('SELECT to_regnamespace($1)', [quote(schema)]))) {
    await connection.query(`CREATE SCHEMA ${quote(schema)}`);
  }
  await connection.query(`SET LOCAL search_path = ${quote(schema)}`);
  if (!(await one("SELECT to_regclass('schema_version')"))) {
    await connection.query('CREATE TABLE schema_version AS SELECT 0 AS version');
  }
  const version = Number(await one('SELECT version FROM schema_version'));
  if (version > migrations.length) {
    throw new Error(`its schema has version ${version}, and this program knows ${migrations.length} at most`);
  }
  for (const sql of migrations.slice(version)) await connection.query(sql);
  await connection.query('UPDATE schema_version SET version = $1 WHERE version < $1', [migrations.length]);
  await connection.query('COMMIT');
}
