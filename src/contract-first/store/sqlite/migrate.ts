/** Migrates a database to this program's schema. Forward only: a database of a newer program is refused, and never changed. */
import type { Database } from 'better-sqlite3';
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
import type { Migrated, Plan } from '../store.ts';
import { type Table, toTables } from '../table.ts';
import { toCompared } from './drive.ts';
import { checkTriggers, dropTriggers, rememberTriggers, toTriggersSql } from './triggers.ts';

const [INTEGER, TEXT] = ['INTEGER', 'TEXT'];
const TYPES = {
  ...{ int64: INTEGER, int32: INTEGER, boolean: INTEGER },
  ...{ number: TEXT, text: TEXT, uuid: TEXT, time: TEXT, json: TEXT },
};

const OTHERS = "SELECT name FROM sqlite_schema WHERE name NOT LIKE 'sqlite|_%' ESCAPE '|'";

const LOST = `SELECT 'rows of ' || "table" || ' that refer to no row of ' || parent || ': ' || count(*)
  FROM pragma_foreign_key_check GROUP BY "table", parent`;

const RAISE = `INSERT INTO sqlite_sequence
  SELECT @name, @seq WHERE NOT EXISTS (SELECT 1 FROM sqlite_sequence WHERE name = @name)`;

/** Undefined if nothing was to do. @throws Error when the schema cannot be migrated; the database is then unchanged */
export function migrate(db: Database, domain: AnyDomain): Migrated | undefined {
  const tables = toTables(domain);
  const migrated = runMigrations(db, loadMigrations('sqlite', domain), () => {
    for (const table of tables) {
      checkColumns(table, readColumns(db, table), TYPES);
      db.exec(toTriggersSql(table));
    }
    checkTables(db, tables);
  });
  // The description may have been changed since the last migration.
  checkTables(db, tables);
  return migrated;
}

/** Says what `migrate` would do. @throws Error that says why it would fail */
export function planToMigrate(db: Database, domain: AnyDomain): Plan {
  const files = loadMigrations('sqlite', domain);
  const { applied, pending } = plan(db, files);
  if (pending.length === 0) checkTables(db, toTables(domain));
  return { version: applied.length, newest: files.length, pending: pending.map(toName) };
}

function checkTables(db: Database, tables: readonly Table[]): void {
  for (const table of tables.filter(isConstrained)) checkConstraints(table, readConstraints(db, table), toCompared);
}

function readConstraints(db: Database, { name }: Table): FoundConstraints {
  const all = (sql: string) => db.prepare<[string], string>(sql).pluck().all(name);
  return {
    unique: all(`
      SELECT group_concat(info.name || iif(info.coll = 'NOCASE', ' COLLATE NOCASE', ''))
      FROM pragma_index_list(?) AS list, pragma_index_xinfo(list.name) AS info
      WHERE list."unique" AND NOT list.partial AND info.key GROUP BY list.name`),
    references: all(`
      SELECT group_concat("from") || ' ' || "table" || iif(on_delete = 'CASCADE', ' CASCADE', '')
      FROM pragma_foreign_key_list(?) GROUP BY id`),
  };
}

function readColumns(db: Database, { name }: Table) {
  const rows = db.prepare<[string], [string, string, unknown]>(
    'SELECT name, type, "notnull" FROM pragma_table_info(?)',
  );
  return rows
    .raw()
    .all(name)
    .map(([name, type, notNull]) => ({ name, type, isNotNull: Boolean(notNull) }));
}

/** `finish` is called after any migration. */
export function runMigrations(db: Database, files: readonly Migration[], finish = () => {}): Migrated | undefined {
  if (plan(db, files).pending.length === 0) return undefined;
  const run = db.transaction(() => {
    // Another program may have migrated it meanwhile.
    const { applied, pending } = plan(db, files);
    dropTriggers(db);
    for (const migration of pending) runMigration(db, migration);
    db.pragma(`user_version = ${files.length}`);
    finish();
    rememberTriggers(db);
    return { from: applied.length, to: files.length };
  });
  // Otherwise a table that is rebuilt would take the records away that refer to it. Within a transaction this has no effect.
  db.pragma('foreign_keys = OFF');
  try {
    return run.immediate();
  } finally {
    db.pragma('foreign_keys = ON');
  }
}

function runMigration(db: Database, migration: Migration): void {
  const { part, name, digest, sql } = migration;
  const sequences = isThere(db, 'sqlite_sequence') ? db.prepare('SELECT name, seq FROM sqlite_sequence').all() : [];
  try {
    db.exec(sql);
    // A table that was rebuilt would give the ids of deleted rows again.
    for (const sequence of sequences) {
      db.prepare('DELETE FROM sqlite_sequence WHERE name = @name AND seq < @seq').run(sequence);
      db.prepare(RAISE).run(sequence);
    }
    const lost = db.prepare<[], string>(LOST).pluck().all();
    if (lost.length > 0) throw new Error(lost.join('; '));
  } catch (error) {
    throw toFailure(migration, error);
  }
  db.prepare('INSERT INTO applied_migrations VALUES (?, ?, ?)').run(part, name, digest);
}

/** @throws Error if the database is not ours, or was changed by other means than migrations */
function plan(db: Database, files: readonly Migration[]) {
  const applied = readApplied(db);
  const pending = planMigrations(files, applied);
  if (applied.length > 0) checkTriggers(db);
  else refuseTables(db.prepare<[], string>(OTHERS).pluck().all());
  return { applied, pending };
}

const isThere = (db: Database, table: string) => db.prepare('SELECT 1 FROM sqlite_schema WHERE name = ?').get(table);

const readApplied = (db: Database) =>
  isThere(db, 'applied_migrations') ? db.prepare<[], Applied>('SELECT * FROM applied_migrations').all() : [];
