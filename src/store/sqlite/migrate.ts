/** Migrates a database to this program's schema. Forward only: a database of a newer program is refused, and never changed. */
import type { Database } from 'better-sqlite3';
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
import type { Migrated } from '../store.ts';
import { type Table, toTables } from '../table.ts';
import { toCompared } from './drive.ts';
import { toTriggersSql } from './triggers.ts';

const [INTEGER, TEXT] = ['INTEGER', 'TEXT'];
const TYPES = {
  ...{ int64: INTEGER, int32: INTEGER, boolean: INTEGER },
  ...{ number: TEXT, text: TEXT, uuid: TEXT, time: TEXT, json: TEXT },
};

/** Undefined if nothing was to do. @throws Error when the schema cannot be migrated; the database is then unchanged */
export function migrate(db: Database, domain: AnyDomain): Migrated | undefined {
  const tables = toTables(domain);
  const migrated = migrateParts(db, loadParts('sqlite', domain), () => {
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

/** Returns the versions that `migrate` would go from and to. @throws Error that says why it would fail */
export function tryMigrate(db: Database, domain: AnyDomain): Migrated {
  const parts = loadParts('sqlite', domain);
  const versions = readVersions(db);
  checkMigrations(db, versions, parts);
  if (isCurrent(versions, parts)) checkTables(db, toTables(domain));
  return { from: numberOf(versions), to: newestOf(parts) };
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
export function migrateParts(db: Database, parts: readonly Part[], finish = () => {}): Migrated | undefined {
  if (isCurrent(readVersions(db), parts)) return undefined;
  const run = db.transaction(() => {
    const versions = readVersions(db);
    checkMigrations(db, versions, parts);
    if (versions.size === 0)
      db.exec('CREATE TABLE schema_versions (part TEXT PRIMARY KEY NOT NULL, version INTEGER NOT NULL) STRICT');
    const update = db.prepare<[string, number]>('REPLACE INTO schema_versions VALUES (?, ?)');
    for (const { name, migrations } of parts) {
      for (const sql of migrations.slice(versions.get(name))) db.exec(sql);
      update.run(name, migrations.length);
    }
    db.pragma(`user_version = ${newestOf(parts)}`);
    finish();
    return { from: numberOf(versions), to: newestOf(parts) };
  });
  return run.immediate();
}

/** Checks that the pending migrations can be run, and that a new database has no other tables. */
function checkMigrations(db: Database, versions: ReadonlyMap<string, number>, parts: readonly Part[]): void {
  checkVersions(versions, parts);
  const names = db.prepare<[], string>("SELECT name FROM sqlite_schema WHERE name NOT LIKE 'sqlite|_%' ESCAPE '|'");
  const made = new Set(tablesMadeBy(pendingOf(versions, parts)));
  refuseTables(
    names
      .pluck()
      .all()
      .filter((name) => versions.size === 0 || made.has(name)),
  );
}

function readVersions(db: Database): Map<string, number> {
  const isThere = db.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'schema_versions'").get();
  if (!isThere) return new Map();
  const rows = db.prepare<[], [string, bigint]>('SELECT part, version FROM schema_versions').raw().all();
  return new Map(rows.map(([part, version]) => [part, Number(version)]));
}
