import { execFile } from 'node:child_process';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { promisify } from 'node:util';
import type { Database } from 'better-sqlite3';
import t, { type Test } from 'tap';
import type { Page } from '../../src/contract-first/store/collection.ts';
import { toCursor } from '../../src/contract-first/store/cursors.ts';
import { migrateSqlite } from '../../src/contract-first/store/sqlite/migrate.ts';
import { ReadCache } from '../../src/contract-first/store/sqlite/read-cache.ts';
import { prepareReadPage } from '../../src/contract-first/store/sqlite/reads.ts';
import { shareSnapshots } from '../../src/contract-first/store/sqlite/snapshots.ts';
import { Sqlite } from '../../src/contract-first/store/sqlite/sqlite.ts';
import { StoreCounts } from '../../src/contract-first/store/store.ts';
import { toPlainCodec } from '../../src/contract-first/store/tables/record-codec.ts';
import { toTable } from '../../src/contract-first/store/tables/table.ts';
import { domain } from '../../src/generated/domain.ts';
import { listPets, openUrl, type PetStatus, valuesOf } from '../database.ts';
import { holdClock } from '../held-clock.ts';
import { prepareFile } from './file-outage.ts';

/** Opens a store with five pets in a file, and a connection to the file like that of another program. */
async function openShared(t: Test) {
  const { file, open, connect } = prepareFile(t);
  const [store, db] = [open(), connect()];
  for (const name of ['Ada', 'Bob', 'Cid', 'Dot', 'Eve'])
    await store.records.create({ name, categoryId: 7n, status: 'sold' });

  /**
   * Returns the names on a page. Reads it in its own turn of the event loop, like a request, and checks that each pet
   * equals its get.
   */
  async function names(query: Parameters<typeof listPets>[1]): Promise<string[]> {
    await nextTurn();
    const pets: { id: number; name: string }[] = JSON.parse((await listPets(store, query)).body.text);
    await nextTurn();
    for (const pet of pets) t.strictSame(JSON.parse((await store.records.get(BigInt(pet.id)))?.text ?? 'null'), pet);
    return pets.map(({ name }) => name);
  }
  return { file, store, db, names };
}

/** Replaces a database by a copy of another one, in another process, as SQLite's `.backup` and `.restore` do. */
async function copy(from: string, to: string): Promise<void> {
  const program = `require('better-sqlite3')(${JSON.stringify(from)}).backup(${JSON.stringify(to)})`;
  await promisify(execFile)(process.execPath, ['--eval', program]);
}

const FULL = { limit: 2 };
const LAST = { limit: 3, after: 3n };

t.test('if any program adds a pet, the last page of the list contains it immediately', async (t) => {
  const { store, db, names } = await openShared(t);
  t.strictSame(await names(LAST), ['Dot', 'Eve']);
  await store.records.create({ name: 'Fay', categoryId: 7n, status: 'sold' });
  t.strictSame(await names(LAST), ['Dot', 'Eve', 'Fay']);
  t.strictSame(await names({ ...LAST, status: 'sold' }), ['Dot', 'Eve', 'Fay']);
  t.equal((await listPets(store, LAST)).next, undefined);
  db.exec("INSERT INTO pets (name, category_id, status) VALUES ('Gus', 7, 'sold')");
  await nextTurn();
  t.equal((await listPets(store, LAST)).next, toCursor(6n));
  t.strictSame(await names({ limit: 4, after: 3n }), ['Dot', 'Eve', 'Fay', 'Gus']);
});

t.test('the cache keeps a separate page for each limit and status, even if a status ends in a digit', async (t) => {
  const { db, names } = await openShared(t);
  db.exec("INSERT INTO pets (name, category_id, status) VALUES ('Gus', 7, 'sold1')");
  t.strictSame(await names({ limit: 2, status: 'sold1' as PetStatus }), ['Gus']);
  t.strictSame(await names({ limit: 12, status: 'sold' }), ['Ada', 'Bob', 'Cid', 'Dot', 'Eve']);
});

t.test('while pets are only added, the store reads a full page of the list from the database only once', async (t) => {
  holdClock(t);
  const { store, names } = await openShared(t);
  await names(FULL);
  const before = await listPets(store, FULL);
  await store.records.create({ name: 'Fay', categoryId: 7n });
  await nextTurn();
  t.equal(await listPets(store, FULL), before);
});

