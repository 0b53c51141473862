/** Migrates a database file, and adds the engine's triggers. Also inspects a file for `--check`. */
import { existsSync } from 'node:fs';
import type { Database } from 'better-sqlite3';
import { sqlStep } from '../changes/statement.ts';
import type { SqlSteps } from '../collection.ts';
import type { Inspection } from '../store.ts';
import type { AnyDomain } from '../tables/description.ts';
import {
  inspectMigrations,
  type MigrationHooks,
  type MigrationTarget,
  migrateTables as migrateSteps,
  type RecordCheck,
} from '../tables/migrate.ts';
import { checkNoTables } from '../tables/migrations.ts';
import { revisionOf, type Table } from '../tables/table.ts';
import { checkMap } from './connection.ts';
import { DIALECT, Driver } from './drive.ts';
import { Sqlite } from './sqlite.ts';

const [INTEGER, TEXT] = ['INTEGER', 'TEXT'];

const SELECT_OBJECTS = "SELECT name FROM sqlite_schema WHERE name NOT LIKE 'sqlite|_%' ESCAPE '|'";

const LOST = `SELECT 'rows of ' || "table" || ' that refer to no row of ' || parent || ': ' || count(*)
  FROM pragma_foreign_key_check GROUP BY "table", parent`;

const selectIndexes = (names: string) => `
  SELECT ${names} list."unique" AND NOT list.partial,
    group_concat(coalesce(info.name, '?') || iif(info.coll = 'NOCASE', ' COLLATE NOCASE', '') || iif(info."desc", ' DESC', '') ORDER BY info.seqno)
  FROM pragma_index_list(?) AS list, pragma_index_xinfo(list.name) AS info
  WHERE info.key GROUP BY list.name`;

/**
 * SQL that reads the indexes of a table. The first two columns are the name and the origin of the index; the origin is
 * `c` if CREATE INDEX made the index. The columns of `selectIndexes` follow.
 */
export const SELECT_NAMED_INDEXES = selectIndexes('list.name, list.origin,');

export const TARGET: MigrationTarget = {
  ...DIALECT,
  kind: 'sqlite',
  types: {
    ...{ int64: INTEGER, int32: INTEGER, boolean: INTEGER },
    ...{ number: TEXT, text: TEXT, uuid: TEXT, time: TEXT, json: TEXT },
  },
  findApplied: "SELECT 1 FROM sqlite_schema WHERE name = 'applied_migrations'",
  selectColumns: 'SELECT name, type, "notnull", dflt_value IS NOT NULL FROM pragma_table_info(?)',
  selectIndexes: selectIndexes(''),
  selectReferences: `
    SELECT group_concat("from") || ' ' || "table" || iif(on_delete = 'CASCADE', ' CASCADE', '')
    FROM pragma_foreign_key_list(?) GROUP BY id`,
  *check(applied) {
    if (applied.length === 0) checkNoTables((yield sqlStep(SELECT_OBJECTS)).map(String));
  },
  *begin() {
    yield sqlStep('BEGIN IMMEDIATE');
  },
  prepare: dropTriggers,
  *run(sql) {
    const [isNumbered] = yield sqlStep("SELECT 1 FROM sqlite_schema WHERE name = 'sqlite_sequence'");
    const sequences = isNumbered ? yield sqlStep('SELECT name, seq FROM sqlite_sequence') : [];
    yield { sql };
    for (const [name, last] of sequences) yield* raiseSequence(name, last);
    const lost = yield sqlStep(LOST);
    if (lost.length > 0) throw new Error(lost.join('; '));
  },
  *addTriggers(table) {
    yield { sql: toTriggersSql(table) };
  },
  *end(count) {
    yield sqlStep(`PRAGMA user_version = ${count}`);
  },
};

/**
 * Ensures that the next id of a table is higher than `last`. Otherwise, a table that was rebuilt or filled would use
 * the ids of deleted rows again.
 */
export function* raiseSequence(name: unknown, last: unknown): SqlSteps<void> {
  const add = 'INSERT INTO sqlite_sequence SELECT ?, 0 WHERE ? NOT IN (SELECT name FROM sqlite_sequence)';
  yield sqlStep(add, name, name);
  yield sqlStep('UPDATE sqlite_sequence SET seq = max(seq, CAST(? AS integer)) WHERE name = ?', last, name);
}

/**
 * Migrates a database.
 * @throws Error if the migration fails: the database is then unchanged
 */
export const migrateSqlite = (db: Database, domain: AnyDomain, hooks: MigrationHooks = {}): void =>
  runAlone(db, migrateSteps(TARGET, domain, hooks));

