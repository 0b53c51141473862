/** Tenants do not see, change or refer to each other's records, on all databases. */
import t, { type Test } from 'tap';
import { type AnyCollection, type Fields, KeyReused } from '../src/contract-first/store/collection.ts';
import { openStore } from '../src/contract-first/store/open-store.ts';
import type { Store } from '../src/contract-first/store/store.ts';
import { LIMITS } from './database.ts';
import { idempotencyOf, onBoth } from './orders/shops.ts';
import { domain } from './tenants/domain.ts';
import { transactions } from './tenants/writing.ts';

const MADE = { transactions };

type Own = AnyCollection & Record<'sell' | 'see', (...values: unknown[]) => Promise<unknown>>;
type Shops = Record<'items' | 'labels' | 'lines', { of(tenant: unknown): Own }> & { clerks: Own };
type Shop = Record<'items' | 'labels' | 'lines', Own>;

/** Returns the collections of two shops, as handlers get them. */
function shopsOf({ items, labels, lines }: Shops): [mine: Shop, other: Shop] {
  const of = (tenant: string) => ({ items: items.of(tenant), labels: labels.of(tenant), lines: lines.of(tenant) });
  return [of('mine'), of('other')];
}

const readAll = async (own: AnyCollection, query: object = {}) =>
  (await own.list({ limit: 9, ...query }))?.body.read() as Fields[];

function testTenants(t: Test, open: (t: Test) => Promise<Shops>): void {
  t.test('only the tenant that owns a record can read, list, change and delete the record', async (t) => {
    const [mine, other] = shopsOf(await open(t));
    const item = (await mine.items.create({ name: 'Ball', shop: 'other' })) as Fields;
    t.match(item, { shop: 'mine', name: 'Ball', stock: 9n });
    const { id } = item;
    t.same((await mine.items.get(id))?.read(), item);
    t.equal(await other.items.get(id), undefined);
    t.equal(await other.items.update(id, { name: 'Mine' }), undefined);
    t.equal(await other.items.update(id, { name: 'Mine' }, { if: { name: 'Ball' } }), undefined);
    t.equal(await other.items.replace(id, { name: 'Mine', stock: 1n }), undefined);
    t.equal(await other.items.delete(id), false);
    t.equal(await other.items.delete(id, { if: { name: 'Ball' } }), false);
    t.match(await mine.items.update(id, { name: 'Bat', shop: 'other' }, { if: { name: 'Ball' } }), { shop: 'mine' });
    t.match(await mine.items.update(id, { name: 'Bat' }, { if: { name: 'Ball' } }), { refused: 'changed' });
    t.match(await mine.items.replace(id, { name: 'Bat', stock: 1n, shop: 'other' }), { shop: 'mine', stock: 1n });
    await other.items.createAll([{ name: 'a' }, { name: 'b' }]);
    t.match(await readAll(mine.items), [{ id, name: 'Bat' }]);
    t.match(await readAll(other.items, { shop: 'mine' }), [{ name: 'a' }, { name: 'b' }]);
    t.equal(await mine.items.delete(id), true);
  });

  t.test("each tenant's list has its own pages, and rejects the cursors of other tenants", async (t) => {
    const [mine, other] = shopsOf(await open(t));
    for (const shop of [mine, other, mine, other, mine]) {
      const { id: itemId } = (await shop.items.create({ name: String(Math.random()) })) as Fields;
      await shop.lines.create({ itemId, price: itemId });
    }
    for (const query of [
      {},
      { order: 'cheapest' },
      { order: 'cheapest', price: { from: 1n } },
      { price: { from: 1n } },
    ]) {
      const first = await mine.lines.list({ limit: 2, ...query } as never);
      t.match(first?.body.read(), [{ shop: 'mine', itemId: 1n }, { itemId: 3n }]);
      const after = first?.next;
      t.match(await readAll(mine.lines, { ...query, after }), [{ itemId: 5n }]);
      t.equal(await other.lines.list({ limit: 2, ...query, after } as never), undefined);
    }
  });

  t.test(
    'two tenants may use the same unique value or chosen id; within one tenant, each must be unique',
    async (t) => {
      const [mine, other] = shopsOf(await open(t));
      for (const { items, labels } of [mine, other]) {
        t.match(await items.create({ name: 'Ball' }), { name: 'Ball' });
        t.match(await items.create({ name: 'Ball' }), { refused: 'name_taken' });
        t.match(await labels.create({ code: 'a', words: '1' }), { code: 'a' });
        t.match(await labels.create({ code: 'a', words: '2' }), { refused: 'exists' });
      }
      t.match(await mine.labels.put('a', { words: '3' }), { isNew: false });
      t.match(await other.labels.put('b', { words: '4' }), { isNew: true });
      t.match((await other.labels.get('a'))?.read(), { words: '1' });
      t.equal(await mine.labels.get('b'), undefined);
    },
  );

  t.test(
    'all callers of a tenant share an Idempotency-Key; an equal key of another tenant is independent',
    async (t) => {
      const [mine, other] = shopsOf(await open(t));
      const create = ({ items }: Shop, caller: string, digest = '') => {
        const idempotency = { ...idempotencyOf('same', digest), caller };
        return [idempotency, items.create({ name: 'Ball' }, { idempotency })] as const;
      };
      const [first, made] = create(mine, 'Ada');
      const [second, again] = create(mine, 'Bob');
      t.same(await again, await made);
      t.strictSame([first.isReplayed, second.isReplayed], [false, true]);
      const [theirs, own] = create(other, 'Ada');
      t.match(await own, { shop: 'other' });
      t.equal(theirs.isReplayed, false);
      await t.rejects(create(mine, 'Ada', 'changed')[1], KeyReused);
    },
  );

  t.test(
    'a record can refer only to records of its own tenant, and is deleted when its parent is deleted',
    async (t) => {
      const [mine, other] = shopsOf(await open(t));
      const [a, b] = (await Promise.all([
        mine.items.create({ name: 'a' }),
        other.items.create({ name: 'b' }),
      ])) as Fields[];
      await other.labels.create({ code: 'x', words: '' });
      const create = (itemId: unknown, more = {}) => mine.lines.create({ itemId, price: 1n, ...more });
      t.match(await create(b?.id), { refused: 'no_such_items' });
      t.match(await create(a?.id, { label: 'x' }), { refused: 'no_such_labels' });
      const line = (await create(a?.id)) as Fields;
      t.match(await mine.lines.update(line.number, { itemId: b?.id }), { refused: 'no_such_items' });
      await mine.labels.create({ code: 'x', words: '' });
      t.match(await mine.lines.update(line.number, { label: 'x' }), { label: 'x' });
      t.match(await mine.labels.delete('x'), { refused: 'referenced' });
      t.equal(await other.labels.delete('x'), true);
      t.equal(await mine.items.delete(a?.id), true);
      t.equal(await mine.lines.get(line.number), undefined);
    },
  );

  t.test(
    'a transaction sees only records of its tenant; if it is called without a tenant, it sees none of them',
    async (t) => {
      const shops = await open(t);
      const [mine, other] = shopsOf(shops);
      const { id: itemId } = (await mine.items.create({ name: 'Ball' })) as Fields;
      t.match(await other.lines.sell({ itemId }), { refused: 'no_such_items' });
      t.match(await mine.lines.sell({ itemId, label: 'x' }), { refused: 'no_such_labels' });
      const onces = ['Ada', 'Bob'].map((caller) => ({ ...idempotencyOf('sell'), caller }));
      const sold = await Promise.all(onces.map((idempotency) => mine.lines.sell({ itemId }, { idempotency })));
      t.match(sold[0], { line: { shop: 'mine', itemId }, item: { stock: 8n } });
      t.same(sold[1], sold[0]);
      t.strictSame(onces.filter(({ isReplayed }) => isReplayed).length, 1);
      t.match(await mine.lines.see(itemId), { item: { id: itemId }, lines: [{ itemId }], tenant: 'mine', sum: 1n });
      t.match(await other.lines.see(itemId), { item: undefined, lines: [], tenant: 'other', sum: 0n });
      const message = 'sell belongs to clerks, which has no tenants: it cannot use items';
      await t.rejects(shops.clerks.sell({ itemId }), { message });
      t.match(await shops.clerks.create({ name: 'Ann' }), { name: 'Ann' });
    },
  );

  t.test('if a program uses a collection with tenants without naming a tenant, it gets an error', async (t) => {
    const { items } = await open(t);
    t.strictSame(Object.keys(items), ['of']);
    for (const none of [undefined, null, '', 'a\0'])
      t.throws(() => items.of(none), { message: 'these records belong to tenants, and no tenant was given' });
  });
}

