/**
 * Changes of records on both databases: conditions, Idempotency-Keys, additions to numbers, and values that the store
 * sets.
 */
import t, { type Test } from 'tap';
import {
  type Fields,
  type Idempotency,
  isRefused,
  KeyReused,
  type Put,
} from '../src/contract-first/store/collection.ts';
import { openStore } from '../src/contract-first/store/open-store.ts';
import type { Store } from '../src/contract-first/store/store.ts';
import type { AnyDomain } from '../src/contract-first/store/tables/description.ts';
import { toTable, toTables } from '../src/contract-first/store/tables/table.ts';
import { pets } from '../src/pets/domain.ts';
import { books } from './books/domain.ts';
import { LIMITS } from './database.ts';
import { domain as clubs } from './members/domain.ts';
import { coupons, domain as DOMAIN, orders } from './orders/domain.ts';
import { idempotencyOf, keyOf, type Open, onBoth, type Shop, toShop } from './orders/shops.ts';
import { domain as shops } from './tenants/domain.ts';

/** A description of the same tables without unique sets and references, so that any record can be added. */
const FREE: AnyDomain = {
  pets,
  coupons,
  orders: {
    ...orders,
    columns: {
      ...orders.columns,
      petId: { column: 'pet_id', type: 'int64', isOptional: true },
      couponCode: { ...orders.columns.note, column: 'coupon_code' },
    },
    unique: [],
  },
};
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;
const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;
const MOST = 2n ** 63n - 1n;

