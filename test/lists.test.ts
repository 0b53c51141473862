/** Lists with ranges, prefixes and declared orders, on both databases. */
import t, { type Test } from 'tap';
import type { Fields, PageQuery } from '../src/contract-first/store/collection.ts';
import { toCursor } from '../src/contract-first/store/cursors.ts';
import { toTable } from '../src/contract-first/store/tables/table.ts';
import { orders as described, domain } from './orders/domain.ts';
import { keyOf, type Open, onBoth, type Shop } from './orders/shops.ts';

type Asked = Omit<PageQuery, 'limit'> & { order?: string };

/**
 * Texts in the order of their code points. JavaScript compares UTF-16 units instead, and would sort U+1F415 before
 * U+FFFF.
 */
const NOTES = [
  'a',
  'a\u{10ffff}',
  'a\u{1f415}',
  'a\uffff',
  'ab',
  'A',
  'b',
  '\ud7ff',
  '\ue000',
  '\u{10ffff}',
  '\u{10ffff}z',
  "%'_",
];

async function readAll({ orders }: Shop, asked: Asked, limit: number): Promise<Fields[]> {
  const found: Fields[] = [];
  for (let after: string | undefined, isFirst = true; isFirst || after !== undefined; isFirst = false) {
    const page = await orders.list({ ...asked, limit, after });
    found.push(...(page?.body.read() ?? []));
    after = page?.next;
  }
  return found;
}

/** Creates forty orders, many of which have equal values. */
async function fill({ orders }: Shop): Promise<Fields[]> {
  const records = Array.from({ length: 40 }, (_, index) => ({
    price: BigInt((index * 7) % 11),
    pieces: index % 3,
    weight: [9, 10, 1.5, 1e21][index % 4],
    ...(NOTES[index] && { note: NOTES[index] }),
    ...(index % 2 && { dueAt: `2026-01-0${(index % 9) + 1}T00:00:00Z` }),
  }));
  return (await orders.createAll(records)) as Fields[];
}

const by =
  (name: string, sign = 1) =>
  (one: Fields, other: Fields) =>
    sign * Number((one[name] as bigint) - (other[name] as bigint)) || sign * (Number(one.at) - Number(other.at));

