/** Migrates a schema to this program's version. Forward only: a schema of a newer program is refused, and never changed. */
import { checkColumns, checkConstraints, type FoundConstraints, isConstrained } from '../columns.ts';
import type { AnyDomain } from '../description.ts';
import {
  type Applied,
  loadMigrations,
  type Migration,
  planMigrations,
  refuseTables,
  toFailure,
  toName,
} from '../migrations.ts';
import { type Migrated, type Plan, StoreUnavailable } from '../store.ts';
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
  const migrated = await runMigrations(connection, schema, loadMigrations('postgres', domain), async () => {
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

/** Says what `migrate` would do. @throws Error that says why it would fail */
export async function planToMigrate(connection: Connection, schema: string, domain: AnyDomain): Promise<Plan> {
  const files = loadMigrations('postgres', domain);
  await checkEncoding(connection);
  const applied = await readApplied(connection, schema);
  const pending = planMigrations(files, applied);
  await checkSchema(connection, schema, applied, pending);
  if (pending.length === 0) await checkTables(connection, schema, toTables(domain));
  return { version: applied.length, newest: files.length, pending: pending.map(toName) };
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
export async function runMigrations(
  connection: Connection,
  schema: string,
  files: readonly Migration[],
  finish = async () => {},
  timeouts = LOCK_TIMEOUTS,
): Promise<Migrated | undefined> {
  await checkEncoding(connection);
  if (planMigrations(files, await readApplied(connection, schema)).length === 0) return undefined;
  await connection.query('BEGIN ISOLATION LEVEL READ COMMITTED');
  await connection.query(`SET LOCAL statement_timeout = 0; SET LOCAL lock_timeout = ${timeouts.migration}`);
  const lock = 'SELECT pg_advisory_xact_lock(hashtextextended($1, 0))';
  await connection
    .query(lock, [`contract-first migrations ${schema}`])
    .catch(failAt(`another program has migrated it for ${timeouts.migration} ms`));
  await connection.query(`SET LOCAL lock_timeout = ${timeouts.table}`);
  const before = await runPending(connection, schema, files);
  await finish();
  await connection.query('COMMIT');
  return { from: before, to: files.length };
}

async function checkEncoding(connection: Connection): Promise<void> {
  const [[encoding]] = (await connection.query('SHOW server_encoding')) as [[string]];
  if (encoding !== 'UTF8') throw new Error('its encoding is not UTF8');
}

/** Returns how many migrations the schema had had before. */
async function runPending(connection: Connection, schema: string, files: readonly Migration[]): Promise<number> {
  const applied = await readApplied(connection, schema);
  const pending = planMigrations(files, applied);
  await checkSchema(connection, schema, applied, pending);
  const [there] = await connection.query('SELECT FROM pg_namespace WHERE nspname = $1', [schema]);
  if (!there) await connection.query(`CREATE SCHEMA ${quote(schema)}`);
  await connection.query(`SET LOCAL search_path = ${quote(schema)}`);
  for (const migration of pending) {
    const { part, name, digest, sql } = migration;
    await connection
      .query(sql)
      .catch(failAt('it needs a lock that another session has'))
      .catch((error) => Promise.reject(toFailure(migration, error)));
    await connection.query('INSERT INTO applied_migrations VALUES ($1, $2, $3)', [part, name, digest]);
  }
  return applied.length;
}

/** Checks that the pending migrations can be run. A new schema may have other tables, but none that a migration creates. */
async function checkSchema(
  connection: Connection,
  schema: string,
  applied: readonly Applied[],
  pending: readonly Migration[],
): Promise<void> {
  if (pending.length === 0) return;
  const made = pending.flatMap(({ sql }) =>
    [...sql.matchAll(/\bCREATE (?:UNLOGGED )?TABLE (\w+)/gi)].map(([, name]) => name),
  );
  const found = await connection.query(
    `SELECT relname FROM pg_class WHERE relname = ANY ($2::text[])
      AND relnamespace = (SELECT oid FROM pg_namespace WHERE nspname = $1) ORDER BY relname`,
    [schema, applied.length === 0 ? made : []],
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

async function readApplied(connection: Connection, schema: string): Promise<Applied[]> {
  // Reads the catalogue, because to_regclass may have cached that the table did not exist.
  const [found] = await connection.query(
    `SELECT FROM pg_class WHERE relname = 'applied_migrations'
      AND relnamespace = (SELECT oid FROM pg_namespace WHERE nspname = $1)`,
    [schema],
  );
  const read = `SELECT part, name, digest FROM ${quote(schema)}.applied_migrations ORDER BY part, name`;
  const rows = found ? await connection.query(read) : [];
  return rows.map(([part, name, digest]) => ({ part, name, digest }) as Applied);
}

/** Names the lock in the error of a lock timeout. */
function failAt(place: string): (error: unknown) => never {
  return (error) => {
    const { cause } = error as { cause?: { code?: string } };
    throw error instanceof StoreUnavailable && cause?.code === LOCKED ? new Error(`${place}: see pg_locks`) : error;
  };
}
