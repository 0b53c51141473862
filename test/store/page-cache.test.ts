import { setImmediate as nextTurn } from 'node:timers/promises';
import Sqlite from 'better-sqlite3';
import t, { type Test } from 'tap';
import type { PageQuery } from '../../src/store/store.ts';
import { openUrl } from '../database.ts';

/** A store with five pets in a file, and a connection to the file as another program has it. */
async function openShared(t: Test) {
  const file = `${t.testdir()}/pets.db`;
  const store = openUrl(`sqlite:${file}`);
  const db = new Sqlite(file);
  t.teardown(async () => {
    db.close();
    await store.close();
  });
  for (const name of ['Ada', 'Bob', 'Cid', 'Dot', 'Eve'])
    await store.createPet({ name, categoryId: 7n, status: 'sold' });

  /** The names on a page, in a turn of the event loop of its own, as every request has it. */
  async function names(query: PageQuery): Promise<string[]> {
    await nextTurn();
    const { body } = await store.listPets(query);
    return JSON.parse(body.text).map(({ name }: { name: string }) => name);
  }
  return { store, db, names };
}

const FULL = { limit: 2 };
const LAST = { limit: 3, after: 3n };

t.test('a pet that anybody adds is on the last page at once', async (t) => {
  const { store, db, names } = await openShared(t);
  t.strictSame(await names(LAST), ['Dot', 'Eve']);
  await store.createPet({ name: 'Fay', categoryId: 7n, status: 'sold' });
  t.strictSame(await names(LAST), ['Dot', 'Eve', 'Fay']);
  t.strictSame(await names({ ...LAST, status: 'sold' }), ['Dot', 'Eve', 'Fay']);
  t.equal((await store.listPets(LAST)).next, undefined);
  db.exec("INSERT INTO pets (name, category_id, status) VALUES ('Gus', 7, 'sold')");
  await nextTurn();
  t.equal((await store.listPets(LAST)).next, 6n);
  t.strictSame(await names({ limit: 4, after: 3n }), ['Dot', 'Eve', 'Fay', 'Gus']);
});

t.test('a full page is read once for as long as pets are only added', async (t) => {
  const { store, names } = await openShared(t);
  await names(FULL);
  const before = await store.listPets(FULL);
  await store.createPet({ name: 'Fay', categoryId: 7n });
  await nextTurn();
  t.equal(await store.listPets(FULL), before);
});

t.test('a pet that another program changes, deletes or puts in between is seen at once', async (t) => {
  const { db, names } = await openShared(t);
  t.strictSame(await names(FULL), ['Ada', 'Bob']);
  db.exec("UPDATE pets SET name = 'Abe' WHERE id = 1");
  t.strictSame(await names(FULL), ['Abe', 'Bob']);
  db.exec('DELETE FROM pets WHERE id = 1');
  t.strictSame(await names(FULL), ['Bob', 'Cid']);
  db.exec("INSERT INTO pets (id, name, category_id) VALUES (1, 'Amy', 7)");
  t.strictSame(await names(FULL), ['Amy', 'Bob']);
  db.exec("INSERT OR REPLACE INTO pets (id, name, category_id) VALUES (2, 'Ben', 7)");
  t.strictSame(await names(FULL), ['Amy', 'Ben']);
  db.exec('DELETE FROM pets');
  t.strictSame(await names(FULL), []);
});
