import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { setImmediate as nextTurn } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { toStoredKey } from '../../src/contract-first/store/api-keys.ts';
import type { AnyCollection, Fields, Idempotency } from '../../src/contract-first/store/collection.ts';
import { type Database, parseDatabaseUrl } from '../../src/contract-first/store/database-url.ts';
import { move } from '../../src/contract-first/store/move.ts';
import { openStore } from '../../src/contract-first/store/open-store.ts';
import { Sqlite } from '../../src/contract-first/store/sqlite/sqlite.ts';
import type { Store } from '../../src/contract-first/store/store.ts';
import { books } from '../books/domain.ts';
import { startCuttingProxy } from '../cutting-proxy.ts';
import { LIMITS } from '../database.ts';
import { domain as shop } from '../orders/domain.ts';
import { schemaOf, startPostgres } from '../postgres.ts';

const server = await startPostgres(t);
const domain = { ...shop, books };
const NOTHING = / Nothing was moved\.$/;
const UNKNOWN =
  / Either everything was moved or nothing\. Try again: if the target is not empty then, everything was moved\.$/;

interface File {
  file: string;
}

interface Place {
  url: string;
  database: Database;
  /** Opens a store in this database, which is closed at the end of the test. */
  open(): Promise<Opened>;
  execute(sql: string): Promise<void>;
}

type Opened = Store & { all: Record<keyof typeof domain, AnyCollection> };

/** Makes an empty database of each kind. */
const KINDS: Record<string, (t: Test) => Place> = {
  SQLite: (t) => {
    const file = `${t.testdirName}/${readdirSync(t.testdirName).length}.db`;
    return toPlace(t, `sqlite:${file}`, async (sql) => {
      const db = new Sqlite(file);
      db.exec(sql);
      db.close();
    });
  },
  PostgreSQL: (t) => {
    const url = server.newUrl();
    return toPlace(t, url, async (sql) => void (await server.execute(`SET search_path = ${schemaOf(url)}; ${sql}`)));
  },
};

function toPlace(t: Test, url: string, execute: Place['execute']): Place {
  const database = parseDatabaseUrl(url, 'petstore') as Database;
  const open = async () => {
    const store = (await openStore(database, domain, LIMITS)) as unknown as Store;
    t.teardown(() => store.close());
    return Object.assign(store, { all: store.collections }) as unknown as Opened;
  };
  return { url, database, open, execute };
}

const PAIRS = Object.keys(KINDS).flatMap((from) => Object.keys(KINDS).map((to): [string, string] => [from, to]));

/** Runs a test for each pair of source and target, each with its own databases. */
function testPairs(sentence: string, test: (t: Test, from: Place, to: Place) => Promise<void>): void {
  for (const [from, to] of PAIRS) {
    t.test(`from ${from} to ${to}: ${sentence}`, async (t) => {
      t.testdir({});
      const source = KINDS[from]?.(t) as Place;
      if (source.database.kind === 'sqlite') await source.open();
      await test(t, source, KINDS[to]?.(t) as Place);
    });
  }
}

const REX = { name: 'Rex', categoryId: 7n };
const BOOK = {
  title: 'Emma',
  isbn: 7n,
  authors: [],
  price: 1,
  tags: null,
  rating: null,
  series: null,
  isSold: null,
  shelf: null,
};
const MOST = 2n ** 63n - 1n;
const HIGH = 2n ** 53n + 1n;

/** Creates a pet with an Idempotency-Key. Returns its id, and whether the answer was a replay. */
async function createOnce({ pets }: Opened['all']) {
  const idempotency: Idempotency = { caller: 'Ada', operation: 'createPet', key: 'first', hours: 24, digest: 'd' };
  const { id } = (await pets.create(REX, { idempotency })) as unknown as Fields;
  return [id, idempotency.isReplayed];
}

/** Reads all records in pages of two, as text with their cursors, and all that is stored about API keys. */
async function readAll({ all, ...store }: Opened) {
  const pages: unknown[] = [];
  for (const [name, collection] of Object.entries(all)) {
    for (let after: string | undefined, isFirst = true; isFirst || after; isFirst = false) {
      const page = await collection.list({ limit: 2, after });
      pages.push([name, page?.body.text, page?.next]);
      after = page?.next;
    }
  }
  const { keys, salt } = await store.readKeys();
  return { pages, salt, valid: keys.length, keys: await store.listKeys(), uses: await store.listUses() };
}

/**
 * Stores three kinds of data: records with extreme values in every type of column, API keys with the time of their last
 * use, and replies to requests with an Idempotency-Key.
 */
