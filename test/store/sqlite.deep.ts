import t from 'tap';
import { Sqlite } from '../../src/store/sqlite/kept-sqlite.ts';
import { loadMigrations, migrate } from '../../src/store/sqlite/migrate.ts';
import { openUrl } from '../database.ts';
import { testStore } from '../store-suite.ts';
import { prepareFilePlace } from './file-place.ts';

t.test('a file', async (t) => testStore(t, { isShared: true, prepare: prepareFilePlace }));

t.test('a database of any earlier version is migrated to this one, with its pets', async (t) => {
  const migrations = loadMigrations();
  for (const [version] of migrations.entries()) {
    const file = `${t.testdir()}/pets.db`;
    const db = new Sqlite(file);
    migrate(db, migrations.slice(0, version));
    if (version > 0) db.exec("INSERT INTO pets (name, category_id) VALUES ('Rex', 9007199254740993)");
    const store = openUrl(`sqlite:${file}`);
    t.equal(db.pragma('user_version', { simple: true }), migrations.length);
    const pet = '{"id":1,"name":"Rex","categoryId":9007199254740993}';
    t.equal((await store.listPets({ limit: 1 })).body.text, version > 0 ? `[${pet}]` : '[]');
    await store.createPet({ name: 'Rex', categoryId: 7n });
    await store.close();
    db.close();
  }
});