/** Runs the steps of a migration with foreign keys switched off. If a step fails, all steps are rolled back. */
export function runAlone<Result>(db: Database, steps: SqlSteps<Result>): Result {
  // With foreign keys on, rebuilding a table would delete the records that refer to its records. The pragma is before
  // the transaction, because it does nothing inside one.
  db.pragma('foreign_keys = OFF');
  try {
    return new Driver(db).drive(steps);
  } finally {
    if (db.inTransaction) db.exec('ROLLBACK');
    db.pragma('foreign_keys = ON');
  }
}

/**
 * Inspects a file without changing it. If the file does not exist, inspects a new database in memory instead.
 * @throws Error if a start with this database would fail
 */
export function inspectSqlite(file: string | undefined, domain: AnyDomain, records?: RecordCheck): Inspection {
  if (file !== undefined) checkMap(file);
  const location = file !== undefined && existsSync(file) ? file : ':memory:';
  // If a `-wal` file exists, the connection is read-only: a writable connection would remove the `-wal` file when it
  // closes. If none exists, the connection is writable: a read-only connection would create the file.
  const db = new Sqlite(location, { readonly: existsSync(`${location}-wal`) });
  try {
    db.pragma('query_only = ON');
    return new Driver(db).drive(inspectMigrations(TARGET, domain, records));
  } finally {
    db.close();
  }
}

/*
 * The engine's triggers on a table of records count every edit, and store the highest revision of deleted records.
 * Servers use their cached pages while the count of edits stays the same. Appending a record does not count as an edit,
 * but replacing the last record (INSERT OR REPLACE) does. The triggers can distinguish the two, because sqlite_sequence
 * still contains the previous highest id while the statement runs. The triggers are only created again after
 * migrations, so a change of their SQL also needs a migration.
 */

/**
 * The prefixes of the names of the engine's triggers. Every name ends with `_` and the name of the table. The names of
 * other triggers do not begin with such a prefix.
 */
const TRIGGERS = ['record_edits_by_update', 'record_edits_by_delete', 'record_edits_by_insert'];

/** Returns the names of a table's triggers, quoted for SQL. */
export const triggersOf = ({ name }: Table) => TRIGGERS.map((trigger) => `'${trigger}_${name}'`).join(', ');

/**
 * Returns SQL to run after the migrations. The SQL creates the engine's triggers, and gives each record an unused
 * revision, and so a new entity tag, because the migrations may have changed any record.
 */
function toTriggersSql(described: Table): string {
  const { name: table, sequence } = described;
  const revision = revisionOf(described);
  const count = `UPDATE record_edits SET count = count + 1 WHERE name = '${table}'`;
  const note = toNoteSql(`VALUES ('${table}', OLD.${revision})`);
  const advance = `UPDATE ${table} SET ${revision} = 1 + (
    SELECT max(revision) FROM (SELECT ${revision} AS revision FROM ${table}
      UNION ALL SELECT revision FROM deleted_revisions WHERE name = '${table}'));`;
  return `
    ${revision ? advance : ''}
    INSERT OR IGNORE INTO record_edits VALUES ('${table}', 0);
    CREATE TRIGGER record_edits_by_update_${table} AFTER UPDATE ON ${table} BEGIN ${count}; END;
    CREATE TRIGGER record_edits_by_delete_${table} AFTER DELETE ON ${table} BEGIN ${count}; ${revision ? note : ''} END;
    CREATE TRIGGER record_edits_by_insert_${table} AFTER INSERT ON ${table}
    WHEN NEW.${sequence} <= (SELECT seq FROM sqlite_sequence WHERE name = '${table}') BEGIN ${count}; END;`;
}

const toNoteSql = (rows: string) => `INSERT INTO deleted_revisions ${rows}
  ON CONFLICT DO UPDATE SET revision = excluded.revision WHERE revision < excluded.revision;`;

/**
 * Drops the engine's triggers before the migrations, because a table cannot be rebuilt while triggers refer to it.
 * Without the triggers, a migration may delete any record unnoticed. So this function first stores the highest revision
 * of each table.
 */
function* dropTriggers(): SqlSteps<void> {
  const find = "SELECT name, tbl_name, sql FROM sqlite_schema WHERE type = 'trigger' AND name GLOB 'record_edits_by_*'";
  for (const [name, table, sql] of yield sqlStep(find)) {
    const [, revision] = /OLD\.(\w+)/.exec(String(sql)) ?? [];
    if (revision) yield { sql: toNoteSql(`SELECT '${table}', max(${revision}) FROM ${table} HAVING count(*) > 0`) };
    yield { sql: `DROP TRIGGER "${name}"` };
  }
}