async function fill(t: Test, { all, ...store }: Opened, execute: Place['execute']): Promise<void> {
  for (const fields of [
    {},
    { name: '"\\\n\u2028🐕\u007f', categoryId: MOST, status: 'sold' },
    { categoryId: -MOST - 1n },
  ])
    await all.pets.create({ ...REX, ...fields });
  t.strictSame(await createOnce(all), [4n, false]);
  await all.pets.create(REX);
  await all.pets.delete(5n);
  await execute(`INSERT INTO pets (id, name, category_id) VALUES (${HIGH}, 'High', 7)`);
  // This fails on SQLite, which needs no sequence: it derives the next id from the largest one.
  await execute(`SELECT setval('pets_id_seq', ${HIGH})`).catch(() => {});
  for (const code of ['b', 'gone', 'a']) await all.coupons.create({ code, left: 1n });
  await all.coupons.delete('gone');
  for (const [price, fields] of [
    [
      1n,
      {
        petId: 1n,
        couponCode: 'b',
        weight: 0.1 + 0.2,
        note: "O'Neill",
        gift: { b: [MOST, null, 19.99], a: 'x\\u0000' },
      },
    ],
    [-1n, { dueAt: '2026-01-01T00:00:00.001Z', weight: 1e21, pieces: -(2 ** 31) }],
    [2n, { weight: 5e-324, note: '' }],
  ] as const) {
    const order = await all.orders.create({ price, ...fields });
    await all.orders.update((order as unknown as Fields).number, { price: price * 2n });
  }
  for (const fields of [
    { isLent: true, rating: 1.5, series: MOST, isSold: false, note: null, tags: ['a', MOST, 0.5] },
    { isLent: false, isSold: true, shelf: 'null', note: 'null', printedAt: '2026', price: 1.7976931348623157e308 },
    {},
  ])
    await all.books.create({ ...BOOK, ...fields });
  const [ada, ben] = [toStoredKey('a', 'Ada', new Date(), ['pets:read'], '100/s'), toStoredKey('b', "B'en 🔑")];
  for (const key of [ben, ada]) await store.createKey({ ...key, createdAt: ada.createdAt });
  await store.revokeKey(ada.id, '2026-01-01T00:00:00.000Z');
  await store.addUses([{ keyId: ben.id, usedAt: '2026-01-01T00:00:00.000Z' }]);
  while ((await store.listUses()).length < 1) await nextTurn();
}

testPairs(
  '`move` copies all records and keys byte for byte, and new ids in the target continue those of the source',
  async (t, from, to) => {
    const source = await from.open();
    await fill(t, source, from.execute);
    t.equal(await source.countInvalidRecords('digest', () => true), 0);
    const counts = await move(from.database, to.database, domain);
    t.strictSame(Object.fromEntries(counts), { orders: 3, coupons: 2, pets: 5, books: 3, keys: 2 });
    const target = await to.open();
    const before = await readAll(source);
    t.equal(before.pages.length, 8);
    t.strictSame(await readAll(target), before);
    t.equal(await target.countInvalidRecords('digest', () => false), 0, 'the moved records are not checked again');
    t.strictSame(await createOnce(target.all), [4n, true]);
    for (const { all } of [source, target]) {
      t.match(await all.pets.create(REX), { id: HIGH + 1n });
      t.match(await all.coupons.create({ code: 'c', left: 1n }), { code: 'c' });
      t.match(await all.orders.create({ price: 9n, couponCode: 'c' }), { revision: 1n });
    }
    const cursors = async ({ all }: Opened) => (await all.coupons.list({ limit: 2, after: undefined }))?.next;
    t.equal(await cursors(target), await cursors(source));
  },
);

testPairs(
  'after `move` of a database whose records were all deleted, the target does not use their ids again',
  async (t, from, to) => {
    const source = await from.open();
    await source.all.pets.create(REX);
    await source.all.pets.delete(1n);
    const counts = await move(from.database, to.database, domain);
    t.strictSame([...new Set(counts.values())], [0]);
    const { all } = await to.open();
    t.match(await all.pets.create(REX), { id: 2n });
    t.match(await all.books.create(BOOK), { id: 1n });
  },
);

