/** Migrates a database file and adds our own triggers. Also inspects a file for `--check`. */
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

/** SQL that reads a table's indexes: the name and the origin (`c` for CREATE INDEX) before what `selectIndexes` reads. */
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

/** Raises the highest used id of a table. Without this, a table that was rebuilt or filled would use the ids of deleted rows again. */
export function* raiseSequence(name: unknown, last: unknown): SqlSteps<void> {
  const add = 'INSERT INTO sqlite_sequence SELECT ?, 0 WHERE ? NOT IN (SELECT name FROM sqlite_sequence)';
  yield sqlStep(add, name, name);
  yield sqlStep('UPDATE sqlite_sequence SET seq = max(seq, CAST(? AS integer)) WHERE name = ?', last, name);
}

/** Migrates a database. @throws Error if that is not possible; the database is then unchanged */
export const migrateSqlite = (db: Database, domain: AnyDomain, hooks: MigrationHooks = {}): void =>
  runAlone(db, migrateSteps(TARGET, domain, hooks));

/** Runs the steps of a migration, and rolls all of them back if one fails. */
export function runAlone<Result>(db: Database, steps: SqlSteps<Result>): Result {
  // Otherwise rebuilding a table would delete the records that refer to it. The pragma does not work in a transaction.
  db.pragma('foreign_keys = OFF');
  try {
    return new Driver(db).drive(steps);
  } finally {
    if (db.inTransaction) db.exec('ROLLBACK');
    db.pragma('foreign_keys = ON');
  }
}

/** Inspects a file, or a new database in memory. @throws Error if a start with this database would fail */
export function inspectSqlite(file: string | undefined, domain: AnyDomain, records?: RecordCheck): Inspection {
  if (file !== undefined) checkMap(file);
  const location = file !== undefined && existsSync(file) ? file : ':memory:';
  // The inspection must not change files. A read-only connection would create missing log files of SQLite, and a writing one would remove
  // existing ones.
  const db = new Sqlite(location, { readonly: existsSync(`${location}-wal`) });
  try {
    db.pragma('query_only = ON');
    return new Driver(db).drive(inspectMigrations(TARGET, domain, records));
  } finally {
    db.close();
  }
}

/*
 * Triggers on a table of records count every edit, and note the revisions of deleted records. Servers cache pages as long as the count
 * stays the same. Adding a record at the end is not an edit, but replacing the last record (INSERT OR REPLACE) is. The triggers notice
 * the difference because sqlite_sequence still contains the previous highest id during a statement. The triggers are created again after
 * migrations, so a change of the triggers needs a migration.
 */

/**
 * The prefixes of the triggers' names; `_` and the name of the table follow. The names of other triggers do not begin with these prefixes.
 */
const TRIGGERS = ['record_edits_by_update', 'record_edits_by_delete', 'record_edits_by_insert'];

/** Returns the names of a table's triggers, quoted for SQL. */
export const triggersOf = ({ name }: Table) => TRIGGERS.map((trigger) => `'${trigger}_${name}'`).join(', ');

/**
 * SQL to run after migrations, which may have changed any record. The statements give each record an unused revision, and so a new entity
 * tag.
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
 * Drops the triggers of all tables before migrations: a table cannot be rebuilt while triggers refer to it. While there are no triggers, a
 * migration may delete any record. So the function first notes the highest revision of each table.
 */
function* dropTriggers(): SqlSteps<void> {
  const find = "SELECT name, tbl_name, sql FROM sqlite_schema WHERE type = 'trigger' AND name GLOB 'record_edits_by_*'";
  for (const [name, table, sql] of yield sqlStep(find)) {
    const [, revision] = /OLD\.(\w+)/.exec(String(sql)) ?? [];
    if (revision) yield { sql: toNoteSql(`SELECT '${table}', max(${revision}) FROM ${table} HAVING count(*) > 0`) };
    yield { sql: `DROP TRIGGER "${name}"` };
  }
}
