/** Migrates a schema to this program's version. Forward only: a schema of a newer program is refused, and never changed. */

import { checkColumns, checkConstraints, type FoundConstraints, isConstrained } from '../columns.ts';
import type { AnyDomain } from '../description.ts';
import {
  checkVersions,
  isCurrent,
  loadParts,
  newestOf,
  numberOf,
  type Part,
  pendingOf,
  refuseTables,
  tablesMadeBy,
} from '../migrations.ts';
import { type Migrated, StoreUnavailable } from '../store.ts';
import { type Table, toTables } from '../table.ts';
import type { Connection } from './connection.ts';
import { quote, toCompared } from './names.ts';
import { toTriggersSql } from './triggers.ts';

/** How long to wait for locks, in milliseconds. */
export interface LockTimeouts {
  /** For another program that migrates the same schema. */
  migration: number;
  /** For a lock on a table: statements of running servers queue behind it, and must be answered in time. */
  table: number;
}

const TYPES = {
  ...{ int64: 'bigint', int32: 'integer', number: 'double precision', boolean: 'boolean' },
  ...{ text: 'text', uuid: 'text', time: 'text', json: 'text' },
};

const LOCK_TIMEOUTS: LockTimeouts = { migration: 30_000, table: 500 };

/** SQLSTATE: a lock was not free in time. */
const LOCKED = '55P03';

/**
 * Undefined if nothing was to do.
 * @throws Error when the schema cannot be migrated, or a lock is not free; the database is then unchanged
 */
export async function migrate(
  connection: Connection,
  schema: string,
  domain: AnyDomain,
): Promise<Migrated | undefined> {
  const tables = toTables(domain);
  const migrated = await migrateParts(connection, schema, loadParts('postgres', domain), async () => {
    for (const table of tables) {
      checkColumns(table, await readColumns(connection, table), TYPES);
      await connection.query(toTriggersSql(table)).catch(failAt('its trigger needs a lock that another session has'));
    }
    await checkTables(connection, schema, tables);
  });
  // The description may have been changed since the last migration.
  await checkTables(connection, schema, tables);
  return migrated;
}

/** Returns the versions that `migrate` would go from and to. @throws Error that says why it would fail */
export async function tryMigrate(connection: Connection, schema: string, domain: AnyDomain): Promise<Migrated> {
  const parts = loadParts('postgres', domain);
  await checkEncoding(connection);
  const versions = await readVersions(connection, schema);
  await checkMigrations(connection, schema, versions, parts);
  if (isCurrent(versions, parts)) await checkTables(connection, schema, toTables(domain));
  return { from: numberOf(versions), to: newestOf(parts) };
}

async function checkTables(connection: Connection, schema: string, tables: readonly Table[]): Promise<void> {
  for (const table of tables.filter(isConstrained))
    checkConstraints(table, await readConstraints(connection, schema, table), toCompared);
}

async function readConstraints(connection: Connection, schema: string, { name }: Table): Promise<FoundConstraints> {
  const all = async (sql: string) =>
    (await connection.query(sql, [`${quote(schema)}.${name}`])).map(([text]) => String(text));
  return {
    unique: await all(`
      SELECT (SELECT string_agg(replace(pg_get_indexdef(indexrelid, place, true), '"', ''), ',')
        FROM generate_series(1, indnkeyatts) AS place)
      FROM pg_index WHERE indrelid = to_regclass($1) AND indisunique AND indpred IS NULL`),
    references: await all(`
      SELECT (SELECT string_agg(attname, ',') FROM pg_attribute WHERE attrelid = conrelid AND attnum = ANY (conkey))
        || ' ' || relname || CASE confdeltype WHEN 'c' THEN ' CASCADE' ELSE '' END
      FROM pg_constraint JOIN pg_class ON pg_class.oid = confrelid
      WHERE conrelid = to_regclass($1) AND contype = 'f'`),
  };
}

/** The columns of the table, found by the search path. */
async function readColumns(connection: Connection, { name }: Table) {
  const rows = await connection.query(
    `SELECT attname, format_type(atttypid, NULL), attnotnull FROM pg_attribute
      WHERE attrelid = to_regclass($1) AND attnum > 0 AND NOT attisdropped`,
    [name],
  );
  return rows.map(([name, type, notNull]) => ({ name: String(name), type: String(type), isNotNull: notNull === 't' }));
}

