/** Brings a schema of a database to this program's version. Forward only: that of a newer program is refused, never changed. */
import { readMigrations } from '../migrations.ts';
import { StoreUnavailable } from '../store.ts';
import type { Connection } from './connection.ts';
import { quote } from './names.ts';

const MIGRATIONS = new URL('migrations/', import.meta.url);

export const loadMigrations = () => readMigrations(MIGRATIONS);

/** How long to wait, in milliseconds. */
export interface Patience {
  /** For a program that migrates the same schema. */
  turn: number;
  /** For a lock on a table: whoever asks for it later waits too, and running servers must be answered in their time. */
  table: number;
}

const PATIENCE: Patience = { turn: 30_000, table: 500 };

/** SQLSTATE: a lock was not to be had in time. */
const LOCKED = '55P03';

/**
 * Programs that start at once take turns, so that each migration runs once, however long it takes.
 * @throws Error when the version is newer than the program's, or a lock is not to be had; any error leaves the database as it was
 */
export async function migrate(
  connection: Connection,
  schema: string,
  migrations: string[],
  patience = PATIENCE,
): Promise<void> {
  const one = async (sql: string, values?: unknown[]) => (await connection.query(sql, values))[0]?.[0];
  const table = `${quote(schema)}.schema_version`;
  async function readVersion(): Promise<number | undefined> {
    if (!(await one('SELECT to_regclass($1)', [table]))) return undefined;
    const version = Number(await one(`SELECT version FROM ${table}`));
    if (version <= migrations.length) return version;
    throw new Error(`its schema has version ${version}, and this program knows ${migrations.length} at most`);
  }

  if ((await one('SHOW server_encoding')) !== 'UTF8') throw new Error('its encoding is not UTF8');
  if ((await readVersion()) === migrations.length) return;
  await connection.query('BEGIN ISOLATION LEVEL READ COMMITTED');
  await connection.query(`SET LOCAL statement_timeout = 0; SET LOCAL lock_timeout = ${patience.turn}`);
  const turn = 'SELECT pg_advisory_xact_lock(hashtextextended($1, 0))';
  await one(turn, [`petstore migrations ${schema}`]).catch(
    failAt(`another program has migrated it for ${patience.turn} ms`),
  );
  await connection.query(`SET LOCAL lock_timeout = ${patience.table}`);
  if (!(await one('SELECT to_regnamespace($1)', [quote(schema)]))) {
    await connection.query(`CREATE SCHEMA ${quote(schema)}`);
  }
  await connection.query(`SET LOCAL search_path = ${quote(schema)}`);
  const version = await readVersion();
  if (version === undefined) await connection.query('CREATE TABLE schema_version AS SELECT 0 AS version');
  for (const [index, sql] of [...migrations.entries()].slice(version)) {
    await connection.query(sql).catch(failAt(`migration ${index + 1} needs a lock that another session has`));
  }
  await connection.query('UPDATE schema_version SET version = $1', [migrations.length]);
  await connection.query('COMMIT');
}

/** Says what was waited for. */
function failAt(place: string): (error: unknown) => never {
  return (error) => {
    const { cause } = error as { cause?: { code?: string } };
    throw error instanceof StoreUnavailable && cause?.code === LOCKED ? new Error(`${place}: see pg_locks`) : error;
  };
}
