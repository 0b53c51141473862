import { once } from 'node:events';
import { existsSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { Worker } from 'node:worker_threads';
import t, { type Test } from 'tap';
import { makeKey, toStoredKey } from '../../src/contract-first/store/api-keys.ts';
import { openConnection, useWal } from '../../src/contract-first/store/sqlite/connection.ts';
import { Sqlite } from '../../src/contract-first/store/sqlite/sqlite.ts';
import { type StoredKey, StoreUnavailable } from '../../src/contract-first/store/store.ts';
import { listPets, type NewPet, type OwnStore, openUrl } from '../database.ts';
import { prepareFile } from './file-outage.ts';

const REX: NewPet = { name: 'Rex', categoryId: 7n };

t.test('the start creates the database file and its folders if they are missing', async (t) => {
  const file = `${t.testdir()}/some/where/pets.db`;
  const store = openUrl(`sqlite:${file}`);
  t.teardown(() => store.close());
  t.ok(existsSync(file));
});

t.test('the database is in WAL mode, and its tables are strict', async (t) => {
  const { open, connect } = prepareFile(t);
  open();
  const db = connect();
  t.equal(db.pragma('journal_mode', { simple: true }), 'wal');
  const ours = "FROM pragma_table_list WHERE schema = 'main' AND name NOT LIKE 'sqlite_%'";
  const strict = db.prepare(`SELECT name ${ours} AND strict ORDER BY name`).pluck().all();
  t.strictSame(strict, [
    'api_key_changes',
    'api_keys',
    'applied_migrations',
    'deleted_revisions',
    'idempotency_keys',
    'key_uses',
    'known_triggers',
    'passed_check',
    'pets',
    'record_edits',
  ]);
  t.strictSame(db.prepare(`SELECT name ${ours} AND NOT strict`).pluck().all(), []);
});

t.test('if SQLite cannot use WAL mode for the database, the start fails', (t) => {
  // For an empty name, SQLite makes a temporary file, which cannot have the shared memory that WAL needs.
  const db = new Sqlite('');
  t.teardown(() => db.close());
  t.throws(() => useWal(db), { message: 'it stays in journal mode delete, but needs WAL: put it on a local disk' });
  t.end();
});

t.test('each commit waits until its data is on disk, because `synchronous` is FULL', (t) => {
  const db = openConnection(prepareFile(t).file);
  t.teardown(() => db.close());
  t.equal(db.pragma('synchronous', { simple: true }), 2n);
  t.end();
});

t.test('after the last store is closed, the database is one complete file without a write-ahead log', async (t) => {
  const { file, open, connect } = prepareFile(t);
  const stores = [open(), open()];
  for (const store of stores) await store.records.create(REX);
  for (const store of stores) await store.close();
  t.notOk(existsSync(`${file}-wal`));
  t.equal(connect().pragma('integrity_check', { simple: true }), 'ok');
});

t.test(
  "a create with an Idempotency-Key returns the pet's own id, even if sqlite_sequence was edited by hand",
  async (t) => {
    const { open, connect } = prepareFile(t);
    const store = open();
    for (let count = 0; count < 3; count++) await store.records.create(REX);
    connect().exec('UPDATE sqlite_sequence SET seq = 1');
    const idempotency = { caller: 'Ada', operation: 'createPet', key: 'first', hours: 24, digest: '' };
    const created = await store.records.create({ name: 'Mia', categoryId: 7n }, { idempotency });
    t.equal((await store.records.get(created.id))?.text, '{"id":4,"name":"Mia","categoryId":7}');
  },
);

const APPLIED = 'CREATE TABLE applied_migrations (part TEXT, name TEXT, digest TEXT)';

t.test('if a database has a newer or foreign schema, the start fails and changes not a byte of it', async (t) => {
  for (const [mode, sql, said] of [
    [
      'wal',
      `${APPLIED}; INSERT INTO applied_migrations VALUES ('pets', '1000-more.sql', '')`,
      /pets\/1000-more\.sql has run, and is not there: start a newer program/,
    ],
    [
      'delete',
      `${APPLIED}; INSERT INTO applied_migrations VALUES ('books', '0001-books.sql', '')`,
      /books\/0001-books\.sql has run, and is not there: start a newer program/,
    ],
    [
      'wal',
      'CREATE TABLE pets (id INTEGER); PRAGMA user_version = 9',
      /tables of another program, or of a version before the first/,
    ],
  ] as const) {
    const { file, connect } = prepareFile(t);
    const db = connect();
    db.pragma(`journal_mode = ${mode}`);
    db.exec(sql);
    db.close();
    const bytes = readFileSync(file);
    t.throws(() => openUrl(`sqlite:${file}`), said);
    t.ok(bytes.equals(readFileSync(file)));
    t.notOk(existsSync(`${file}-wal`));
    rmSync(file);
  }
});

t.test('if a file is not a database, the start fails and changes not a byte of it', async (t) => {
  const { file } = prepareFile(t);
  writeFileSync(file, 'My notes, which nobody may overwrite.\n'.repeat(100));
  const bytes = readFileSync(file);
  t.throws(() => openUrl(`sqlite:${file}`), {
    name: 'StoreError',
    message: /cannot be used: file is not a database/,
  });
  t.ok(bytes.equals(readFileSync(file)));
});

t.test('if a folder in the path of the database is a file, the start fails', async (t) => {
  const { file } = prepareFile(t);
  writeFileSync(file, '');
  t.throws(() => openUrl(`sqlite:${file}/pets.db`), { name: 'StoreError', message: /cannot be used: E\w+:/ });
});

t.test('opening a database waits until another program has finished its write', async (t) => {
  const { file, open, connect } = prepareFile(t);
  await open().close();
  const db = connect();
  db.pragma('journal_mode = DELETE');
  const writing = new Worker(
    `const { parentPort, workerData } = require('node:worker_threads');
    const db = require('better-sqlite3')(workerData);
    db.exec('BEGIN IMMEDIATE');
    parentPort.postMessage('locked');
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 300);
    db.exec('COMMIT');
    db.close();`,
    { eval: true, workerData: file },
  );
  const exit = once(writing, 'exit');
  await once(writing, 'message');
  const store = open();
  t.equal(connect().pragma('journal_mode', { simple: true }), 'wal');
  await store.records.create(REX);
  await exit;
});

t.test('if another program uses the database file without WAL mode, the start fails', async (t) => {
  const { file, open, connect } = prepareFile(t);
  await open().close();
  const db = connect();
  db.pragma('journal_mode = DELETE');
  db.exec('BEGIN; SELECT * FROM pets');
  t.throws(() => openUrl(`sqlite:${file}`), { message: `The database ${file} cannot be used: database is locked.` });
});

t.test('while the database file is moved away or replaced, the store accepts no writes', async (t) => {
  const { file, open } = prepareFile(t);
  const store = open();
  await store.records.create(REX);
  t.equal(await idsIn(store), '[1]');
  renameSync(file, `${file}.moved`);
  for (const away of [() => {}, () => writeFileSync(file, '')]) {
    away();
    await rejectsUnavailable(t, store, 'SQLITE_READONLY_DBMOVED');
    t.throws(() => store.check(), { name: 'StoreUnavailable' });
    t.throws(() => store.createKey({ id: 'a', name: 'a', hash: 'a'.repeat(64), createdAt: 'now' }), {
      name: 'StoreUnavailable',
    });
    t.throws(() => store.revokeKey('a', 'now'), { name: 'StoreUnavailable' });
    t.equal(await idsIn(store), '[1]');
  }
  renameSync(`${file}.moved`, file);
  await store.check();
  await store.records.create(REX);
  t.equal(await idsIn(store), '[1,2]');
});

t.test('if the database file is moved away before the first write, the store does not create it again', async (t) => {
  const { file, open } = prepareFile(t);
  const store = open();
  renameSync(file, `${file}.moved`);
  await rejectsUnavailable(t, store, 'SQLITE_READONLY_DBMOVED');
  t.notOk(existsSync(file));
  renameSync(`${file}.moved`, file);
  t.equal((await store.records.create(REX)).id, 1n);
});

t.test('if the database file is damaged, reads and the health check fail as an outage of the store', async (t) => {
  const { file, open, connect } = prepareFile(t);
  const first = open();
  await first.records.create(REX);
  await first.close();
  const db = connect();
  const page = db.prepare("SELECT rootpage FROM sqlite_schema WHERE name = 'pets'").pluck().get() as number;
  const size = db.pragma('page_size', { simple: true }) as number;
  db.close();
  const bytes = readFileSync(file);
  writeFileSync(file, bytes.fill(0xaa, (page - 1) * size, page * size));
  const store = open();
  for (const read of [() => store.records.get(1n), () => listPets(store, { limit: 1 }), () => store.check()]) {
    t.throws(read, { name: 'StoreUnavailable', cause: { code: 'SQLITE_CORRUPT' } });
  }
});

t.test(
  'if a pet breaks a constraint of its table, its create fails with an internal error, not as an outage',
  async (t) => {
    for (const url of ['sqlite::memory:', `sqlite:${t.testdir()}/pets.db`]) {
      const store = openUrl(url);
      t.teardown(() => store.close());
      const broken = store.records.create({ categoryId: 7n } as NewPet);
      await t.rejects(Promise.resolve(broken), { code: 'SQLITE_CONSTRAINT_NOTNULL' });
      t.equal((await store.records.create(REX)).name, 'Rex');
    }
  },
);

/** Returns the ids of all pets as text. */
async function idsIn(store: OwnStore): Promise<string> {
  const { body } = await listPets(store, { limit: 100 });
  return `[${[...body.text.matchAll(/"id":(\d+)/g)].map(([, id]) => id)}]`;
}

/** Creates three pets at the same time, and checks that each create fails as an outage with this code. */
async function rejectsUnavailable(t: Test, store: OwnStore, code: string): Promise<void> {
  const pets = [store.records.create(REX), store.records.create(REX), store.records.create(REX)];
  const results = await Promise.allSettled(pets);
  for (const result of results) {
    const { reason } = result as PromiseRejectedResult;
    t.ok(reason instanceof StoreUnavailable);
    t.match(reason, { name: 'StoreUnavailable', cause: { code } });
  }
}

t.test('after API keys were deleted by hand or a backup was restored, the store reads all keys again', async (t) => {
  const file = `${t.testdir()}/pets.db`;
  const [a, b] = ['a', 'b'].map((name) => toStoredKey(makeKey('petstore'), name)) as [StoredKey, StoredKey];
  const store = openUrl(`sqlite:${file}`);
  const db = new Sqlite(file);
  t.teardown(() => [db.close(), store.close()]);
  await store.createKey(a);
  const first = await store.readKeys();
  db.prepare('VACUUM INTO ?').run(`${file}.backup`);
  await store.createKey(b);
  db.prepare('DELETE FROM api_keys WHERE id = ?').run(a.id);
  const second = await store.readKeys(first.version);
  t.same([second.isAll, second.keys], [true, [b]]);

  const backup = new Sqlite(`${file}.backup`);
  t.teardown(() => backup.close());
  await backup.backup(file);
  const third = await store.readKeys(second.version);
  t.same([third.isAll, third.keys], [true, [a]]);
});