function testLists(t: Test, prepare: (t: Test) => Open): void {
  t.test('the pages of a list contain each record once, for any order, range, filter and page size', async (t) => {
    const shop = await prepare(t)();
    const all = (await fill(shop)).map((order, at) => ({ ...order, at }) as Fields);
    const price = ({ price }: Fields) => price as bigint;
    const lists: [asked: Asked, expected: Fields[]][] = [
      [{ order: 'cheapest' }, all.toSorted(by('price'))],
      [{ order: 'dearest' }, all.toSorted(by('price', -1))],
      [{ order: 'lightest' }, all.toSorted((one, other) => Number(one.weight) - Number(other.weight))],
      [{ order: 'cheapest', pieces: 1 }, all.filter(({ pieces }) => pieces === 1).toSorted(by('price'))],
      [
        { order: 'dearest', price: { from: 3n, below: 8n } },
        all.filter((one) => price(one) >= 3n && price(one) < 8n).toSorted(by('price', -1)),
      ],
      [
        { order: 'lightest', weight: { from: 9, below: 11 } },
        [9, 10].flatMap((weight) => all.filter((one) => one.weight === weight)),
      ],
      [{ pieces: { from: 2 } }, all.filter(({ pieces }) => pieces === 2)],
      [{ price: { from: 9n } }, all.filter((one) => price(one) >= 9n)],
      [{ price: { below: 2n }, status: 'placed' }, all.filter((one) => price(one) < 2n)],
      [
        { order: 'newest', price: { from: 3n, below: 8n } },
        all.filter((one) => price(one) >= 3n && price(one) < 8n).reverse(),
      ],
      [
        { dueAt: { from: '2026-01-03T01:00:00+01:00', below: '2026-01-05T00:00:00.001Z' } },
        all.filter(({ dueAt }) => /-0[345]T/.test(String(dueAt))),
      ],
      [{ price: { above: 3n, upTo: 8n } }, all.filter((one) => price(one) > 3n && price(one) <= 8n)],
      [{ order: 'dearest', price: { upTo: 3n } }, all.filter((one) => price(one) <= 3n).toSorted(by('price', -1))],
      [
        { dueAt: { above: '2026-01-03T01:00:00+01:00', upTo: '2026-01-05T00:00:00Z' } },
        all.filter(({ dueAt }) => /-0[345]T/.test(String(dueAt)) && String(dueAt) !== '2026-01-03T00:00:00.000Z'),
      ],
      [{ status: 'sent', order: 'cheapest' }, []],
      [{ price: {}, noteBegins: '' }, all],
    ];
    for (const [asked, expected] of lists) {
      for (const limit of [1, 7, 99]) {
        const found = await readAll(shop, asked, limit);
        t.strictSame(
          found.map(keyOf),
          expected.map(keyOf),
          JSON.stringify(asked, (_, value) => String(value) && value?.toString()),
        );
      }
    }
  });

  t.test('the last page of a list has no next cursor, even for a page size of 1,000', async (t) => {
    const { orders } = await prepare(t)();
    const records = Array.from({ length: 1000 }, (_, index) => ({ price: BigInt(index) }));
    await orders.createAll(records);
    for (const order of [undefined, 'cheapest']) {
      const toPage = async (limit: number) => orders.list({ ...(order && { order }), limit });
      t.equal((await toPage(1000))?.next, undefined);
      t.equal((await toPage(1500))?.next, undefined);
      t.type((await toPage(999))?.next, 'string');
    }
  });

  t.test(
    'a prefix filter finds exactly the texts that begin with the given characters, whatever they are',
    async (t) => {
      const shop = await prepare(t)();
      await fill(shop);
      for (const begins of [...NOTES, 'x']) {
        const found = (await readAll(shop, { noteBegins: begins }, 5)).map(({ note }) => note);
        t.strictSame(
          found,
          NOTES.filter((note) => note.startsWith(begins)),
          JSON.stringify(begins),
        );
      }
    },
  );

  t.test(
    'a client pages through a sorted list without gaps or repeats while records are added and deleted',
    async (t) => {
      const shop = await prepare(t)();
      const made = await fill(shop);
      const found: Fields[] = [];
      for (let after: string | undefined, isFirst = true; isFirst || after !== undefined; isFirst = false) {
        const page = await shop.orders.list({ order: 'cheapest', limit: 3, after } as PageQuery);
        const records = page?.body.read() ?? [];
        found.push(...records);
        after = page?.next;
        await shop.orders.create({ price: -1n });
        if (isFirst) await shop.orders.delete(keyOf(records.at(-1)));
      }
      t.strictSame(
        found.map(keyOf),
        made
          .map((order, at) => ({ ...order, at }) as Fields)
          .toSorted(by('price'))
          .map(keyOf),
      );
    },
  );

  t.test(
    'the store examines at most 1,000 records for a page; if more are left to examine, the page has a next cursor',
    async (t) => {
      const shop = await prepare(t)();
      await shop.orders.createAll(Array.from({ length: 1002 }, (_, index) => ({ price: BigInt(index) })));
      const page = await shop.orders.list({ price: { from: 1001n }, limit: 5 });
      t.same(page?.body.read(), []);
      t.match(
        (await readAll(shop, { price: { from: 1001n } }, 5)).map(({ price }) => price),
        [1001n],
      );
    },
  );

  t.test(
    'a list rejects a cursor of a list with other filters or another order, and a cursor that the server did not make',
    async (t) => {
      const shop = await prepare(t)();
      await fill(shop);
      const list = (query: object) => shop.orders.list({ limit: 2, ...query } as PageQuery);
      const after = (await list({ order: 'cheapest', pieces: 1 }))?.next;
      t.ok((await list({ order: 'cheapest', pieces: 1, after }))?.next);
      for (const other of [
        { order: 'dearest', pieces: 1 },
        { order: 'cheapest' },
        { pieces: 1 },
        { order: 'cheapest', pieces: 1, price: { from: 0n } },
      ])
        t.equal(await list({ ...other, after }), undefined);
      const asked = {
        cheapest: ['x', '1.5', ''],
        byPieces: ['1.5', '2147483648', 'x'],
        lightest: ['x', 'NaN'],
        byStatus: ['\0'],
      };
      for (const [order, places] of Object.entries(asked)) {
        for (const place of places) {
          const made = toCursor(1n, [undefined, undefined, order], place);
          t.equal(await list({ order, after: made }), undefined, `${order} ${place}`);
        }
      }
      t.ok(await list({ order: 'byPieces', after: toCursor(1n, [undefined, undefined, 'byPieces'], '1') }));
      t.ok(await list({ order: 'byStatus', after: toCursor(1n, [undefined, undefined, 'byStatus'], 'a b') }));
      t.equal(await list({ order: 'cheapest', after: 'AAAA' }), undefined);
      t.equal(await list({ price: { from: 0n }, after: 'AAAA' }), undefined);
    },
  );

  t.test('a cursor stays valid if a new version of the service adds a filter to the list', async (t) => {
    const open = prepare(t);
    const before = await open({ ...domain, orders: { ...described, lists: { equal: ['status'] } } });
    await fill(before);
    const after = await open();
    const list = ({ orders }: Shop, query: object) => orders.list({ limit: 3, ...query } as PageQuery);
    for (const query of [{}, { status: 'placed' }]) {
      const { next } = (await list(before, query)) ?? {};
      t.ok(next);
      t.same(
        (await list(after, { ...query, after: next }))?.body.read(),
        (await list(before, { ...query, after: next }))?.body.read(),
      );
    }
  });
}

onBoth(t, testLists);

t.test("a collection's description that orders or filters a list by a JSON column is an error", async (t) => {
  t.throws(() => toTable({ ...described, lists: { orders: { odd: 'gift' } } }), {
    message: 'lists cannot be ordered by gift, which is not a number or a text',
  });
  t.throws(() => toTable({ ...described, lists: { range: ['gift'] } }), {
    message: 'lists cannot be filtered by gift, which is stored as JSON',
  });
});
