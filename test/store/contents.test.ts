import { renameSync } from 'node:fs';
import { setImmediate as nextTurn } from 'node:timers/promises';
import t, { type Test } from 'tap';
import type { JsonText } from '../../src/json/json-text.ts';
import { toStoredKey } from '../../src/store/api-keys.ts';
import type { Fields } from '../../src/store/collection.ts';
import { Sqlite } from '../../src/store/sqlite/kept-sqlite.ts';
import { type OutageKind, type Part, type StoredKey, StoreError, StoreUnavailable } from '../../src/store/store.ts';
import { startCuttingProxy } from '../cutting-proxy.ts';
import { listPets, type OwnStore, openUrl, type Pet } from '../database.ts';
import { openPostgresUrl, schemaOf, startPostgres } from '../postgres.ts';

const server = await startPostgres(t);
const REX = { name: 'Rex', categoryId: 7n };
const LIMITS = { createTimeout: 60_000, maxCreates: 10_000 };

interface Place {
  open(): Promise<OwnStore>;
  execute(sql: string): Promise<void>;
}

/** An empty place in each kind of store; memory has one store only. */
const KINDS: Record<string, (t: Test) => Place> = {
  SQLite: (t) => {
    const file = `${t.testdir()}/pets.db`;
    const execute = async (sql: string) => {
      const db = new Sqlite(file);
      db.exec(sql);
      db.close();
    };
    return { open: async () => closing(t, openUrl(`sqlite:${file}`)), execute };
  },
  PostgreSQL: (t) => {
    const url = server.newUrl();
    const execute = async (sql: string) => {
      await server.execute(`SET search_path = ${schemaOf(url)}; ${sql}`);
    };
    return { open: () => openPlace(t, url), execute };
  },
  memory: (t) => ({ open: async () => closing(t, openUrl('sqlite::memory:')), execute: async () => {} }),
};

const openPlace = async (t: Test, url: string) => closing(t, await openPostgresUrl(url, LIMITS, 60_000));

function closing(t: Test, store: OwnStore): OwnStore {
  t.teardown(() => store.close());
  return store;
}

interface PetsPart {
  lastId?: bigint;
  keys?: StoredKey[];
  records?: Pet[];
}

/** The parts as they come, then, where there is one, an error. */
async function* toParts(parts: PetsPart[], error?: Error): AsyncGenerator<Part<Fields>> {
  for (const { lastId, ...part } of parts) {
    const records = part.records?.map((pet) => ({ ...pet }));
    yield { ...part, collection: 'pets', ...(records && { records }), ...(lastId && { lastIds: { pets: lastId } }) };
  }
  if (error) throw error;
}

async function readAll(store: OwnStore) {
  const all = { lastId: 0n, keys: [] as unknown[], records: [] as string[] };
  for await (const { lastIds, keys = [], records = [] } of store.readContents()) {
    all.lastId ||= lastIds?.pets ?? 0n;
    all.keys.push(...keys);
    all.records.push(...records.map(({ text }) => text));
  }
  return all;
}

const textOf = async (text: JsonText<Pet> | undefined | Promise<JsonText<Pet> | undefined>) => (await text)?.text;