t.test('while pets are only added, the store reads each pet from the database only once', async (t) => {
  holdClock(t);
  const { store } = await openShared(t);
  const before = await store.records.get(1n);
  await store.records.create({ name: 'Fay', categoryId: 7n });
  await nextTurn();
  t.equal(await store.records.get(1n), before);
});

t.test(
  'the store does not cache a pet that is read right after a write, and caches one that is read a second later',
  async (t) => {
    const { store } = await openShared(t);
    const isKept = async () => {
      await nextTurn();
      const before = await store.records.get(1n);
      await nextTurn();
      return (await store.records.get(1n)) === before;
    };
    const clock = holdClock(t);
    await store.records.get(2n);
    await store.records.create({ name: 'Fay', categoryId: 7n });
    t.notOk(await isKept());
    clock.pass(1001);
    t.ok(await isKept());
  },
);

t.test('a get of a pet that was missing finds it as soon as any program adds it', async (t) => {
  const { store, db } = await openShared(t);
  t.equal(await store.records.get(6n), undefined);
  db.exec("INSERT INTO pets (name, category_id) VALUES ('Fay', 7)");
  await nextTurn();
  t.match((await store.records.get(6n))?.text, '"name":"Fay"');
});

t.test('lists and gets immediately show that another program has changed, deleted or inserted a pet', async (t) => {
  const { store, db, names } = await openShared(t);
  t.strictSame(await names(FULL), ['Ada', 'Bob']);
  db.exec("UPDATE pets SET name = 'Abe' WHERE id = 1");
  t.strictSame(await names(FULL), ['Abe', 'Bob']);
  db.exec('DELETE FROM pets WHERE id = 1');
  await nextTurn();
  t.equal(await store.records.get(1n), undefined);
  t.strictSame(await names(FULL), ['Bob', 'Cid']);
  db.exec("INSERT INTO pets (id, name, category_id) VALUES (1, 'Amy', 7)");
  t.strictSame(await names(FULL), ['Amy', 'Bob']);
  db.exec("INSERT OR REPLACE INTO pets (id, name, category_id) VALUES (2, 'Ben', 7)");
  t.strictSame(await names(FULL), ['Amy', 'Ben']);
  db.exec('DELETE FROM pets');
  t.strictSame(await names(FULL), []);
});

/** Events, other than changes of single pets, that may change a file while a server has it open. */
const CHANGES: Record<string, (db: Database, file: string, list: () => Promise<string[]>) => unknown> = {
  'an older backup is restored': async (db, file, list) => {
    await copy(file, `${file}.old.db`);
    db.exec('UPDATE pets SET name = upper(name) WHERE id = 2');
    await list();
    await copy(`${file}.old.db`, file);
  },
  'a backup with an equal count of edits is restored': async (_db, file) => {
    await copy(file, `${file}.other.db`);
    const other = new Sqlite(`${file}.other.db`);
    other.exec("UPDATE pets SET name = 'Zoe' WHERE id = 1; UPDATE record_edits SET count = count - 1");
    other.close();
    await copy(`${file}.other.db`, file);
  },
  'another database is restored': async (_db, file) => {
    const other = openUrl(`sqlite:${file}.other.db`);
    for (const name of ['Xan', 'Yue', 'Zoe']) await other.records.create({ name, categoryId: 8n });
    await other.close();
    await copy(`${file}.other.db`, file);
  },
  'the file is rewritten by VACUUM, and a pet changes': (db) =>
    db.exec("VACUUM; UPDATE pets SET name = 'Abe' WHERE id = 1"),
  'the triggers that count edits are dropped, and a pet changes': (db) => {
    for (const name of db.prepare("SELECT name FROM sqlite_schema WHERE type = 'trigger'").pluck().all())
      db.exec(`DROP TRIGGER ${name}`);
    db.exec("UPDATE pets SET name = 'Abe' WHERE id = 1");
  },
  'the count of edits is deleted, and a pet changes': (db) =>
    db.exec("DELETE FROM record_edits; UPDATE pets SET name = 'Abe' WHERE id = 1"),
  'the table is rebuilt': (db) =>
    db.exec(
      'CREATE TABLE new AS SELECT id, lower(name) AS name, category_id, status FROM pets; DROP TABLE pets; ALTER TABLE new RENAME TO pets',
    ),
};