/** Holds a lock, so that of programs that start at once only one migrates. `finish` is called after any migration. */
export async function migrateParts(
  connection: Connection,
  schema: string,
  parts: readonly Part[],
  finish = async () => {},
  timeouts = LOCK_TIMEOUTS,
): Promise<Migrated | undefined> {
  await checkEncoding(connection);
  const found = await readVersions(connection, schema);
  checkVersions(found, parts);
  if (isCurrent(found, parts)) return undefined;
  await connection.query('BEGIN ISOLATION LEVEL READ COMMITTED');
  await connection.query(`SET LOCAL statement_timeout = 0; SET LOCAL lock_timeout = ${timeouts.migration}`);
  const lock = 'SELECT pg_advisory_xact_lock(hashtextextended($1, 0))';
  await connection
    .query(lock, [`petstore migrations ${schema}`])
    .catch(failAt(`another program has migrated it for ${timeouts.migration} ms`));
  await connection.query(`SET LOCAL lock_timeout = ${timeouts.table}`);
  const before = await run(connection, schema, parts);
  await finish();
  await connection.query('COMMIT');
  return { from: numberOf(before), to: newestOf(parts) };
}

async function checkEncoding(connection: Connection): Promise<void> {
  const [[encoding]] = (await connection.query('SHOW server_encoding')) as [[string]];
  if (encoding !== 'UTF8') throw new Error('its encoding is not UTF8');
}

/** Runs the pending migrations, and returns the versions before. */
async function run(connection: Connection, schema: string, parts: readonly Part[]): Promise<Map<string, number>> {
  const versions = await readVersions(connection, schema);
  await checkMigrations(connection, schema, versions, parts);
  const [there] = await connection.query('SELECT FROM pg_namespace WHERE nspname = $1', [schema]);
  if (!there) await connection.query(`CREATE SCHEMA ${quote(schema)}`);
  await connection.query(`SET LOCAL search_path = ${quote(schema)}`);
  if (versions.size === 0)
    await connection.query('CREATE TABLE schema_versions (part text PRIMARY KEY, version int NOT NULL)');
  for (const { name, migrations } of parts) {
    for (const [index, sql] of [...migrations.entries()].slice(versions.get(name))) {
      const place = `migration ${index + 1} (${name}) needs a lock that another session has`;
      await connection.query(sql).catch(failAt(place));
    }
    const upsert = `INSERT INTO schema_versions VALUES ($1, $2) ON CONFLICT (part) DO UPDATE SET version = $2`;
    await connection.query(upsert, [name, migrations.length]);
  }
  return versions;
}

/** The table with the version in an earlier layout. */
const EARLIER = 'schema_version';

/** Checks that the pending migrations can be run. The schema may have other tables, but none that a migration creates. */
async function checkMigrations(
  connection: Connection,
  schema: string,
  versions: ReadonlyMap<string, number>,
  parts: readonly Part[],
): Promise<void> {
  checkVersions(versions, parts);
  if (isCurrent(versions, parts)) return;
  const made = tablesMadeBy(pendingOf(versions, parts));
  const tables = versions.size === 0 ? [...made, EARLIER] : made;
  const found = await connection.query(
    `SELECT relname FROM pg_class WHERE relname = ANY ($2::text[])
      AND relnamespace = (SELECT oid FROM pg_namespace WHERE nspname = $1) ORDER BY relname`,
    [schema, tables],
  );
  refuseTables(found.map(([name]) => String(name)));
  const [[inSchema, inDatabase, database, role]] = (await connection.query(
    `SELECT (SELECT has_schema_privilege(oid, 'CREATE') FROM pg_namespace WHERE nspname = $1),
      has_database_privilege(current_database(), 'CREATE'), current_database(), current_user`,
    [schema],
  )) as [[string | null, string, string, string]];
  const place = inSchema === null ? `DATABASE ${quote(database)}` : `SCHEMA ${quote(schema)}`;
  if ((inSchema ?? inDatabase) !== 't')
    throw new Error(`its role may not create tables there: GRANT CREATE ON ${place} TO ${quote(role)}`);
}

async function readVersions(connection: Connection, schema: string): Promise<Map<string, number>> {
  // Reads the catalogue, because to_regclass may have cached that the table did not exist.
  const [found] = await connection.query(
    `SELECT FROM pg_class WHERE relname = 'schema_versions'
      AND relnamespace = (SELECT oid FROM pg_namespace WHERE nspname = $1)`,
    [schema],
  );
  const rows = found ? await connection.query(`SELECT part, version FROM ${quote(schema)}.schema_versions`) : [];
  return new Map(rows.map(([part, version]) => [part as string, Number(version)]));
}

/** Names the lock in the error of a lock timeout. */
function failAt(place: string): (error: unknown) => never {
  return (error) => {
    const { cause } = error as { cause?: { code?: string } };
    throw error instanceof StoreUnavailable && cause?.code === LOCKED ? new Error(`${place}: see pg_locks`) : error;
  };
}
