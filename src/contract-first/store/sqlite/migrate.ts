/** Migrates a database file, and inspects one for `--check`. */
import { existsSync } from 'node:fs';
import type { Database } from 'better-sqlite3';
import type { SqlSteps } from '../collection.ts';
import type { AnyDomain } from '../description.ts';
import { inspect, type MigrationHooks, type MigrationTarget, migrate as migrateSteps } from '../migrate.ts';
import { refuseTables } from '../migrations.ts';
import { toStep } from '../statement.ts';
import type { Inspection } from '../store.ts';
import { checkMap } from './connection.ts';
import { DIALECT, Driver } from './drive.ts';
import { Sqlite } from './sqlite.ts';
import { checkTriggers, dropTriggers, rememberTriggers, toTriggersSql } from './triggers.ts';

const [INTEGER, TEXT] = ['INTEGER', 'TEXT'];

const OTHERS = "SELECT name FROM sqlite_schema WHERE name NOT LIKE 'sqlite|_%' ESCAPE '|'";

const LOST = `SELECT 'rows of ' || "table" || ' that refer to no row of ' || parent || ': ' || count(*)
  FROM pragma_foreign_key_check GROUP BY "table", parent`;

export const TARGET: MigrationTarget = {
  ...DIALECT,
  kind: 'sqlite',
  types: {
    ...{ int64: INTEGER, int32: INTEGER, boolean: INTEGER },
    ...{ number: TEXT, text: TEXT, uuid: TEXT, time: TEXT, json: TEXT },
  },
  findApplied: "SELECT 1 FROM sqlite_schema WHERE name = 'applied_migrations'",
  selectColumns: 'SELECT name, type, "notnull" FROM pragma_table_info(?)',
  selectIndexes: `
    SELECT list."unique" AND NOT list.partial,
      group_concat(coalesce(info.name, '?') || iif(info.coll = 'NOCASE', ' COLLATE NOCASE', '') ORDER BY info.seqno)
    FROM pragma_index_list(?) AS list, pragma_index_xinfo(list.name) AS info
    WHERE info.key GROUP BY list.name`,
  selectReferences: `
    SELECT group_concat("from") || ' ' || "table" || iif(on_delete = 'CASCADE', ' CASCADE', '')
    FROM pragma_foreign_key_list(?) GROUP BY id`,
  *check(applied) {
    if (applied.length > 0) yield* checkTriggers();
    else refuseTables((yield toStep(OTHERS)).map(String));
  },
  *begin() {
    yield toStep('BEGIN IMMEDIATE');
  },
  prepare: dropTriggers,
  *run(sql) {
    const [isNumbered] = yield toStep("SELECT 1 FROM sqlite_schema WHERE name = 'sqlite_sequence'");
    const sequences = isNumbered ? yield toStep('SELECT name, seq FROM sqlite_sequence') : [];
    yield { sql };
    for (const [name, last] of sequences) yield* raiseSequence(name, last);
    const lost = yield toStep(LOST);
    if (lost.length > 0) throw new Error(lost.join('; '));
  },
  *addTriggers(table) {
    yield { sql: toTriggersSql(table) };
  },
  *end(count) {
    yield toStep(`PRAGMA user_version = ${count}`);
    yield* rememberTriggers();
  },
};

/** A table that was rebuilt, or filled, would give the ids of rows again that are gone. */
export function* raiseSequence(name: unknown, last: unknown): SqlSteps<void> {
  const add = 'INSERT INTO sqlite_sequence SELECT ?, 0 WHERE ? NOT IN (SELECT name FROM sqlite_sequence)';
  yield toStep(add, name, name);
  yield toStep('UPDATE sqlite_sequence SET seq = max(seq, CAST(? AS integer)) WHERE name = ?', last, name);
}

/** @throws Error when the schema cannot be migrated; the database is then unchanged */
export const migrate = (db: Database, domain: AnyDomain, hooks: MigrationHooks = {}): void =>
  runAlone(db, migrateSteps(TARGET, domain, hooks));

/** Runs migrations, and rolls them back if they fail. */
export function runAlone<Result>(db: Database, steps: SqlSteps<Result>): Result {
  // Otherwise a table that is rebuilt would take the records away that refer to it. Within a transaction this has no effect.
  db.pragma('foreign_keys = OFF');
  try {
    return new Driver(db).drive(steps);
  } finally {
    if (db.inTransaction) db.exec('ROLLBACK');
    db.pragma('foreign_keys = ON');
  }
}

/** Without a file, inspects a new database in memory. @throws Error if the start would fail on this database */
export function inspectSqlite(file: string | undefined, domain: AnyDomain): Inspection {
  if (file !== undefined) checkMap(file);
  const location = file !== undefined && existsSync(file) ? file : ':memory:';
  // Changes no files: a read-only connection would leave files of SQLite's log behind, and any other would remove existing ones.
  const db = new Sqlite(location, { readonly: existsSync(`${location}-wal`) });
  try {
    db.pragma('query_only = ON');
    return new Driver(db).drive(inspect(TARGET, domain));
  } finally {
    db.close();
  }
}
