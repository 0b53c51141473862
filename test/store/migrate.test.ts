import { readdirSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import t from 'tap';
import { runAlone, TARGET } from '../../src/contract-first/store/sqlite/migrate.ts';
import { Sqlite } from '../../src/contract-first/store/sqlite/sqlite.ts';
import { runMigrations } from '../../src/contract-first/store/tables/migrate.ts';
import { loadMigrations } from '../../src/contract-first/store/tables/migrations.ts';
import { domain } from '../../src/generated/domain.ts';
import { books } from '../books/domain.ts';
import { openUrl } from '../database.ts';

t.test(
  "a migration of the engine can rebuild the engine's tables, even one that triggers on records write to",
  async (t) => {
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
  },
);

t.test('the migrations of a collection are the .sql files of its folder, in the order of their names', (t) => {
  const sqlite = { '0002-b.sql': 'second', '0003-c.sql': 'third', '0001-a.sql': 'first', 'README.md': 'no' };
  const migrations = pathToFileURL(`${t.testdir({ sqlite })}/`);
  const found = loadMigrations('sqlite', { books: { ...books, migrations } });
  t.strictSame(
    found.filter(({ part }) => part === 'books').map(({ sql }) => sql),
    ['first', 'second', 'third'],
  );
  t.end();
});

t.test('migrations have the same names for SQLite and PostgreSQL, and are numbered from 0001 without a gap', (t) => {
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

/**
 * The first digits of the digest of each released migration. Add a line for each new file. Never change a line:
 * databases on which the old file has run would no longer start.
 */
const RELEASED = {
  sqlite: ['0001-migrations.sql ae040c04', '0002-api-keys.sql 9ed516cd', '0003-records.sql 241ee577'],
  postgres: ['0001-migrations.sql 206b077e', '0002-api-keys.sql 225d40c7', '0003-records.sql 71251466'],
};

t.test("the engine's released migrations never change, so that the engine can start with every older database", (t) => {
  for (const database of ['sqlite', 'postgres'] as const) {
    const files = loadMigrations(database, {}).map(({ name, digest }) => `${name} ${digest.slice(0, 8)}`);
    t.strictSame(files.slice(0, RELEASED[database].length), RELEASED[database]);
  }
  t.end();
});
