/** Brings a schema of a database to this program's version. Forward only: that of a newer program is refused, never changed. */

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

/** How long to wait, in milliseconds. */
export interface Patience {
  /** For a program that migrates the same schema. */
  turn: number;
  /** For a lock on a table: whoever asks for it later waits too, and running servers must be answered in their time. */
  table: number;
}

const TYPES = {
  ...{ int64: 'bigint', int32: 'integer', number: 'double precision', boolean: 'boolean' },
  ...{ text: 'text', uuid: 'text', time: 'text', json: 'text' },
};

const PATIENCE: Patience = { turn: 30_000, table: 500 };

/** SQLSTATE: a lock was not free in time. */
const LOCKED = '55P03';

/**
 * Undefined where it was done before.
 * @throws Error when the schema cannot be migrated, or a lock is not free; any error leaves the database as it was
 */
export async function migrate(
  connection: Connection,
  schema: string,
  domain: AnyDomain,
): Promise<Migrated | undefined> {
  const tables = toTables(domain);
  const toSetUp = ({
    name,
  }: Table) => `CREATE OR REPLACE TRIGGER write_records BEFORE INSERT OR UPDATE OR DELETE ON ${name}
    FOR EACH STATEMENT EXECUTE FUNCTION write_records()`;
  const migrated = await migrateParts(connection, schema, loadParts('postgres', domain), async () => {
    for (const table of tables) {
      checkColumns(table, await readColumns(connection, table), TYPES);
      await connection.query(toSetUp(table)).catch(failAt('its trigger needs a lock that another session has'));
    }
    await checkTables(connection, schema, tables);
  });
  // The description may say more than it did when the last migration ran.
  await checkTables(connection, schema, tables);
  return migrated;
}

/** Finds out what a start would do. @throws Error that says why it would fail */
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

/** Of the table that the search path finds first. */
async function readColumns(connection: Connection, { name }: Table) {
  const rows = await connection.query(
    `SELECT attname, format_type(atttypid, NULL), attnotnull FROM pg_attribute
      WHERE attrelid = to_regclass($1) AND attnum > 0 AND NOT attisdropped`,
    [name],
  );
  return rows.map(([name, type, notNull]) => ({ name: String(name), type: String(type), isNotNull: notNull === 't' }));
}

/** Programs that start at once take turns, so that each migration runs once, however long it takes. `finish` is called after any. */
export async function migrateParts(
  connection: Connection,
  schema: string,
  parts: readonly Part[],
  finish = async () => {},
  patience = PATIENCE,
): Promise<Migrated | undefined> {
  await checkEncoding(connection);
  const found = await readVersions(connection, schema);
  checkVersions(found, parts);
  if (isCurrent(found, parts)) return undefined;
  await connection.query('BEGIN ISOLATION LEVEL READ COMMITTED');
  await connection.query(`SET LOCAL statement_timeout = 0; SET LOCAL lock_timeout = ${patience.turn}`);
  const turn = 'SELECT pg_advisory_xact_lock(hashtextextended($1, 0))';
  await connection
    .query(turn, [`petstore migrations ${schema}`])
    .catch(failAt(`another program has migrated it for ${patience.turn} ms`));
  await connection.query(`SET LOCAL lock_timeout = ${patience.table}`);
  const before = await run(connection, schema, parts);
  await finish();
  await connection.query('COMMIT');
  return { from: numberOf(before), to: newestOf(parts) };
}

async function checkEncoding(connection: Connection): Promise<void> {
  const [[encoding]] = (await connection.query('SHOW server_encoding')) as [[string]];
  if (encoding !== 'UTF8') throw new Error('its encoding is not UTF8');
}

/** Returns the versions that it had. */
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

/** The table that told the version of an earlier layout. */
const EARLIER = 'schema_version';

/** Whether those that are pending can be run. Other programs may have tables in the same schema, but none that a migration makes. */
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
  // The catalogue shows what others have just made; to_regclass may remember that it was not there.
  const [found] = await connection.query(
    `SELECT FROM pg_class WHERE relname = 'schema_versions'
      AND relnamespace = (SELECT oid FROM pg_namespace WHERE nspname = $1)`,
    [schema],
  );
  const rows = found ? await connection.query(`SELECT part, version FROM ${quote(schema)}.schema_versions`) : [];
  return new Map(rows.map(([part, version]) => [part as string, Number(version)]));
}

/** Says what was waited for. */
function failAt(place: string): (error: unknown) => never {
  return (error) => {
    const { cause } = error as { cause?: { code?: string } };
    throw error instanceof StoreUnavailable && cause?.code === LOCKED ? new Error(`${place}: see pg_locks`) : error;
  };
}
