/** Migrates a schema, and adds the engine's triggers. Also inspects a schema for `--check`. */
import { toSqlLiteral } from '../../json/literals.ts';
import { sqlStep } from '../changes/statement.ts';
import type { SqlStep, SqlSteps } from '../collection.ts';
import { type Inspection, StoreUnavailable } from '../store.ts';
import type { AnyDomain } from '../tables/description.ts';
import { inspectMigrations, type MigrationTarget, type RecordCheck } from '../tables/migrate.ts';
import { type Applied, checkNoTables, createdTables, type Migration } from '../tables/migrations.ts';
import { revisionOf, shownOf, type Table } from '../tables/table.ts';
import { POSTGRES_TYPES, quote, toDialect } from './dialect.ts';
import { drive } from './drive.ts';
import { buildConnect } from './primary.ts';
import type { PostgresSettings } from './settings.ts';

/** How long a migration waits for locks, in milliseconds. */
interface LockTimeouts {
  /** How long a migration waits for another program that migrates the same schema, in milliseconds. */
  migration: number;
  /**
   * How long a migration waits for the lock of a table, in milliseconds. The time is short, because statements of
   * running servers queue behind the waiting migration and must still be answered in time.
   */
  table: number;
}

const LOCK_TIMEOUTS: LockTimeouts = { migration: 30_000, table: 500 };

/** The SQLSTATE of a lock that was not free in time. */
const LOCKED = '55P03';

/** How long each step of an inspection may take, in milliseconds. */
const INSPECTION_TIMEOUT = 10_000;

const SELECTS = {
  selectColumns: `
    SELECT attname, format_type(atttypid, NULL), attnotnull::int, (atthasdef OR attidentity <> '' OR EXISTS (
      SELECT FROM pg_trigger WHERE tgrelid = attrelid AND tgtype & 7 = 7))::int
    FROM pg_attribute
    WHERE attrelid = to_regclass($1) AND attnum > 0 AND NOT attisdropped`,
  selectIndexes: `
    SELECT (indisunique AND indpred IS NULL)::int,
      (SELECT string_agg(
        replace(pg_get_indexdef(indexrelid, place, true), '"', '') || CASE indoption[place - 1] & 1 WHEN 1 THEN ' DESC' ELSE '' END,
        ',' ORDER BY place)
      FROM generate_series(1, indnkeyatts) AS place)
    FROM pg_index WHERE indrelid = to_regclass($1)`,
  selectReferences: `
    SELECT (SELECT string_agg(attname, ',') FROM pg_attribute WHERE attrelid = conrelid AND attnum = ANY (conkey))
      || ' ' || relname || CASE confdeltype WHEN 'c' THEN ' CASCADE' ELSE '' END
    FROM pg_constraint JOIN pg_class ON pg_class.oid = confrelid
    WHERE conrelid = to_regclass($1) AND contype = 'f'`,
};

export function buildMigrationTarget(schema: string, timeouts = LOCK_TIMEOUTS): MigrationTarget {
  const inSchema = `relnamespace = (SELECT oid FROM pg_namespace WHERE nspname = ${toSqlLiteral(schema)})`;
  return {
    ...toDialect(quote(schema)),
    ...SELECTS,
    kind: 'postgres',
    types: POSTGRES_TYPES,
    // Queries `pg_class` itself, because `to_regclass` could return a cached result from before the table existed.
    findApplied: `SELECT FROM pg_class WHERE relname = 'applied_migrations' AND ${inSchema}`,
    check: (applied, pending) => check(schema, applied, pending),
    *begin() {
      yield { sql: 'BEGIN ISOLATION LEVEL READ COMMITTED' };
      yield { sql: `SET LOCAL statement_timeout = 0; SET LOCAL lock_timeout = ${timeouts.migration}` };
      const lock = sqlStep(
        'SELECT pg_advisory_xact_lock(hashtextextended($1, 0))',
        `contract-first migrations ${schema}`,
      );
      yield* orFailAt(`another program has migrated it for ${timeouts.migration} ms`, lock);
      yield { sql: `SET LOCAL lock_timeout = ${timeouts.table}` };
    },
    *prepare() {
      const [there] = yield sqlStep('SELECT FROM pg_namespace WHERE nspname = $1', schema);
      if (!there) yield { sql: `CREATE SCHEMA ${quote(schema)}` };
      yield { sql: `SET LOCAL search_path = ${quote(schema)}` };
    },
    run: (sql) => orFailAt('it needs a lock that another session has', { sql }),
    addTriggers: (table) =>
      orFailAt('its trigger needs a lock that another session has', { sql: toTriggersSql(table) }),
    *end() {},
  };
}