for (const [name, prepare] of Object.entries(KINDS)) {
  const isShared = name !== 'memory';

  t.test(
    `${name}: what a store is filled with comes out as it went in, and the next pet gets the next id`,
    async (t) => {
      const store = await prepare(t).open();
      const keys = ['Ada', "B'en 🔑", 'Cleo'].map((name) => ({
        ...toStoredKey(name, name, new Date(), ['pets:read'], '100/s'),
        revokedAt: '2026-01-01T00:00:00.000Z',
      }));
      const most = 2n ** 63n - 1n;
      const pets: Pet[] = [
        { id: 3n, name: '"\\\n\u2028🐕', categoryId: most, status: 'sold' },
        { id: 2n ** 53n + 1n, name: 'Rex', categoryId: -most - 1n },
      ];
      const lastId = 2n ** 60n;
      await store.writeContents(
        toParts([{ lastId }, { keys }, { records: pets.slice(0, 1) }, { records: pets.slice(1) }]),
        'digest',
      );
      t.same(await readAll(store), {
        lastId,
        keys,
        records: [
          `{"id":3,"name":"\\"\\\\\\n\u2028🐕","categoryId":${most},"status":"sold"}`,
          `{"id":9007199254740993,"name":"Rex","categoryId":${-most - 1n}}`,
        ],
      });
      t.equal((await store.records.create(REX)).id, lastId + 1n);
      t.equal((await readAll(store)).lastId, lastId + 1n);
    },
  );

  t.test(`${name}: an empty store is read as empty, and stays so when it is filled with nothing`, async (t) => {
    const store = await prepare(t).open();
    const empty = { lastId: 0n, keys: [], records: [] };
    t.strictSame(await readAll(store), empty);
    await store.writeContents(toParts([]), 'digest');
    await store.writeContents(toParts([{}]), 'digest');
    t.strictSame(await readAll(store), empty);
    t.equal((await store.records.create(REX)).id, 1n);
  });

  t.test(
    `${name}: the next id is higher than that of the last pet, and than the last id, also without pets`,
    async (t) => {
      for (const [lastId, pets, next] of [
        [0n, [{ id: 5n, ...REX }], 6n],
        [5n, [], 6n],
        [9n, [{ id: 5n, ...REX }], 10n],
      ] as const) {
        const store = await prepare(t).open();
        await store.writeContents(toParts([{ lastId, records: [...pets] }]), 'digest');
        t.equal((await store.records.create(REX)).id, next);
      }
    },
  );

  t.test(`${name}: many pets are read in their order, each once`, async (t) => {
    const store = await prepare(t).open();
    const pets = Array.from({ length: 12_001 }, (_, index) => ({ id: BigInt(2 * index + 1), ...REX }));
    await store.writeContents(toParts([{ records: pets.slice(0, 11_000) }, { records: pets.slice(11_000) }]), 'digest');
    const ids = (await readAll(store)).records.map((text) => BigInt(/^\{"id":(\d+),/.exec(text)?.[1] as string));
    t.ok(ids.join() === pets.map(({ id }) => id).join());
  });

  t.test(`${name}: when the parts fail, nothing is there, and the store can be filled again`, async (t) => {
    const store = await prepare(t).open();
    const pets = [{ id: 1n, ...REX }];
    const keys = [toStoredKey('Ada', 'Ada')];
    const error = new Error('line 3');
    await t.rejects(store.writeContents(toParts([{ lastId: 8n, keys, records: pets }], error), 'digest'), error);
    await t.rejects(store.writeContents(toParts([{ records: pets }, { records: pets }]), 'digest'), /pets|unique/i);
    t.strictSame(await readAll(store), { lastId: 0n, keys: [], records: [] });
    await store.writeContents(toParts([{ keys, records: pets }]), 'digest');
    t.equal(await textOf(store.records.get(1n) as never), '{"id":1,"name":"Rex","categoryId":7}');
  });

  t.test(`${name}: a store that has pets or keys refuses to be filled, and stays as it is`, async (t) => {
    const pets = [{ id: 8n, ...REX }];
    for (const [held, fill] of [
      ['pets', (store: OwnStore) => store.records.create(REX)],
      ['keys', (store: OwnStore) => store.createKey(toStoredKey('Ada', 'Ada'))],
      [
        'pets and keys',
        (store: OwnStore) => store.writeContents(toParts([{ records: pets, keys: [toStoredKey('B', 'B')] }]), 'x'),
      ],
    ] as const) {
      const store = await prepare(t).open();
      await fill(store);
      const before = await readAll(store);
      const refused = new StoreError(`The database has ${held} already, and must be empty.`);
      await t.rejects(store.writeContents(toParts([{ lastId: 9n, records: pets }]), 'digest'), refused);
      t.strictSame(await readAll(store), before);
    }
  });

  t.test(`${name}: pets that a store was filled with are not checked again under their contract`, async (t) => {
    const store = await prepare(t).open();
    t.equal(await store.countInvalidRecords('earlier', () => true), 0);
    await store.writeContents(toParts([{ records: [{ id: 1n, ...REX }] }]), 'later');
    t.equal(await store.countInvalidRecords('later', () => false), 0);
    t.equal(await store.countInvalidRecords('earlier', () => false), 1);
  });

  t.test(`${name}: reading can end early`, async (t) => {
    const store = await prepare(t).open();
    await store.records.create(REX);
    for await (const { lastIds } of store.readContents()) {
      t.strictSame(lastIds, { pets: 1n });
      break;
    }
    t.equal((await readAll(store)).records.length, 1);
    t.equal((await store.records.create(REX)).id, 2n);
  });

  if (!isShared) continue;

  t.test(`${name}: what is read is as it was at the start, whatever is written meanwhile`, async (t) => {
    const place = prepare(t);
    const store = await place.open();
    const other = await place.open();
    const pets = Array.from({ length: 7000 }, (_, index) => ({ id: BigInt(index + 1), ...REX }));
    await store.writeContents(toParts([{ records: pets }]), 'digest');
    const read: string[] = [];
    let count = 0;
    for await (const part of store.readContents()) {
      if (count++ === 0) t.strictSame(part.lastIds, { pets: 7000n });
      read.push(...(part.records ?? []).map(({ text }) => text));
      await Promise.all([store.records.create(REX), other.records.create(REX)]);
      await place.execute("UPDATE pets SET name = 'Max' WHERE id IN (1, 6000); DELETE FROM pets WHERE id IN (2, 6001)");
      t.equal(await textOf(store.records.get(6000n) as never), '{"id":6000,"name":"Max","categoryId":7}');
    }
    t.ok(count >= 3);
    t.ok(read.join() === pets.map(({ id }) => `{"id":${id},"name":"Rex","categoryId":7}`).join());
  });

  t.test(`${name}: while a store is filled others read it as empty; then they see all of it`, async (t) => {
    const place = prepare(t);
    const store = await place.open();
    const other = await place.open();
    async function* parts() {
      yield* toParts([{ records: [{ id: 1n, ...REX }] }]);
      for (const reader of [store, other]) t.equal((await listPets(reader, { limit: 10 })).body.text, '[]');
      yield* toParts([{ records: [{ id: 2n, ...REX }] }]);
    }
    await store.writeContents(parts(), 'digest');
    // Another store hears of it in a later turn of its event loop.
    await nextTurn();
    for (const reader of [store, other]) t.match((await listPets(reader, { limit: 10 })).body.text, /"id":2/);
    t.equal((await other.records.create(REX)).id, 3n);
  });
}

async function failsWith(t: Test, kind: OutageKind, run: () => Promise<unknown>): Promise<void> {
  const error = await run().then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  t.ok(error instanceof StoreUnavailable, String(error));
  t.equal((error as StoreUnavailable).kind, kind);
}

t.test('SQLite: a file that was moved, or is locked, is neither read nor filled', async (t) => {
  const file = `${t.testdir()}/pets.db`;
  const store = closing(t, openUrl(`sqlite:${file}`));
  const other = new Sqlite(file);
  t.teardown(() => other.close());
  other.exec('BEGIN IMMEDIATE');
  await failsWith(t, 'unavailable', () => store.writeContents(toParts([{}]), 'digest'));
  other.exec('ROLLBACK');
  renameSync(file, `${file}.moved`);
  await failsWith(t, 'unavailable', () => store.writeContents(toParts([{}]), 'digest'));
  await failsWith(t, 'unavailable', () => readAll(store));
  renameSync(`${file}.moved`, file);
  t.strictSame((await readAll(store)).records, []);
});

t.test('PostgreSQL: a lost connection ends reading and filling, and nothing is left', async (t) => {
  const store = await openPlace(t, server.newUrl());
  const cut = () =>
    server.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE state = 'idle in transaction'");
  const pets = [{ id: 1n, ...REX }];
  async function* parts() {
    yield* toParts([{ records: pets }]);
    await cut();
    yield* toParts([{}]);
  }
  await failsWith(t, 'unavailable', () => store.writeContents(parts(), 'digest'));
  await store.writeContents(toParts([{ records: pets }]), 'digest');
  await failsWith(t, 'unavailable', async () => {
    for await (const _ of store.readContents()) await cut();
  });
  t.equal((await readAll(store)).records.length, 1);
});

t.test('PostgreSQL: when the answer to COMMIT is lost, it is not known whether the store was filled', async (t) => {
  const proxy = await startCuttingProxy(t, server.port);
  const url = server.newUrl();
  const store = await openPlace(t, url.replace(`:${server.port}/`, `:${proxy.port}/`));
  proxy.cutAnswerTo('COMMIT\0');
  await failsWith(t, 'outcome_unknown', () =>
    store.writeContents(toParts([{ records: [{ id: 1n, ...REX }] }]), 'digest'),
  );
  proxy.cutAnswerTo(undefined);
  t.equal((await readAll(store)).records.length, 1);
});

t.test('PostgreSQL: without a server, nothing is read or filled', async (t) => {
  const store = await openPlace(t, server.newUrl());
  await server.stop();
  await Promise.all([
    failsWith(t, 'unavailable', () => readAll(store)),
    failsWith(t, 'unavailable', () => store.writeContents(toParts([{}]), 'digest')),
  ]);
});