testPairs('`move` copies many records and very large records each once, in their order', async (t, from, to) => {
  const { all } = await from.open();
  await Promise.all(Array.from({ length: 2500 }, () => all.pets.create(REX)));
  for (let count = 0; count < 40; count++) await all.books.create({ ...BOOK, title: 'é'.repeat(200_000) });
  const counts = await move(from.database, to.database, domain);
  t.match(Object.fromEntries(counts), { pets: 2500, books: 40 });
  const target = await to.open();
  const ids: bigint[] = [];
  for (let after: string | undefined, isFirst = true; isFirst || after; isFirst = false) {
    const page = await target.all.pets.list({ limit: 100, after });
    for (const { id } of page?.body.read() ?? []) ids.push(id as bigint);
    after = page?.next;
  }
  t.strictSame(
    ids,
    Array.from({ length: 2500 }, (_, index) => BigInt(index + 1)),
  );
  t.equal((await target.all.books.get(40n))?.text, (await all.books.get(40n))?.text);
});

testPairs(
  'if the target rejects a record, `move` copies nothing; after the record is repaired, `move` succeeds',
  async (t, from, to) => {
    const source = await from.open();
    await source.all.pets.create(REX);
    await source.all.coupons.create({ code: 'a', left: 1n });
    // The table would reject this record, so its constraint is disabled first.
    const unchecked =
      from.database.kind === 'sqlite'
        ? 'PRAGMA ignore_check_constraints = 1'
        : 'ALTER TABLE pets DROP CONSTRAINT pets_id_check';
    await from.execute(`${unchecked}; INSERT INTO pets (id, name, category_id) VALUES (-1, 'Max', 7)`);
    await t.rejects(move(from.database, to.database, domain), {
      name: 'StoreError',
      message: /(CHECK|check) constraint.* Nothing was moved\.$/,
    });
    const target = await to.open();
    for (const collection of Object.values(target.all))
      t.equal((await collection.list({ limit: 1, after: undefined }))?.body.text, '[]');
    await from.execute('DELETE FROM pets WHERE id = -1');
    await move(from.database, to.database, domain);
    t.strictSame(
      (await readAll(target)).pages,
      (await readAll(source)).pages,
      'a store that was already open also reads the moved records',
    );
  },
);

testPairs(
  '`move` into a database that contains records or keys fails, and leaves source and target unchanged',
  async (t, from, to) => {
    const source = await from.open();
    await source.all.pets.create(REX);
    for (const [held, hold] of [
      ['pets', (store: Opened) => store.all.pets.create(REX)],
      ['pets and keys', (store: Opened) => store.createKey(toStoredKey('Ada', 'Ada'))],
    ] as const) {
      const target = await to.open();
      await hold(target);
      const before = await readAll(target);
      const message = new RegExp(`: it has ${held} already, and must be empty\\. Nothing was moved\\.$`);
      await t.rejects(move(from.database, to.database, domain), { message });
      t.strictSame(await readAll(target), before);
    }
  },
);

testPairs(
  '`move` deletes what an empty target still stores about deleted records and about uses of keys',
  async (t, from, to) => {
    await from.open();
    const { all, ...target } = await to.open();
    t.strictSame(await createOnce(all), [1n, false]);
    await all.pets.delete(1n);
    await target.addUses([{ keyId: 'API_KEYS.1', usedAt: '2026-01-01T00:00:00.000Z' }]);
    while ((await target.listUses()).length < 1) await nextTurn();
    await move(from.database, to.database, domain);
    t.strictSame(await target.listUses(), []);
    t.strictSame(await createOnce(all), [2n, false]);
  },
);

testPairs(
  '`move` from or to a database of an older or newer version fails, and leaves source and target unchanged',
  async (t, from, to) => {
    const none = KINDS[from.database.kind === 'sqlite' ? 'SQLite' : 'PostgreSQL']?.(t) as Place;
    await t.rejects(move(none.database, to.database, domain), {
      message: /: it has no tables of this program\. Nothing/,
    });
    await from.open();
    const older = KINDS[to.database.kind === 'sqlite' ? 'SQLite' : 'PostgreSQL']?.(t) as Place;
    await (await openStore(older.database, shop, LIMITS)).close();
    const message =
      /: its version is 6, and not 7: start this program on it first, which migrates it\. Nothing was moved\.$/;
    await t.rejects(move(from.database, older.database, domain), { message });
    await t.rejects(move(older.database, to.database, domain), { message });
    const newer =
      /: engine\/0009-next\.sql has run, and is not there: start a newer program, .*\. Nothing was moved\.$/s;
    await (await to.open()).close();
    for (const place of [from, to]) {
      await place.execute("INSERT INTO applied_migrations VALUES ('engine', '0009-next.sql', 'digest')");
      await t.rejects(move(from.database, to.database, domain), { message: newer });
      await place.execute("DELETE FROM applied_migrations WHERE name = '0009-next.sql'");
    }
  },
);