for (const [way, change] of Object.entries(CHANGES)) {
  t.test(`a list and a get show the current data if ${way}`, async (t) => {
    const { file, store, db, names } = await openShared(t);
    let shown: string[] = [];
    const list = async () => {
      shown = await names(FULL);
      return shown;
    };
    await list();
    await change(db, file, list);
    const before = shown;
    await nextTurn();
    const name = db.prepare('SELECT name FROM pets WHERE id = 1').pluck().get();
    t.match((await store.records.get(1n))?.text, `"name":"${name}"`);
    const after = await list();
    t.strictNotSame(after, before);
    t.strictSame(after, db.prepare('SELECT name FROM pets ORDER BY id LIMIT 2').pluck().all());
    // After that, the cache still notices later changes.
    await nextTurn();
    db.exec("UPDATE pets SET name = 'Amy' WHERE id = 1");
    t.strictSame((await names(FULL))[0], 'Amy');
  });
}

t.test(
  'after another program changes the status of the last pet in a list, the page before that pet has no next cursor',
  async (t) => {
    const { store, db } = await openShared(t);
    const query = { limit: 4, status: 'sold' } as const;
    t.equal((await listPets(store, query)).next, toCursor(4n, valuesOf({ status: 'sold' })));
    await nextTurn();
    db.exec("INSERT OR REPLACE INTO pets (id, name, category_id) VALUES (5, 'Eva', 7)");
    t.equal((await listPets(store, query)).next, undefined);
  },
);

t.test('the store shows a change that bypasses the triggers after at most a second', async (t) => {
  const { db, names } = await openShared(t);
  const clock = holdClock(t);
  await names(FULL);
  db.exec("BEGIN; UPDATE pets SET name = 'Abe' WHERE id = 1; UPDATE record_edits SET count = count - 1; COMMIT");
  // The cache notices the write and re-reads the count of edits, which is unchanged. So it keeps its pages.
  t.strictSame(await names(FULL), ['Ada', 'Bob']);
  clock.pass(1001);
  t.strictSame(await names(FULL), ['Abe', 'Bob']);
});

t.test(
  "a change made over the cache's own connection is visible, although SQLite's data version stays the same",
  async (t) => {
    const db = new Sqlite(`${t.testdir()}/pets.db`);
    t.teardown(() => db.close());
    db.defaultSafeIntegers();
    migrateSqlite(db, domain);
    const table = toTable(domain.pets);
    const snapshots = shareSnapshots(db);
    const { readPage } = new ReadCache(db, table, {
      snapshots,
      reads: { readPage: prepareReadPage(db, table, toPlainCodec(table)), readRecord: () => undefined },
      counts: new StoreCounts(),
      share: 1,
    });
    const idsOf = async (limit: number) => {
      await nextTurn();
      return JSON.parse((readPage({ limit }) as Page).body.text).map(({ id }: { id: number }) => id);
    };
    /** Writes outside of the snapshot's transaction, like every method of the store. */
    const write = (sql: string) => {
      snapshots.leave();
      db.exec(sql);
    };
    write("INSERT INTO pets (name, category_id) VALUES ('Ada', 7), ('Bob', 7), ('Cid', 7)");
    t.strictSame(
      [await idsOf(2), await idsOf(5)],
      [
        [1, 2],
        [1, 2, 3],
      ],
    );
    write("INSERT INTO pets (name, category_id) VALUES ('Dot', 7)");
    t.strictSame(
      [await idsOf(2), await idsOf(5)],
      [
        [1, 2],
        [1, 2, 3, 4],
      ],
    );
    write('DELETE FROM pets WHERE id = 2');
    t.strictSame(
      [await idsOf(2), await idsOf(5)],
      [
        [1, 3],
        [1, 3, 4],
      ],
    );
    write('DELETE FROM pets');
    t.strictSame([await idsOf(2), await idsOf(5)], [[], []]);
  },
);

t.test('if reading a change fails at first, the change is visible as soon as it can be read', async (t) => {
  const { db, names } = await openShared(t);
  await names(FULL);
  db.exec("ALTER TABLE record_edits RENAME TO away; UPDATE pets SET name = 'Abe' WHERE id = 1");
  await t.rejects(names(FULL), { message: /no such table/ });
  db.exec('ALTER TABLE away RENAME TO record_edits');
  t.strictSame(await names(FULL), ['Abe', 'Bob']);
});