/** Inspects a schema for `--check`. @throws Error with the reason if no server can be used, or if a start would fail */
export async function inspectPostgres(
  settings: PostgresSettings,
  domain: AnyDomain,
  records?: RecordCheck,
): Promise<Inspection> {
  const connection = await buildConnect(settings)({ toConnect: INSPECTION_TIMEOUT, toAnswer: INSPECTION_TIMEOUT });
  try {
    await connection.query('BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY');
    return await drive(connection, inspectMigrations(buildMigrationTarget(settings.schema), domain, records));
  } finally {
    connection.end();
  }
}

/**
 * Checks that the pending migrations can run. Before the first migration, the schema may contain tables of other
 * programs, but not with the name of a table that a migration creates.
 */
function* check(schema: string, applied: readonly Applied[], pending: readonly Migration[]): SqlSteps<void> {
  const [[encoding]] = (yield sqlStep('SHOW server_encoding')) as [[string]];
  if (encoding !== 'UTF8') throw new Error('its encoding is not UTF8');
  if (pending.length === 0) return;
  const made = pending.flatMap(({ sql }) => createdTables(sql));
  const found = yield sqlStep(
    `SELECT relname FROM pg_class WHERE relname = ANY ($2::text[])
      AND relnamespace = (SELECT oid FROM pg_namespace WHERE nspname = $1) ORDER BY relname`,
    schema,
    applied.length === 0 ? made : [],
  );
  checkNoTables(found.map(String));
  const [[inSchema, inDatabase, database, role]] = (yield sqlStep(
    `SELECT (SELECT has_schema_privilege(oid, 'CREATE') FROM pg_namespace WHERE nspname = $1),
      has_database_privilege(current_database(), 'CREATE'), current_database(), current_user`,
    schema,
  )) as [[string | null, string, string, string]];
  const granted = inSchema === null ? `DATABASE ${quote(database)}` : `SCHEMA ${quote(schema)}`;
  if ((inSchema ?? inDatabase) !== 't')
    throw new Error(`its role may not create tables there: GRANT CREATE ON ${granted} TO ${quote(role)}`);
}

/** Runs a statement. If the statement does not get its lock in time, the message of the error begins with `why`. */
function* orFailAt(why: string, step: SqlStep): SqlSteps<void> {
  try {
    yield step;
  } catch (error) {
    const { cause } = error as { cause?: { code?: string } };
    throw error instanceof StoreUnavailable && cause?.code === LOCKED ? new Error(`${why}: see pg_locks`) : error;
  }
}

/**
 * Returns SQL that creates the triggers on a table of records, to run after the migrations. A trigger takes the lock of
 * writers. If records have revisions, another trigger stores the highest revision of deleted records.
 */
function toTriggersSql(table: Table): string {
  const { name } = table;
  const revision = revisionOf(table);
  const lock = `CREATE OR REPLACE TRIGGER write_records BEFORE INSERT OR UPDATE OR DELETE ON ${name}
    FOR EACH STATEMENT EXECUTE FUNCTION write_records();`;
  if (revision === undefined) return lock;
  return `${lock}
    CREATE OR REPLACE TRIGGER note_revisions AFTER DELETE ON ${name} REFERENCING OLD TABLE AS deleted
    FOR EACH STATEMENT EXECUTE FUNCTION note_revisions('${revision}');
    ${toAdvanceSql(table, revision)}`;
}

/**
 * Returns SQL that gives an unused revision to each record that the migrations have changed, so that the record gets a
 * new entity tag. A record counts as changed if a migration has written its row. If the migrations have added or
 * changed a column that clients see, all records of the table count as changed. The SQL must not take the lock of
 * writers: a writer may already hold that lock and be waiting for this table.
 */
function toAdvanceSql({ name, fields }: Table, revision: string): string {
  const isOwn = 'age(xmin) <= 0';
  const shown = shownOf(fields).map(({ column, isOptional }) => {
    const hasValues = `EXISTS (SELECT FROM ${name} WHERE ${column} IS NOT NULL)`;
    return `attname = '${column}'${isOptional ? ` AND ${hasValues}` : ''}`;
  });
  return `
    ALTER TABLE ${name} DISABLE TRIGGER write_records;
    UPDATE ${name} SET ${revision} = 1 + greatest(
      (SELECT max(${revision}) FROM ${name}), (SELECT revision FROM deleted_revisions WHERE name = '${name}'))
    WHERE ${isOwn} OR EXISTS (
      SELECT FROM pg_attribute
      WHERE attrelid = '${name}'::regclass AND attnum > 0 AND ${isOwn} AND (attisdropped OR ${shown.join(' OR ')}));
    ALTER TABLE ${name} ENABLE TRIGGER write_records;`;
}