t.test('`move` rejects a database in memory as source or target, because no other program can see it', async (t) => {
  t.testdir({});
  const file = KINDS.SQLite?.(t) as Place;
  await file.open();
  for (const pair of [
    [{ kind: 'memory' }, file.database],
    [file.database, { kind: 'memory' }],
  ] as [Database, Database][])
    await t.rejects(move(...pair, domain), {
      message: 'SQLite, in memory: no other program can see it. Nothing was moved.',
    });
});

t.test(
  'if another program locks the target or the source is damaged, `move` fails and the error gives the cause',
  async (t) => {
    t.testdir({});
    const [from, to, other] = [KINDS.SQLite?.(t), KINDS.SQLite?.(t), KINDS.PostgreSQL?.(t)] as [Place, Place, Place];
    const { all, ...source } = await from.open();
    await Promise.all(Array.from({ length: 5000 }, () => all.pets.create(REX)));
    for (const { open } of [to, other]) await (await open()).close();
    const [{ file }, { file: damaged }] = [to.database, from.database] as { file: string }[] as [File, File];
    const writer = new Sqlite(file);
    writer.exec('BEGIN IMMEDIATE');
    await t.rejects(move(from.database, to.database, domain), {
      message: `SQLite, ${file}: database is locked. Nothing was moved.`,
    });
    writer.close();
    const session = await server.connect(t, other.url);
    await session.query('BEGIN; INSERT INTO pets (name, category_id) VALUES (1, 1)');
    await t.rejects(move(from.database, other.database, domain), {
      message: /^PostgreSQL, .*: canceling statement due to lock timeout\. Nothing was moved\.$/,
    });
    await session.query('ROLLBACK');

    await source.close();
    const bytes = readFileSync(damaged);
    writeFileSync(damaged, bytes.fill(0, bytes.length / 2, bytes.length - 4096));
    await t.rejects(move(from.database, to.database, domain), {
      message: `SQLite, ${damaged}: database disk image is malformed. Nothing was moved.`,
    });
  },
);

/** Makes a database on PostgreSQL behind a proxy that can cut its connections. */
async function startCut(t: Test) {
  const proxy = await startCuttingProxy(t, server.port);
  const url = server.newUrl();
  const behind = parseDatabaseUrl(url.replace(`:${server.port}/`, `:${proxy.port}/`), 'petstore') as Database;
  return { proxy, behind, place: toPlace(t, url, async () => {}) };
}

t.test('if `move` loses a connection to PostgreSQL before COMMIT, nothing is moved', async (t) => {
  const [from, to] = [await startCut(t), await startCut(t)];
  await (await from.place.open()).all.pets.create(REX);
  const target = await to.place.open();
  for (const [{ proxy }, text] of [
    [from, 'FETCH'],
    [to, 'INSERT INTO pets'],
  ] as const) {
    proxy.cutAnswerTo(text);
    await t.rejects(move(from.behind, to.behind, domain), { message: NOTHING });
    proxy.cutAnswerTo(undefined);
    t.equal((await target.all.pets.list({ limit: 1 }))?.body.text, '[]');
  }
  t.equal((await move(from.behind, to.behind, domain)).get('pets'), 1);
});

t.test('if the answer of PostgreSQL to COMMIT is lost, `move` reports that its outcome is unknown', async (t) => {
  const [from, to] = [await startCut(t), await startCut(t)];
  await (await from.place.open()).all.pets.create(REX);
  await to.place.open();
  to.proxy.cutAnswerTo('COMMIT\0');
  await t.rejects(move(from.behind, to.behind, domain), { message: UNKNOWN });
  to.proxy.cutAnswerTo(undefined);
  await t.rejects(move(from.behind, to.behind, domain), { message: /: it has pets already/ });
});

t.test('if PostgreSQL does not answer, the error of `move` names the server without its password', async (t) => {
  t.testdir({});
  const file = KINDS.SQLite?.(t) as Place;
  await file.open();
  const nowhere = parseDatabaseUrl('postgres://ada:secret@127.0.0.1:1/pets', 'petstore') as Database;
  for (const pair of [
    [nowhere, file.database],
    [file.database, nowhere],
  ] as [Database, Database][]) {
    const failure = await move(...pair, domain).then(
      () => '',
      ({ message }) => message,
    );
    t.match(failure, /^PostgreSQL, .*127\.0\.0\.1:1.*ECONNREFUSED.* Nothing was moved\.$/);
    t.notMatch(failure, 'secret');
  }
});
