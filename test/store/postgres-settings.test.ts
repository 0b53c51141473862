/** The answers of the store do not depend on the settings of the PostgreSQL server, the database or the role. */
import pg from 'pg';
import t, { type Test } from 'tap';
import type { AnyCollection, Fields, Page } from '../../src/contract-first/store/collection.ts';
import { openPostgres } from '../../src/contract-first/store/postgres/open-postgres.ts';
import type { Store } from '../../src/contract-first/store/store.ts';
import { books } from '../books/domain.ts';
import { LIMITS } from '../database.ts';
import { domain as orders } from '../orders/domain.ts';
import { idempotencyOf, keyOf, toShop } from '../orders/shops.ts';
import { transactions } from '../orders/writing.ts';
import { settingsOf, startPostgres } from '../postgres.ts';

const server = await startPostgres(t);

/** Values for settings of type text. */
const TEXTS: Record<string, string> = {
  ...{
    DateStyle: 'German, DMY',
    TimeZone: 'America/New_York',
    client_encoding: 'LATIN1',
    search_path: 'evil, pg_catalog',
  },
  ...{ timezone_abbreviations: 'India', default_text_search_config: 'simple', lc_messages: 'C.UTF-8' },
  ...{ restrict_nonsystem_relation_kind: 'view', wal_consistency_checking: 'all', createrole_self_grant: 'set' },
};

/** Settings with which operators limit a role or make it read-only. The store does not override them. */
const RESPECTED = /^transaction_|^default_transaction_read_only$|^temp_file_limit$|^session_replication_role$/;

interface Setting {
  name: string;
  setting: string;
  kind: string;
  least: string;
  greatest: string;
  values: string[] | null;
}

/** Returns a value that differs as much as possible from the default; undefined if there is no other value. */
function toHostile({ name, setting, kind, least, greatest, values }: Setting): string | undefined {
  if (kind === 'bool') return setting === 'on' ? 'off' : 'on';
  if (kind === 'enum') return values?.filter((value) => value !== setting).at(name === 'synchronous_commit' ? -1 : 0);
  if (kind === 'string') return TEXTS[name];
  return setting === least ? greatest : least;
}

/**
 * Changes every setting that a role or a superuser may change: half of them for the role, the other half for its
 * database. Returns the values.
 */
async function makeHostile(database: string): Promise<Record<string, string>> {
  await server.execute(`CREATE ROLE ${database} LOGIN PASSWORD '${server.password}'`);
  await server.execute(`CREATE DATABASE ${database} OWNER ${database}`);
  const { rows } = await server.execute(`
    SELECT name, setting, vartype AS kind, min_val AS least, max_val AS greatest, enumvals AS values
    FROM pg_settings WHERE context IN ('user', 'superuser') ORDER BY name`);
  const set: Record<string, string> = {};
  for (const [index, setting] of (rows as Setting[]).entries()) {
    const value = toHostile(setting);
    if (value === undefined || RESPECTED.test(setting.name)) continue;
    const of = index % 2 === 0 ? `ROLE ${database}` : `DATABASE ${database}`;
    const text = setting.name === 'search_path' ? value : `'${value}'`;
    await server.execute(`ALTER ${of} SET ${setting.name} = ${text}`);
    set[setting.name] = value;
  }
  return set;
}

/** Functions that replace those of PostgreSQL if the search path allows it. */
const EVIL = `
  CREATE SCHEMA evil; GRANT USAGE ON SCHEMA evil TO PUBLIC;
  CREATE FUNCTION evil.lower(text) RETURNS text LANGUAGE sql AS $$ SELECT 'evil' $$;
  CREATE FUNCTION evil.to_json(text) RETURNS json LANGUAGE sql AS $$ SELECT '"evil"'::json $$;
  CREATE FUNCTION evil.clock_timestamp() RETURNS timestamptz LANGUAGE sql AS $$ SELECT 'epoch'::timestamptz $$`;

const NUMBERS = [0.1 + 0.2, 0.3, 1 / 3, 5e-324, Number.MAX_VALUE, -123456789.12345678, 1e21];

/** SQL of a transaction whose result depends on settings. */
const ASKED = `SELECT '2026-07-01 12:00Z'::timestamptz::text AS a, '2026-07-01 12:00Z'::timestamptz AS b, 'a\\b' AS c,
  '1 day 1 hour'::interval::text AS d, decode('00ff', 'hex')::text AS e, 0.1::float8 + 0.2::float8 AS f,
  (1 = NULL) IS NULL AS g, '{NULL}'::text[] IS NOT DISTINCT FROM ARRAY[NULL::text] AS h, lower('A') AS i,
  '2.5'::float8::text AS j, date '2026-02-01' AS k, to_char(1234.5, 'L9G999D9') AS l, xmlserialize(content xmlelement(name a, decode('ff', 'hex')) AS text) AS m`;

