import { readdirSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import type { Database } from 'better-sqlite3';
import t, { type Test } from 'tap';
import { runMigrations } from '../../src/contract-first/store/migrate.ts';
import { loadMigrations } from '../../src/contract-first/store/migrations.ts';
import { runAlone, TARGET } from '../../src/contract-first/store/sqlite/migrate.ts';
import { Sqlite } from '../../src/contract-first/store/sqlite/sqlite.ts';
import { domain } from '../../src/generated/domain.ts';
import { books } from '../books/domain.ts';
import { openUrl } from '../database.ts';

const STEPS = [
  'CREATE TABLE steps (step INTEGER); INSERT INTO steps VALUES (1)',
  'INSERT INTO steps VALUES (2)',
  'INSERT INTO steps VALUES (3)',
];

function openMemory(t: Test): Database {
  const db = new Sqlite(':memory:');
  t.teardown(() => db.close());
  return db;
}

const stepsOf = (db: Database) => db.prepare('SELECT step FROM steps ORDER BY rowid').pluck().all();
const versionOf = (db: Database) =>
  db.prepare("SELECT count(*) FROM applied_migrations WHERE part = 'steps'").pluck().get();

function migrate(db: Database, migrations: string[]) {
  const steps = migrations.map((sql, index) => ({ part: 'steps', name: `000${index + 1}-step.sql`, digest: sql, sql }));
  return runAlone(db, runMigrations(TARGET, [...loadMigrations('sqlite', {}), ...steps]));
}

t.test('an empty database goes through every migration, in order', (t) => {
  const db = openMemory(t);
  migrate(db, STEPS);
  t.strictSame(stepsOf(db), [1, 2, 3]);
  t.equal(versionOf(db), 3);
  t.end();
});

t.test('a database goes only through the migrations that it has not had yet', (t) => {
  const db = openMemory(t);
  for (const count of [1, 1, 2, 3, 3]) {
    migrate(db, STEPS.slice(0, count));
    t.strictSame(stepsOf(db), [1, 2, 3].slice(0, count));
    t.equal(versionOf(db), count);
  }
  t.end();
});

t.test('a migration that fails undoes those before it', (t) => {
  const db = openMemory(t);
  t.throws(() => migrate(db, [...STEPS.slice(0, 2), 'INSERT INTO nowhere VALUES (3)']), {
    message: 'steps/0003-step.sql: no such table: nowhere',
    cause: { code: 'SQLITE_ERROR' },
  });
  t.strictSame(db.prepare('SELECT * FROM sqlite_schema').all(), []);
  migrate(db, STEPS);
  t.strictSame(stepsOf(db), [1, 2, 3]);
  t.end();
});

t.test('a database of a newer program is refused and stays as it is', (t) => {
  const db = openMemory(t);
  migrate(db, STEPS);
  t.throws(
    () => migrate(db, STEPS.slice(0, 2)),
    /^steps\/0003-step\.sql has run, and is not there: start a newer program/,
  );
  t.strictSame(stepsOf(db), [1, 2, 3]);
  t.equal(versionOf(db), 3);
  t.end();
});

t.test('a connection enforces foreign keys after its migrations, and after one that fails', (t) => {
  const db = openMemory(t);
  migrate(db, STEPS);
  t.equal(db.pragma('foreign_keys', { simple: true }), 1);
  t.throws(() => migrate(db, [...STEPS, 'INSERT INTO nowhere VALUES (3)']));
  t.equal(db.pragma('foreign_keys', { simple: true }), 1);
  t.end();
});

t.test('the engine can rebuild its own tables, also that which triggers of records refer to', async (t) => {
  const file = `${t.testdir()}/pets.db`;
  await openUrl(`sqlite:${file}`).close();
  const db = new Sqlite(file);
  t.teardown(() => db.close());
  const sql = `CREATE TABLE new_edits (name TEXT PRIMARY KEY NOT NULL, count INTEGER NOT NULL, note TEXT) STRICT;
    INSERT INTO new_edits SELECT *, 'kept' FROM record_edits;
    DROP TABLE record_edits;
    ALTER TABLE new_edits RENAME TO record_edits`;
  const added = { part: 'engine', name: '0004-edits.sql', digest: '', sql };
  runAlone(db, runMigrations(TARGET, [...loadMigrations('sqlite', domain), added]));
  t.strictSame(db.prepare('SELECT * FROM record_edits').all(), [{ name: 'pets', count: 0, note: 'kept' }]);
});

t.test('migrations are the .sql files of their folder, by name', (t) => {
  const sqlite = { '0002-b.sql': 'second', '0003-c.sql': 'third', '0001-a.sql': 'first', 'README.md': 'no' };
  const migrations = pathToFileURL(`${t.testdir({ sqlite })}/`);
  const found = loadMigrations('sqlite', { books: { ...books, migrations } });
  t.strictSame(
    found.filter(({ part }) => part === 'books').map(({ sql }) => sql),
    ['first', 'second', 'third'],
  );
  t.end();
});

t.test('our migrations have the same names in both databases, numbered from 0001 without a gap', (t) => {
  const namesIn = (folder: string) => readdirSync(new URL(`../../src/${folder}/`, import.meta.url)).sort();
  for (const [sqlite, postgres] of [
    ['contract-first/store/sqlite/migrations', 'contract-first/store/postgres/migrations'],
    ['pets/migrations/sqlite', 'pets/migrations/postgres'],
  ] as const) {
    const names = namesIn(sqlite);
    t.strictSame(namesIn(postgres), names);
    for (const [index, name] of names.entries()) {
      t.match(name, new RegExp(`^${String(index + 1).padStart(4, '0')}-[a-z-]+\\.sql$`));
    }
  }
  t.end();
});

/** The beginnings of their digests. Add a line for a new file; never change one: databases that have run it would refuse to start. */
const RELEASED = {
  sqlite: ['0001-migrations.sql ae040c04', '0002-api-keys.sql 9ed516cd', '0003-records.sql 241ee577'],
  postgres: ['0001-migrations.sql 206b077e', '0002-api-keys.sql 225d40c7', '0003-records.sql 71251466'],
};

t.test("the engine's migrations stay as they were released, so every database of an earlier version starts", (t) => {
  for (const database of ['sqlite', 'postgres'] as const) {
    const files = loadMigrations(database, {}).map(({ name, digest }) => `${name} ${digest.slice(0, 8)}`);
    t.strictSame(files.slice(0, RELEASED[database].length), RELEASED[database]);
  }
  t.end();
});
