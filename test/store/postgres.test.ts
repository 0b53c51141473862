import assert from 'node:assert/strict';
import { once } from 'node:events';
import { chmodSync, chownSync, copyFileSync, statSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { inspect } from 'node:util';
import fc from 'fast-check';
import t, { type Test } from 'tap';
import { JsonText } from '../../src/contract-first/json/json-text.ts';
import type { Page } from '../../src/contract-first/store/collection.ts';
import { type Database, parseDatabaseUrl } from '../../src/contract-first/store/database-url.ts';
import { openStore } from '../../src/contract-first/store/open-store.ts';
import type { PostgresConnection } from '../../src/contract-first/store/postgres/connection.ts';
import { buildListRecords } from '../../src/contract-first/store/postgres/reads.ts';
import { StoreError, StoreUnavailable } from '../../src/contract-first/store/store.ts';
import { toPlainCodec } from '../../src/contract-first/store/tables/record-codec.ts';
import { toTable } from '../../src/contract-first/store/tables/table.ts';
import { domain } from '../../src/generated/domain.ts';
import { LIMITS, listPets, type NewPet, type OwnStore, openUrl, type PetStatus, valuesOf } from '../database.ts';
import { record, violationsOf } from '../histories.ts';
import { openPostgresUrl, schemaOf, startPostgres } from '../postgres.ts';
import { runProperties, toProperty } from '../properties/property.ts';
import { ANY_CHARACTER } from '../properties/strings.ts';

const server = await startPostgres(t);
const open = (url: string, timeout = 60_000) => openPostgresUrl(url, {}, timeout);

async function openOne(t: Test, url = server.newUrl(), timeout = 60_000): Promise<OwnStore> {
  const store = await open(url, timeout);
  t.teardown(() => store.close());
  return store;
}

const idsIn = async (store: OwnStore, status?: PetStatus): Promise<bigint[]> => {
  const { body } = await listPets(store, { limit: 100, status });
  return [...body.text.matchAll(/\{"id":(\d+),/g)].map(([, digits]) => BigInt(digits as string));
};

t.test('all servers on one PostgreSQL count the requests of a caller together', async (t) => {
  const url = server.newUrl();
  const stores = [await openOne(t, url), await openOne(t, url)];
  const add = (id: string, amount: number) =>
    Promise.all(stores.map(({ countWindow }) => countWindow?.(id, 86_400, amount)));
  const [ofAda, ofBen] = await Promise.all([add('Ada', 3), add('Ben', 5)]);
  t.strictSame(new Set(ofAda.map((counted) => counted?.total)), new Set([3, 6]));
  t.strictSame(new Set(ofBen.map((counted) => counted?.total)), new Set([5, 10]));
  for (const counted of ofAda) t.ok(counted && counted.ends > 0 && counted.ends <= 86_400_000);
  await server.execute(
    `UPDATE ${schemaOf(url)}.tallies SET began = began - 86400, ends = ends - 86400 WHERE id = 'Ada'`,
  );
  t.equal((await stores[0]?.countWindow?.('Ada', 86_400, 1))?.total, 1);
  await server.execute(`UPDATE ${schemaOf(url)}.tallies SET ends = ends - 86400`);
  const [, again] = [await openOne(t, url), await openOne(t, url)];
  t.equal((await again?.countWindow?.('Cleo', 60, 1))?.total, 1);
  const left = await server.execute(`SELECT id FROM ${schemaOf(url)}.tallies`);
  t.strictSame(left.rows, [{ id: 'Cleo' }]);
});

/** Returns the text of an answer. Answers cannot be compared directly, because they refer to their store. */
function toText(answer: unknown): unknown {
  if (answer instanceof JsonText) return answer.text;
  const { body, next } = (answer ?? {}) as Partial<Page>;
  return body ? [body.text, next] : answer;
}

t.test('for any data, PostgreSQL and SQLite give the same answers, down to the text of each record', async (t) => {
  const [postgres, sqlite] = [await openOne(t), openUrl('sqlite::memory:')];
  t.teardown(() => sqlite.close());
  const stores = [postgres, sqlite];
  const name = fc
    .string({ unit: ANY_CHARACTER, minLength: 1, maxLength: 20 })
    .map((text) => text.replaceAll('\0', '0'));
  const status = fc.constantFrom(undefined, 'available', 'pending', 'sold') as fc.Arbitrary<PetStatus | undefined>;
  const id = fc.oneof(fc.bigInt({ min: 0n, max: 300n }), fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }));
  const pet = fc.record({ name, categoryId: fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }), status });
  const query = fc.record({
    limit: fc.integer({ min: 1, max: 100 }),
    status,
    after: fc.option(id, { nil: undefined }),
  });
  const both = async <Result>(ask: (store: OwnStore) => Result) => Promise.all(stores.map(ask));
  const same = ([one, other]: unknown[]) => assert.deepEqual([one].flat().map(toText), [other].flat().map(toText));
  const property = toProperty({
    name: 'both stores answer the same text',
    cases: fc.tuple(fc.array(pet, { maxLength: 5 }), fc.array(id), fc.array(query)),
    toText: (asked) => inspect(asked, { depth: 9 }),
    holds: async ([pets, ids, queries]) => {
      for (const one of pets) same(await both((store) => store.records.create(one as NewPet)));
      same(await both((store) => Promise.all(ids.map((one) => store.records.get(one)))));
      same(await both((store) => Promise.all(queries.map((one) => listPets(store, one)))));
    },
  });
  await runProperties(t, [property], 1 / 10);
});