async function useBooks(store: Store): Promise<unknown[]> {
  const { books: collection } = store.collections as { books: AnyCollection };
  const make = (price: number, index: number) => ({
    ...{
      title: `"\\ '${index}' NULL`,
      isbn: 7n,
      authors: ['a\\b', 'a\0'],
      price,
      tags: null,
      rating: price,
      series: null,
    },
    ...{ isSold: null, shelf: index % 2 ? null : 'NULL', ...(index % 3 ? { printedAt: 'NULL', isLent: true } : {}) },
  });
  const made = await Promise.all(NUMBERS.map((price, index) => collection.create(make(price, index) as Fields)));
  const keyed = await collection.create(make(0.7, 9), { idempotency: idempotencyOf('book') });
  const again = await collection.create(make(0.7, 9), { idempotency: idempotencyOf('book') });
  const texts = await Promise.all(made.map(async ({ id }) => (await collection.get(id))?.text));
  const pages = await Promise.all(NUMBERS.map((price) => collection.list({ limit: 9, price })));
  return [made, keyed, again, texts, pages.map((page) => page?.body.text)];
}

async function useOrders(store: Store): Promise<unknown[]> {
  const { orders, pets, coupons } = toShop(store);
  const times = { dueAt: '2026-07-01T12:00:00+02:00' };
  const made = await Promise.all(
    NUMBERS.map((weight, index) => orders.create({ price: BigInt(index), weight, ...times })),
  );
  const pages: string[] = [];
  for (let after: string | undefined, more = true; more; more = after !== undefined) {
    const page = (await orders.list({ limit: 1, order: 'lightest', after })) as Page;
    if (pages.push(page.body.text) > NUMBERS.length) throw new Error('the list has no end');
    after = page.next;
  }
  const { id: petId } = await pets.create({ name: 'Ann', categoryId: 1n, status: 'available' });
  const notes = await Promise.all(['n', 'n'].map((note) => orders.create({ price: 1n, note })));
  const lost = await orders.create({ price: 1n, couponCode: 'none' });
  await coupons.put('a', { left: 1n });
  return [
    ...[
      made,
      pages,
      notes,
      lost,
      await orders.place?.({ petId, price: 1n }),
      await orders.place?.({ petId, price: 1n }),
    ],
    await orders.update(keyOf(made[0]), { weight: 0.7, price: { add: 2n ** 63n - 1n } }),
    await orders.update(keyOf(made[1]), { price: { add: 2n ** 63n - 1n } }),
    (await orders.list({ limit: 9, dueAt: { from: '2026-07-01T10:00:00Z' } }))?.body.text,
    await orders.ask?.([ASKED]),
    await orders.addToSum?.(7n),
    await orders.report?.({ from: 0n, petId }),
  ];
}

async function useKeys(store: Store): Promise<unknown[]> {
  const key = (id: string) => ({ id, name: id, hash: id.padEnd(64, 'x'), createdAt: '2026-01-01T00:00:00.000Z' });
  for (const id of ['a', 'b']) await store.createKey(key(id));
  await store.replaceKey('a', key('c'), '2026-02-01T00:00:00.000Z');
  await store.addUses([{ keyId: 'a', usedAt: '2026-01-02T00:00:00.000Z' }]);
  await store.check();
  const totals = [await store.countWindow?.('Ada', 86_400, 2), await store.countWindow?.('Ada', 86_400, 3)];
  return [
    ...[await store.revokeKey('b', '2026-01-03T00:00:00.000Z'), await store.listKeys(), await store.listUses()],
    ...[totals.map((counted) => counted?.total), (await store.readKeys()).keys],
    await store.countInvalidRecords('a contract', (text) => JSON.parse(text) !== undefined),
  ];
}

/** Calls all methods of the store. Returns the answers as one text, in which generated values are replaced. */
async function useAll(t: Test, url: string): Promise<string> {
  const domain = { ...orders, books };
  const open = () => openPostgres(settingsOf(url), domain, LIMITS, { transactions }, 60_000);
  const store = await open();
  t.teardown(() => store.close());
  const answers = [await useBooks(store), await useOrders(store), await useKeys(store)];
  const parts: unknown[] = [];
  await store.countInvalidRecords('another contract', (text) => parts.push(text) > 0);
  const text = JSON.stringify([answers, parts], (_, value) => (typeof value === 'bigint' ? `${value}n` : value), 1);
  return (
    text
      .replace(/[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g, 'uuid')
      // Cursors are replaced, because they contain a sequence number, and a repeated write skips a number.
      .replace(/"next": "[\w-]+"/g, '"next": "cursor"')
      .replace(/(placedAt|changedAt)(\W+)\d{4}(-\d\d){2}T[\d:.]{12}Z/g, '$1$2time')
  );
}

t.test(
  'the store writes and reads identical records under any settings of the PostgreSQL role and database',
  async (t) => {
    const set = await makeHostile('hostile');
    t.ok(Object.keys(set).length > 100);
    const url = server.newUrl().replace('petstore:', 'hostile:').replace('/postgres?', '/hostile?');
    const other = new pg.Client(url.replace('hostile:', 'petstore:').replace(/\?.*/, ''));
    await other.connect();
    await other.query(EVIL);
    await other.end();
    const expected = await useAll(t, server.newUrl());
    t.equal(await useAll(t, url), expected);
  },
);

t.test('if the PostgreSQL role disables triggers and may not enable them, the start fails', async (t) => {
  await server.execute(`CREATE ROLE replica LOGIN PASSWORD '${server.password}'`);
  await server.execute(
    "GRANT CREATE ON DATABASE postgres TO replica; ALTER ROLE replica SET session_replication_role = 'replica'",
  );
  const settings = settingsOf(server.newUrl().replace('petstore:', 'replica:'));
  await t.rejects(
    openPostgres(settings, orders, LIMITS),
    /permission denied to set parameter "session_replication_role"/,
  );
});
