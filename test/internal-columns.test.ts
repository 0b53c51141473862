/** Internal columns, which clients never see, and collections without a schema, on both databases. */
import t, { type Test } from 'tap';
import { checkStoredRecords } from '../src/contract-first/engine/routes/stored-records.ts';
import { internalOf } from '../src/contract-first/json/whole-records.ts';
import { AlreadyDone, type AnyCollection, type Fields, isRefused } from '../src/contract-first/store/collection.ts';
import type { Store } from '../src/contract-first/store/store.ts';
import type { AnyDomain } from '../src/contract-first/store/tables/description.ts';
import { toTable } from '../src/contract-first/store/tables/table.ts';
import { domain } from './lockers/domain.ts';
import { HANDLERS, loadLockers, YAML } from './lockers/service.ts';
import { loadCodecs, transactions } from './lockers/writing.ts';
import { startVersion } from './notes.ts';
import { idempotencyOf, type Open, onBoth } from './orders/shops.ts';
import { withRecordsOf } from './service.ts';

type Own = AnyCollection & Record<'open' | 'see', (...values: unknown[]) => Promise<Fields>>;
type Lockers = Record<'lockers' | 'codes' | 'rules', Own> & { parcels: { of(tenant: string): Own } };

const codecs = await loadCodecs();
const NEW = { place: 'A1', note: 'low' };
const SHOWN = { id: 1n, ...NEW };
const WHOLE = { ...SHOWN, site: 'north', openings: 0n, settings: { light: true } };

async function openLockers(open: Open, own: AnyDomain = domain): Promise<Lockers & { store: Store }> {
  const { store } = await open(own, { codecs, transactions });
  return { ...(store.collections as Lockers), store };
}

const readAll = async (own: AnyCollection, query: object = {}) =>
  (await own.list({ limit: 9, ...query }))?.body.read() as Fields[];