t.test('concurrent calls to several stores on one PostgreSQL are linearizable', async (t) => {
  const url = server.newUrl();
  const stores = await Promise.all(Array.from({ length: 4 }, () => openOne(t, url)));
  const calls = await record(stores, 16, 1000);
  t.strictSame(violationsOf(calls), []);
});

t.test(
  'a transaction that creates a pet waits for earlier ones, so that no pet is visible before one with a smaller id',
  async (t) => {
    const url = server.newUrl();
    const store = await openOne(t, url);
    const other = await server.connect(t, url);
    await other.query('SET synchronous_commit = off');
    await other.query("BEGIN; INSERT INTO pets (name, category_id) VALUES ('Ann', 1)");
    t.equal((await other.query('SHOW synchronous_commit')).rows[0].synchronous_commit, 'on');
    const added = store.records.create({ name: 'Ben', categoryId: 2n });
    await wait(100);
    t.strictSame(await idsIn(store), []);
    await other.query('COMMIT');
    const { id } = await added;
    t.strictSame(await idsIn(store), [id - 1n, id]);
  },
);

t.test('the page of one status is equally fast with any number of pets of other statuses', async (t) => {
  const url = server.newUrl();
  const store = await openOne(t, url);
  const other = await server.connect(t, url);
  await other.query(
    "INSERT INTO pets (name, category_id, status) SELECT 'Pet', 1, 'sold' FROM generate_series(1, 100000)",
  );
  const { id } = await store.records.create({ name: 'Rex', categoryId: 7n, status: 'pending' });
  t.strictSame(await idsIn(store, 'pending'), [id]);
  const plans: string[] = [];
  const explain = async (sql: string, values?: unknown[]) => {
    const { rows } = await other.query({
      text: `EXPLAIN ANALYZE ${sql}`,
      values: values as unknown[],
      rowMode: 'array',
    });
    plans.push(rows.join('\n'));
    return [[null, null, 'f']];
  };
  const list = buildListRecords(schemaOf(url), toTable(domain.pets), toPlainCodec(toTable(domain.pets)));
  for (const statistics of ['SELECT 1', 'ANALYZE pets']) {
    await other.query(statistics);
    await list({ query: explain } as unknown as PostgresConnection, [
      { limit: 20, after: 0n, values: valuesOf({ status: 'pending' }) },
    ]);
  }
  for (const plan of plans) {
    t.match(plan, /Index Scan using pets_by_status/);
    t.notMatch(plan, /Seq Scan|Rows Removed by Filter: \d\d/);
  }
});

t.test('if PostgreSQL rejects one of many reads, only this read fails', async (t) => {
  const store = await openOne(t);
  const { id } = await store.records.create({ name: 'Rex', categoryId: 7n });
  const ids = [id, 2n ** 63n, id, id, -(2n ** 64n), id];
  const gets = await Promise.allSettled(ids.map(async (one) => store.records.get(one)));
  const [found, refused] = [{ value: { text: /Rex/ } }, { reason: { code: '22003' } }];
  t.match(gets, [found, refused, found, found, refused, found]);
});

t.test('each caller has its own request count, even if its name is long or contains unusual characters', async (t) => {
  const { countWindow } = await openOne(t);
  const names = ['a\0', 'a', 'a\ud800', 'a\ufffd', 'b'.repeat(10_000), `${'b'.repeat(9999)}c`];
  const count = (amount: number) => Promise.all(names.map((name) => countWindow?.(name, 86_400, amount)));
  await count(1);
  t.match(await count(2), Array(names.length).fill({ total: 3 }));
});

t.test(
  'if one of many created pets has a text that is too long for PostgreSQL, only the create of this pet fails',
  async (t) => {
    const url = server.newUrl();
    const store = await openOne(t, url);
    await server.execute(`CREATE INDEX ON ${schemaOf(url)}.pets (name)`);
    // Not compressible.
    const name = Array.from({ length: 3000 }, () => String.fromCharCode(0x4e00 + Math.random() * 20_000)).join('');
    const create = (one: string) => store.records.create({ name: one, categoryId: 7n });
    const outcomes = await Promise.allSettled(['Ada', name, 'Bob'].map(create));
    t.match(outcomes, [{ value: { name: 'Ada' } }, { reason: { code: 'INVALID_VALUE' } }, { value: { name: 'Bob' } }]);
  },
);