t.test('the store passes its tests with tenants in a SQLite database in memory', async (t) => {
  testTenants(t, async (t) => {
    const store = openStore({ kind: 'memory' }, domain, LIMITS, MADE) as unknown as Store;
    t.teardown(() => store.close());
    return store.collections as Shops;
  });
});

onBoth(
  t,
  (t, prepare) => {
    testTenants(t, async (t) => (await prepare(t)(domain as never)).store.collections as Shops);

    t.test(
      'the start fails if a unique index or a foreign key of a collection with tenants leaves out the tenant',
      async (t) => {
        const open = prepare(t);
        await (await open(domain)).store.close();
        const { items, labels, lines } = domain;
        const unique = [{ fields: ['stock'], code: 'stock_taken' }];
        await t.rejects(open({ ...domain, items: { ...items, unique } }), {
          message: /items has no unique index on \(shop, stock\)/,
        });
        const shop = { column: 'shop', type: 'text' } as const;
        const all = [items, labels, lines].map((one) => ({ ...one, columns: { ...one.columns, shop }, unique: [] }));
        const [free, tags, rows] = all as unknown as [typeof items, typeof labels, typeof lines];
        await t.rejects(open({ ...domain, items: free, labels: tags, lines: rows }), {
          message: /labels has no unique index on \(code\)/,
        });
        await t.rejects(open({ ...domain, items: free, lines: rows }), {
          message: /lines refers to labels, which has tenants, so it needs a tenant itself/,
        });
        await t.rejects(open({ ...domain, items: free }), {
          message: /lines\.item_id is not a foreign key to items with ON DELETE CASCADE/,
        });
      },
    );
  },
  MADE,
);