function testColumns(t: Test, prepare: (t: Test) => Open): void {
  t.test(
    'get and list return only the fields of the schema; `read` and changes also return the internal columns',
    async (t) => {
      const { lockers } = await openLockers(prepare(t));
      t.same(await lockers.create(NEW), WHOLE);
      t.same((await lockers.get(1n))?.read(), SHOWN);
      t.same(await lockers.read(1n), WHOLE);
      t.equal(await lockers.read(2n), undefined);
      t.same(await readAll(lockers), [SHOWN]);
      t.same(await lockers.update(1n, { openings: { add: 2n }, lastCode: 'x' }, { if: { site: 'north' } }), {
        ...{ ...WHOLE, openings: 2n, lastCode: 'x' },
      });
      t.same(await lockers.update(1n, { settings: { light: null, count: 1 } }), {
        ...{ ...WHOLE, openings: 2n, lastCode: 'x', settings: { count: 1 } },
      });
      t.same(await lockers.replace(1n, { place: 'A2', site: 'south', openings: 3n, settings: {} }), {
        ...{ id: 1n, place: 'A2', site: 'south', openings: 3n, settings: {} },
      });
      t.same(await lockers.create({ place: 'A2', site: 'south' }), { refused: 'conflict' });
    },
  );

  t.test('lists can filter and order by internal columns, but do not show them', async (t) => {
    const { lockers } = await openLockers(prepare(t));
    for (const [place, site, openings] of [
      ['a', 'north', 5n],
      ['b', 'south', 7n],
      ['c', 'north', 6n],
    ])
      await lockers.create({ place, site, openings });
    t.same(await readAll(lockers, { site: 'north', order: 'busiest' }), [
      { id: 3n, place: 'c' },
      { id: 1n, place: 'a' },
    ]);
    t.same(await readAll(lockers, { openings: { from: 6n } }), [
      { id: 2n, place: 'b' },
      { id: 3n, place: 'c' },
    ]);
    const first = await lockers.list({ limit: 2, order: 'busiest' } as never);
    t.same(await readAll(lockers, { order: 'busiest', after: first?.next }), [{ id: 1n, place: 'a' }]);
  });

  t.test('a write of a wrong type to an internal column is an error', async (t) => {
    const { lockers } = await openLockers(prepare(t));
    await t.rejects(lockers.create({ ...NEW, openings: 'many' }), { message: /openings must be/ });
    await t.rejects(lockers.create({ ...NEW, place: 7n, site: 7n }), { message: /place must be.*; .*site must be/ });
    await lockers.create(NEW);
    await t.rejects(lockers.update(1n, { site: 7n }), { message: /site must be/ });
    await t.rejects(lockers.update(1n, { site: null }), { message: /site must be/ });
  });

  t.test(
    "if a collection's description has `unfit: 400`, a record that breaks its schema is an error of the client",
    async (t) => {
      const { lockers, codes } = await openLockers(prepare(t), {
        ...domain,
        lockers: { ...domain.lockers, unfit: 400 },
      });
      const refusal = { code: 'INVALID_VALUE', message: /^a (change of a )?locker .* openings must be/ };
      await t.rejects(lockers.create({ ...NEW, openings: 'many' }), refusal);
      await lockers.create(NEW);
      await t.rejects(lockers.update(1n, { openings: 'many' }), refusal);
      await t.rejects(codes.create({ code: 7n, lockerId: 1n }), { name: 'UnfitRecord' });
    },
  );

  t.test(
    'a transaction reads and returns records with their internal columns, and so does a replay of the transaction',
    async (t) => {
      const { lockers, codes } = await openLockers(prepare(t));
      await lockers.create(NEW);
      await codes.create({ code: 'x', lockerId: 1n });
      const opened = { ...WHOLE, openings: 1n, lastCode: 'x', settings: { light: true, count: 1 } };
      const output = await lockers.open('x', { idempotency: idempotencyOf('k') });
      t.same(output, { locker: opened, all: [opened], internal: ['site'], left: 1 });
      t.same(internalOf(output.locker as Fields), ['site', 'openings', 'lastCode', 'settings']);
      t.equal(internalOf({ ...(output.locker as Fields) }), undefined);
      t.same(await lockers.open('x', { idempotency: idempotencyOf('k') }), output);
      t.ok(isRefused(await lockers.open('y')));
      t.match(await lockers.see(1n), { locker: opened, all: [opened] });
    },
  );

  t.test(
    'a record with a text that contains U+0000 is an error of the client, even if the schema allows the text',
    async (t) => {
      const { lockers, codes } = await openLockers(prepare(t));
      await lockers.create(NEW);
      const refusal = { code: 'INVALID_VALUE', message: /^\w+ contains U\+0000/ };
      for (const write of [
        () => codes.create({ code: 'a\0', lockerId: 1n }),
        () => codes.put('\0', { lockerId: 1n, usesLeft: 1, price: null }),
        () => lockers.createAll([NEW, { ...NEW, site: 'a\0b' }]),
        () => lockers.update(1n, { lastCode: '\0' }),
        () => lockers.update(1n, { lastCode: '\ud800' }),
      ])
        await t.rejects(async () => void (await write()), refusal);
      t.match(await lockers.update(1n, { settings: { text: '\0' } }), { settings: { text: '\0' } });
    },
  );

  t.test('if a collection has no schema, its columns define the types of its records', async (t) => {
    const { lockers, codes } = await openLockers(prepare(t));
    await lockers.create(NEW);
    const made = (await codes.create({ code: 'x', lockerId: 1n })) as Fields;
    t.match(made, { code: 'x', lockerId: 1n, usesLeft: 2, price: null, madeAt: /Z$/ });
    t.same((await codes.get('x'))?.read(), made);
    t.same(await codes.read('x'), made);
    t.same(await codes.create({ code: 'y', lockerId: 9n }), { refused: 'no_such_lockers' });
    await t.rejects(codes.create({ code: 7n, lockerId: 1n }), { message: /code must be/ });
    await t.rejects(codes.create({ code: 'y', lockerId: 1n, usesLeft: 0.5 }), { message: /usesLeft must be/ });
    t.equal(await lockers.delete(1n), true);
    t.equal(await codes.get('x'), undefined);
  });

  t.test(
    'a tenant column may be internal; then clients see neither the tenant nor records of other tenants',
    async (t) => {
      const { parcels } = await openLockers(prepare(t));
      const [mine, other] = [parcels.of('mine'), parcels.of('other')];
      const { number, ...made } = (await mine.create({ size: 'S' })) as Fields;
      t.match(made, { size: 'S', shop: 'mine', arrivedAt: /Z$/, revision: 1n });
      t.same((await mine.get(number))?.read(), { number, size: 'S', revision: 1n });
      t.same(await mine.read(number), { number, ...made });
      t.equal(await other.read(number), undefined);
      t.same(await readAll(mine, { order: 'newest' }), [{ number, size: 'S', revision: 1n }]);
      t.same(await readAll(other, { order: 'newest' }), []);
    },
  );

  t.test('if the stored answer of a create no longer fits the contract, a retry gets the current record', async (t) => {
    const open = prepare(t);
    const { lockers } = await openLockers(open);
    await lockers.create(NEW, { idempotency: idempotencyOf('k') });
    await lockers.update(1n, { openings: 4n });
    const strict = (name: 'lockers') => ({
      ...codecs[name],
      check: ({ openings }: Fields) => (openings === 0n ? ['openings must be more'] : undefined),
    });
    const { store } = await open(domain, { codecs: { ...codecs, lockers: strict('lockers') }, transactions });
    const now = store.collections as Lockers;
    const create = () => now.lockers.create({ ...NEW, openings: 1n }, { idempotency: idempotencyOf('k') });
    t.match(await create(), { ...SHOWN, openings: 4n });
    await lockers.delete(1n);
    await t.rejects(create(), AlreadyDone);
  });

  t.test(
    'the start counts stored records that no longer fit the types of their internal columns, and fails',
    async (t) => {
      const { store, lockers, codes } = await openLockers(prepare(t));
      await lockers.create({ ...NEW, site: 'south' });
      await codes.create({ code: 'x', lockerId: 1n });
      const contract = await loadLockers();
      await checkStoredRecords(contract, domain, store);
      const { site, ...others } = domain.lockers.internal;
      const edited = {
        ...domain,
        lockers: { ...domain.lockers, internal: { ...others, site: { ...site, schema: 'PetStatus' } } },
      };
      await t.rejects(checkStoredRecords(withRecordsOf(contract, edited), edited, store), {
        message: /stored lockers that do not fit its schema Locker: 1 \(locker 1: .*site must be one of/,
      });
      const { usesLeft, ...columns } = domain.codes.columns;
      const fewer = {
        ...domain,
        codes: { ...domain.codes, columns: { ...columns, usesLeft: { ...usesLeft, schema: 'PetStatus' } } },
      };
      await t.rejects(checkStoredRecords(withRecordsOf(contract, fewer), fewer, store), {
        message: /stored codes that do not fit its columns: 1 /,
      });
    },
  );

  t.test('a reply never contains an internal column, even if its schema allows undeclared fields', async (t) => {
    const { store, codes } = await openLockers(prepare(t));
    const { request } = await startVersion(t, YAML, HANDLERS, store);
    const post = (path: string, body: object) => request(`/v1${path}`, { method: 'POST', body });
    t.match(await post('/lockers', NEW), { status: 201, body: { id: 1, ...NEW } });
    await codes.create({ code: 'x', lockerId: 1n });
    const shown = JSON.stringify({ id: 1, ...NEW });
    t.equal((await post('/lockers', { place: 'B' })).text, '{"id":2,"place":"B"}');
    t.equal((await request('/v1/lockers/1')).text, shown);
    t.equal((await request('/v1/lockers')).text, `[${shown},{"id":2,"place":"B"}]`);
    const opened = await post('/openings', { code: 'x' });
    t.equal(opened.text, `{"locker":${shown},"all":[${shown}],"internal":["site"],"left":1}`);
  });
}

onBoth(t, testColumns);

t.test('an internal column is an error if it is a second id, or if a field of the schema has its name', (t) => {
  const { lockers } = domain;
  const toOwn = (internal: object) => () =>
    toTable({ ...lockers, internal: internal as typeof lockers.internal, lists: {}, unique: [] });
  t.throws(toOwn({ place: { type: 'text' } }), {
    message: /^the internal column lockers\.place is named like a field/,
  });
  for (const key of [
    { type: 'int64', set: 'id' },
    { type: 'text', is: 'id' },
  ])
    t.throws(toOwn({ key }), { message: /^one column of lockers has/ });
  t.end();
});