function testChanges(t: Test, prepare: (t: Test) => Open): void {
  t.test(
    'the store sets the id, times, revision and initial values of a new record, and returns the whole record',
    async (t) => {
      for (const domain of [DOMAIN, FREE]) {
        const { orders } = await prepare(t)(domain);
        const order = await orders.create({ price: 5n, dueAt: '2026-01-01T01:00:00.1+01:00' });
        t.match(order, { number: UUID, placedAt: TIME, changedAt: (order as Fields).placedAt });
        t.match(order, { revision: 1n, pieces: 1, gift: null, status: 'placed', dueAt: '2026-01-01T00:00:00.100Z' });
        const text = await orders.get(keyOf(order));
        t.same(text?.read(), order);
        t.strictSame(Object.keys(order), Object.keys(text?.read() ?? {}));
        t.match(await orders.create({ price: 5n }, { idempotency: idempotencyOf('first') }), {
          number: UUID,
          placedAt: TIME,
          revision: 1n,
        });
        t.equal(await orders.get('no such number'), undefined);
      }
    },
  );

  t.test('an update changes only the fields that it names, raises the revision, and returns the record', async (t) => {
    const { orders } = await prepare(t)();
    const order = (await orders.create({ price: 5n, note: 'Soon' })) as Fields;
    const changed = (await orders.update(keyOf(order), { status: 'paid', note: null, price: { add: -7n } })) as Fields;
    t.match(changed, { status: 'paid', price: -2n, revision: 2n, number: order.number, placedAt: order.placedAt });
    t.notOk('note' in changed);
    t.ok((changed.changedAt as string) >= (order.changedAt as string));
    t.same((await orders.get(keyOf(order)))?.read(), changed);
    t.match(await orders.replace(keyOf(order), { price: 1n, status: 'sent' }), {
      price: 1n,
      status: 'sent',
      revision: 3n,
    });
    t.equal(await orders.update('no such number', { price: 1n }), undefined);
    t.equal(await orders.replace('no such number', { price: 1n }), undefined);
  });

  t.test(
    "an update that would add beyond the limit of a number's type is refused; the batch's other changes are made",
    async (t) => {
      const { orders } = await prepare(t)();
      const order = await orders.create({ price: MOST });
      const sums = [1n, -5n].map((add) => orders.update(keyOf(order), { price: { add } }));
      const [refused, done] = await Promise.all(sums);
      t.match(refused, { refused: 'out_of_range' });
      t.match(done, { price: MOST - 5n, revision: 2n });
      const beyond = [
        { price: { add: 2n ** 64n } },
        { pieces: { add: 2 ** 31 - 1 } },
        { pieces: { add: -(2 ** 31) - 2 } },
      ];
      for (const changes of beyond) t.match(await orders.update(keyOf(order), changes), { refused: 'out_of_range' });
      t.match(await orders.update(keyOf(order), { pieces: { add: 2 ** 31 - 2 } }), {
        pieces: 2 ** 31 - 1,
        revision: 3n,
      });
    },
  );

  t.test('if two servers change the same revision of a record at the same time, only one change is made', async (t) => {
    const open = prepare(t);
    const shops = [await open(), await open()];
    for (let round = 0; round < 5; round++) {
      const order = await (shops[0] as Shop).orders.create({ price: 5n });
      const changes = Array.from({ length: 50 }, (_, index) =>
        (shops[index % 2] as Shop).orders.update(keyOf(order), { price: BigInt(index) }, { if: { revision: 1n } }),
      );
      const outcomes = await Promise.all(changes);
      t.equal(outcomes.filter((outcome) => isRefused(outcome) && outcome.refused === 'changed').length, 49);
    }
  });

  t.test(
    'the condition of a change may compare absent fields, null and times; without a record, no condition is checked',
    async (t) => {
      const { orders } = await prepare(t)();
      const order = await orders.create({ price: 5n, dueAt: '2026-01-01T00:00:00Z' });
      const conditions: [condition: Fields, isMet: boolean][] = [
        [{ note: undefined, gift: null }, true],
        [{ note: 'Soon' }, false],
        [{ dueAt: '2026-01-01T02:00:00+02:00', pieces: 1 }, true],
        [{ price: 6n }, false],
        [{ price: [6n, 5n], dueAt: ['2026-01-01T02:00:00+02:00'] }, true],
        [{ price: [6n, 7n] }, false],
        [{ price: [] }, false],
        [{}, true],
      ];
      for (const [condition, isMet] of conditions) {
        const outcome = await orders.update(keyOf(order), { status: 'paid' }, { if: condition });
        t.equal(!isRefused(outcome), isMet);
      }
      t.match(await orders.delete(keyOf(order), { if: { status: 'sent' } }), { refused: 'changed' });
      t.equal(await orders.delete(keyOf(order), { if: { status: 'paid' } }), true);
      t.equal(await orders.delete(keyOf(order), { if: { status: 'paid' } }), false);
      t.equal(await orders.update(keyOf(order), { price: 1n }, { if: { price: 5n } }), undefined);
    },
  );

  t.test(
    'a change with an Idempotency-Key is made once, even if sent concurrently; a refused change does not use up its key',
    async (t) => {
      const open = prepare(t);
      const shops = [await open(), await open()];
      const { orders } = shops[0] as Shop;
      const order = await orders.create({ price: 0n });
      const onces = Array.from({ length: 20 }, () => idempotencyOf('pay'));
      const pay = (idempotency: Idempotency, index: number) =>
        (shops[index % 2] as Shop).orders.update(keyOf(order), { price: { add: 1n } }, { idempotency });
      const answers = await Promise.all(onces.map(pay));
      t.equal(onces.filter(({ isReplayed }) => isReplayed).length, 19);
      for (const answer of answers) t.match(answer, { price: 1n, revision: 2n });
      await t.rejects(
        orders.update(keyOf(order), { price: 9n }, { idempotency: idempotencyOf('pay', 'other') }),
        KeyReused,
      );
      const change = (revision: bigint) =>
        orders.update(keyOf(order), { price: 7n }, { if: { revision }, idempotency: idempotencyOf('change') });
      t.match(await change(1n), { refused: 'changed' });
      t.match(await change(2n), { price: 7n, revision: 3n });
      t.match(await change(2n), { price: 7n, revision: 3n });
      t.equal(await orders.delete(keyOf(order), { idempotency: idempotencyOf('end') }), true);
      t.equal(await orders.delete(keyOf(order), { idempotency: idempotencyOf('end') }), true);
      t.equal(await orders.delete(keyOf(order), { idempotency: idempotencyOf('other end') }), false);
    },
  );

  t.test('put() creates or replaces the record with the given id, and returns whether the record is new', async (t) => {
    const { coupons } = await prepare(t)();
    const ids = ['a', '\'"\\ \n🐕', 'A'];
    for (const code of ids) {
      t.match(await coupons.put(code, { left: 1n }, { idempotency: idempotencyOf(code) }), {
        record: { code, left: 1n },
        isNew: true,
      });
      t.match(await coupons.put(code, { left: 2n }), { record: { code, left: 2n }, isNew: false });
      t.match(await coupons.put(code, { left: 1n }, { idempotency: idempotencyOf(code) }), {
        record: { left: 1n },
        isNew: true,
      });
      t.match(await coupons.put(code, { left: 3n }, { if: { left: 1n } }), { refused: 'changed' });
      t.same((await coupons.get(code))?.read(), { code, left: 2n });
    }
    t.equal(await coupons.put('b', { left: 1n }, { if: { left: 1n } }), undefined);
    t.match(((await coupons.put('b', { left: 1n })) as Put<Fields>).isNew, true);
    const page = await coupons.list({ limit: 3 });
    t.strictSame(
      page?.body.read().map(({ code }) => code),
      ids,
    );
    t.same((await coupons.list({ limit: 3, after: page?.next }))?.body.read(), [{ code: 'b', left: 1n }]);
  });

  t.test(
    'a change that would duplicate a unique value is refused with the code of the unique set, even if concurrent',
    async (t) => {
      const open = prepare(t);
      const shops = [await open(), await open()];
      const creates = Array.from({ length: 20 }, (_, index) =>
        (shops[index % 2] as Shop).orders.create({ price: 1n, note: index < 10 ? 'Same' : `Note ${index}` }),
      );
      const made = await Promise.all(creates);
      t.equal(made.filter(isRefused).length, 9);
      for (const order of made.filter(isRefused)) t.match(order, { refused: 'note_taken' });
      const { orders } = shops[0] as Shop;
      const other = await orders.create({ price: 1n, note: 'Other' });
      t.match(await orders.update(keyOf(other), { note: 'Same' }), { refused: 'note_taken' });
      t.match(await orders.replace(keyOf(other), { price: 1n, note: 'Same' }), { refused: 'note_taken' });
      t.match(await orders.update(keyOf(other), { note: 'Same', status: 'paid' }), { note: 'Same' });
      const idempotency = idempotencyOf('free');
      t.match(await orders.create({ price: 1n, note: 'Same' }, { idempotency }), { refused: 'note_taken' });
      t.match(await orders.create({ price: 1n, note: 'Free' }, { idempotency: idempotencyOf('free', 'other') }), {
        note: 'Free',
      });
      t.match(await (shops[1] as Shop).coupons.create({ code: 'a', left: 1n }), { code: 'a' });
      t.match(await (shops[0] as Shop).coupons.create({ code: 'a', left: 2n }), { refused: 'exists' });
    },
  );

  t.test(
    'createAll creates all of its records in their order or none of them, and only once for each Idempotency-Key',
    async (t) => {
      const { orders, coupons } = await prepare(t)();
      const toOrders = (...notes: string[]) => notes.map((note) => ({ price: 1n, note }));
      const first = orders.createAll(toOrders('a', 'b'), { idempotency: idempotencyOf('all') });
      const outcomes = [first, orders.createAll(toOrders('c', 'a')), coupons.create({ code: 'x', left: 1n })];
      const [made, refused] = await Promise.all(outcomes);
      t.match(made, [{ note: 'a', revision: 1n }, { note: 'b' }]);
      t.match(refused, { refused: 'note_taken' });
      t.same(await orders.createAll(toOrders('a', 'b'), { idempotency: idempotencyOf('all') }), made);
      t.same((await orders.list({ limit: 9 }))?.body.read(), made);
      t.same((await coupons.list({ limit: 9 }))?.body.read(), [{ code: 'x', left: 1n }]);
      t.same(await orders.createAll([]), []);
    },
  );

  t.test(
    'a record can refer only to an existing record, which then cannot be deleted while the reference exists',
    async (t) => {
      const { orders, coupons } = await prepare(t)();
      t.match(await orders.create({ price: 1n, couponCode: 'a' }), { refused: 'no_such_coupons' });
      const unknown = [{ price: 1n }, { price: 2n, couponCode: 'a' }];
      t.match(await orders.createAll(unknown), { refused: 'no_such_coupons' });
      await coupons.create({ code: 'a', left: 1n });
      const order = await orders.create({ price: 1n, couponCode: 'a' });
      t.match(await orders.update(keyOf(order), { couponCode: 'b' }), { refused: 'no_such_coupons' });
      t.match(await coupons.delete('a'), { refused: 'referenced' });
      t.match(await orders.update(keyOf(order), { couponCode: null }), { revision: 2n });
      t.equal(await coupons.delete('a'), true);
    },
  );

  t.test(
    "the start fails if a collection's description has a unique set or a reference that its existing table lacks",
    async (t) => {
      const open = prepare(t);
      await (await open()).store.close();
      const unique = [...orders.unique, { fields: ['price', 'status'], code: 'price_taken' }];
      const other = {
        ...orders,
        columns: { ...orders.columns, note: { ...orders.columns.note, of: 'coupons' } },
        unique,
      };
      await t.rejects(open({ pets, coupons, orders: other }), {
        message: /orders has no unique index on \(price, status\); orders\.note is not a foreign key to coupons/,
      });
    },
  );

  t.test('the start fails if a table lacks its sequence column or the index of a unique set', async (t) => {
    const isGiven = { ...books, columns: { ...books.columns, id: { column: 'id', type: 'int64', is: 'id' } } } as const;
    await t.rejects(prepare(t)({ books: isGiven }), {
      message: /books has no column seq of type (INTEGER|bigint), which its lists are ordered by/,
    });
    const isUnique = { ...books, unique: [{ fields: ['isbn'], code: 'isbn_taken' }] };
    await t.rejects(prepare(t)({ books: isUnique }), { message: /books has no unique index on \(isbn\)/ });
  });

  t.test(
    'the start warns about each filter and order without an index, and prints the statement that adds the index',
    async (t) => {
      const warningsOf = async (domain: AnyDomain) => {
        const warnings: string[] = [];
        await prepare(t)(domain, {}, { onWarning: (warning) => warnings.push(warning) });
        return warnings;
      };
      t.strictSame(await warningsOf({ pets, books }), []);
      const reported = (list: string, index: string) =>
        `lists of ${list} read the whole table, for lack of an index: CREATE INDEX ${index}`;
      const warnings = (await warningsOf(DOMAIN)).filter((warning) => !warning.includes('lightest'));
      const ofOrder = (order: string, ...columns: [status: string, pieces: string, alone?: string]) =>
        [' filtered by status', ' filtered by pieces', ''].flatMap((list, place) => {
          const sql = columns[place];
          const name = sql?.replaceAll(', ', '_');
          return sql
            ? reported(`orders${list} in the order ${order}`, `orders_by_${name} ON orders (${sql}, seq)`)
            : [];
        });
      // An order and its reverse need the same index. An order by a field that the list is filtered by needs only the
      // index of the filter.
      t.strictSame(warnings, [
        ...ofOrder('newest', 'status, placed_at', 'pieces, placed_at', 'placed_at'),
        ...ofOrder('cheapest', 'status, price', 'pieces, price', 'price'),
        ...ofOrder('byPieces', 'status, pieces', 'pieces'),
        ...ofOrder('byStatus', 'status', 'pieces, status'),
      ]);
      // The unique index on the name serves the filter by name. The unique index on (club, nickname) does not help the
      // filter by club.
      const club = reported('members filtered by clubId', 'members_by_club_id ON members (club_id, seq)');
      t.strictSame(await warningsOf(clubs), [club]);
      t.strictSame(await warningsOf(shops), [
        'deletes of labels, which look for lines, read the whole table, for lack of an index: CREATE INDEX lines_by_shop_label ON lines (shop, label)',
      ]);
    },
  );

  testFaults(t, async (t) => prepare(t)(FREE));

  t.test(
    'a list without an order shows records in the order in which they were added, whatever their ids are',
    async (t) => {
      const { orders } = await prepare(t)();
      const made = await Promise.all(Array.from({ length: 25 }, (_, index) => orders.create({ price: BigInt(index) })));
      const found: unknown[] = [];
      for (let after: string | undefined, isFirst = true; isFirst || after; isFirst = false) {
        const page = await orders.list({ limit: 4, after, status: 'placed', pieces: 1 });
        found.push(...(page?.body.read().map(keyOf) ?? []));
        after = page?.next;
      }
      t.strictSame(found, made.map(keyOf));
    },
  );

  t.test(
    "the store gives every record of every collection to the check against the contract, with the collection's name",
    async (t) => {
      const { orders, coupons, store } = await prepare(t)();
      for (let count = 0; count < 3; count++) await orders.create({ price: BigInt(count), note: `${count}` });
      await coupons.create({ code: 'a', left: 1n });
      const seen: string[] = [];
      t.equal(
        await store.countInvalidRecords('other', (text, collection) => seen.push(`${collection} ${text}`) > 2),
        2,
      );
      t.match(seen, [/^coupons \{"code"/, /^orders \{"number"/, /^orders/, /^orders/]);
    },
  );
}

function testFaults(t: Test, openFree: (t: Test) => Promise<Shop>): void {
  t.test(
    'a change that breaks a constraint of the table fails alone; other changes in its batch are made',
    async (t) => {
      const { orders } = await openFree(t);
      await orders.create({ price: 1n, note: 'Same' });
      const order = await orders.create({ price: 1n });
      const changes = [{ note: 'Same' }, { price: 'dear' }, { price: null }, { price: 7n }];
      const outcomes = await Promise.allSettled(changes.map((fields) => orders.update(keyOf(order), fields)));
      t.match(outcomes, [
        { reason: { message: /unique/i } },
        { reason: { message: /dear|TEXT value/ } },
        { reason: { message: /not.null/i } },
        { value: { price: 7n, revision: 2n } },
      ]);
    },
  );
}

t.test('the store passes its tests with orders in a SQLite database in memory', async (t) => {
  testFaults(t, async (t) => {
    const store = openStore({ kind: 'memory' }, FREE, LIMITS) as unknown as Store;
    t.teardown(() => store.close());
    return toShop(store);
  });
});

onBoth(t, testChanges);

t.test('a collection that refers to an unknown collection is an error', async (t) => {
  t.throws(() => toTables({ orders, pets }), {
    message: 'orders refers to coupons, which is unknown, or refers back to it',
  });
});

t.test('a collection without an id, or with two ids, is an error', async (t) => {
  const { id, isbn } = books.columns;
  for (const columns of [{ isbn }, { id, isbn: id }])
    t.throws(() => toTable({ ...books, columns, lists: {} }), { message: /^one column of books has `set: 'id'`/ });
});

t.test(
  "if the store cannot generate ids of a collection's type, the error tells how to fix the contract",
  async (t) => {
    for (const type of ['int32', 'number'] as const) {
      const columns = { ...books.columns, id: { ...books.columns.id, type } } as const;
      const message = `the store cannot set the id of books, which is ${type}: make it a string in the contract, or add \`format: int64\``;
      t.throws(() => toTable({ ...books, columns }), { message });
    }
  },
);