t.test(
  'creating and revoking an API key waits for the disk, even if the session turns synchronous_commit off',
  async (t) => {
    const url = server.newUrl();
    const store = await openOne(t, url);
    await store.createKey({ id: 'a', name: 'Ada', hash: 'x'.repeat(64), createdAt: '' });
    const other = await server.connect(t, url);
    for (const mode of ['off', 'local', 'remote_write']) {
      await other.query(`SET synchronous_commit = ${mode}; BEGIN; UPDATE api_keys SET revoked_at = '2026'`);
      const { rows } = await other.query('SHOW synchronous_commit');
      t.equal(rows[0].synchronous_commit, mode === 'remote_write' ? mode : 'on');
      await other.query('COMMIT');
    }
  },
);

t.test('a PostgreSQL database whose encoding is not UTF-8 stops the start', async (t) => {
  await server.execute("CREATE DATABASE latin ENCODING 'LATIN1' TEMPLATE template0");
  await t.rejects(open(server.newUrl().replace('/postgres?', '/latin?')), new Error('its encoding is not UTF8'));
});

t.test(
  'if the URL lists several PostgreSQL servers, the store uses the first server that it can write to',
  async (t) => {
    const url = server.newUrl();
    const store = await openOne(t, url.replace('127.0.0.1:', `127.0.0.1:1,localhost:2,127.0.0.1:`));
    t.ok(await store.records.create({ name: 'Rex', categoryId: 7n }));
  },
);

t.test('if the store cannot use PostgreSQL, the error gives the reason without the password', async (t) => {
  const url = server.newUrl();
  const messages: [url: string, message: RegExp][] = [
    [
      url.replace(server.password, 'wrong-password'),
      /^The database postgres on 127.0.0.1:\d+ cannot be used: 127.0.0.1:\d+: password authentication failed for user "petstore"\.$/,
    ],
    [url.replace('/postgres?', '/nowhere?'), /database "nowhere" does not exist/],
    [url.replace(`:${server.port}/`, ':1/'), /127.0.0.1:1: connect ECONNREFUSED/],
    [url.replace(`127.0.0.1:${server.port}/`, 'localhost:1/'), /localhost:1: .*ECONNREFUSED/],
    [`${url}&sslmode=require`, /does not support SSL/],
    [`${url}&sslmode=verify-full&sslrootcert=/nowhere`, /ENOENT/],
  ];
  for (const [wrong, message] of messages) {
    const database = parseDatabaseUrl(wrong, 'petstore') as Database;
    const error = await Promise.resolve(openStore(database, domain, LIMITS)).catch((thrown: unknown) => thrown);
    t.ok(error instanceof StoreError);
    t.match((error as Error).message, message);
    t.notMatch(inspect(error, { depth: 9 }), /wrong-password/);
    t.notMatch(inspect(error, { depth: 9 }), server.password);
  }
});

t.test(
  'if a PostgreSQL server accepts a connection but never answers, the start fails after its timeout',
  async (t) => {
    const silent = createServer().listen(0, '127.0.0.1');
    await once(silent, 'listening');
    t.teardown(() => silent.close());
    const { port } = silent.address() as AddressInfo;
    const url = server.newUrl().replace(`:${server.port}/`, `:${port}/`);
    await t.rejects(openPostgresUrl(url, {}, 1000, 1000), /it does not answer/);
  },
);

t.test(
  "DATABASE_URL decides whether the store encrypts its connection to PostgreSQL and checks the server's certificate",
  async (t) => {
    const [certificate, key] = ['server.crt', 'server.key'].map((name) => {
      const file = join(server.folder, name);
      copyFileSync(new URL(`certificate/${name}`, import.meta.url), file);
      return file;
    }) as [string, string];
    const { uid, gid } = statSync(server.folder);
    chmodSync(key, 0o600);
    chownSync(key, uid, gid);
    await server.execute(`ALTER SYSTEM SET ssl_cert_file = '${certificate}'`);
    await server.execute(`ALTER SYSTEM SET ssl_key_file = '${key}'`);
    await server.execute('ALTER SYSTEM SET ssl = on');
    await server.execute('SELECT pg_reload_conf()');

    const byAddress = server.newUrl();
    const byName = byAddress.replace('127.0.0.1', 'localhost');
    for (const url of [
      `${byName}&sslmode=verify-full&sslrootcert=${certificate}`,
      `${byAddress}&sslmode=verify-ca&sslrootcert=${certificate}`,
      `${byAddress}&sslmode=require`,
    ]) {
      const store = await openOne(t, url);
      t.ok(await store.records.create({ name: 'Rex', categoryId: 7n }));
      const { rows } = await server.execute(
        "SELECT bool_and(ssl) AS encrypted FROM pg_stat_ssl JOIN pg_stat_activity USING (pid) WHERE application_name = 'petstore'",
      );
      t.equal(rows[0].encrypted, true, url);
      await store.close();
    }

    const store = await openOne(t, `${byAddress}&sslmode=require`, 4000);
    await server.signal('SIGSTOP');
    await t.rejects(async () => store.records.get(1n), StoreUnavailable);
    await server.signal('SIGCONT');
    for (let isBack = false; !isBack; ) {
      const got = Promise.resolve(store.records.get(1n));
      isBack = await got.then(
        () => true,
        () => false,
      );
    }
  },
);
