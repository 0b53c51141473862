/** Transactions of a domain, which change several records or none. */
import t, { type Test } from 'tap';
import { type Fields, isRefused, KeyReused, type Page } from '../src/contract-first/store/collection.ts';
import { openStore } from '../src/contract-first/store/open-store.ts';
import type { Store } from '../src/contract-first/store/store.ts';
import { loadCodecs } from '../src/generated/writing.ts';
import { LIMITS } from './database.ts';
import { domain } from './orders/domain.ts';
import { idempotencyOf, type Open, onBoth, type Shop, toShop } from './orders/shops.ts';
import { transactions } from './orders/writing.ts';

const PET = { name: 'Rex', categoryId: 1n, status: 'available' };

interface Report {
  totals: { count: bigint }[];
  page: Page;
  count: bigint;
}

async function namesIn({ pets }: Shop): Promise<unknown[]> {
  return (await pets.list({ limit: 99 }))?.body.read().map(({ name }) => name) ?? [];
}

function testTransactions(t: Test, prepare: (t: Test) => Open): void {
  t.test('of many concurrent orders for one pet through two stores, exactly one is placed', async (t) => {
    const open = prepare(t);
    const shops = [await open(), await open()] as [Shop, Shop];
    const [{ pets, orders }] = shops;
    for (let round = 0; round < 3; round++) {
      const { id: petId } = await pets.create(PET);
      const placed = await Promise.all(
        Array.from({ length: 40 }, (_, index) => shops[index % 2]?.orders.place?.({ petId, price: BigInt(index) })),
      );
      const [order, ...others] = placed.filter((one) => !isRefused(one)) as Fields[];
      t.same(others, []);
      t.match(order, { petId, status: 'placed', revision: 1n });
      t.match(placed.filter(isRefused), Array(39).fill({ refused: 'pet_not_available' }));
      t.match((await pets.get(petId))?.read(), { status: 'sold' });
      t.same((await orders.get(order?.number))?.read(), order);
    }
    t.equal((await orders.list({ limit: 99 }))?.body.read().length, 3);
    t.match(await orders.place?.({ petId: 99n, price: 1n }), { refused: 'pet_not_found' });
  });

  t.test('a refused transaction undoes its own changes; other changes in its batch are made', async (t) => {
    const shop = await prepare(t)();
    const { pets, orders } = shop;
    const sold = await pets.create({ ...PET, status: 'sold' });
    const available = await pets.create(PET);
    const outcomes = await Promise.all([
      orders.placeCarelessly?.({ petId: sold.id }),
      orders.placeCarelessly?.({ petId: available.id }),
      orders.create({ price: 7n }),
    ]);
    t.match(outcomes, [{ refused: 'pet_not_available' }, { petId: available.id }, { price: 7n }]);
    t.same((await orders.list({ limit: 9 }))?.body.read(), outcomes.slice(1));
    t.match(await orders.placeCarelessly?.({ petId: 99n }), { refused: 'no_such_pets' });
  });

  t.test('a transaction that throws, breaks a schema or lacks a `yield*` undoes only its own changes', async (t) => {
    const shop = await prepare(t)();
    const { orders } = shop;
    const ways = ['throws', 'caught', 'forgotten', 'unfit', 'unlike'];
    const failing = Promise.allSettled(ways.map((way) => orders.fail?.(way)));
    await Promise.all([shop.pets.create(PET), orders.add?.({ name: 'Max' })]);
    t.match(await failing, [
      { reason: { message: 'half done' } },
      { reason: { message: /dear|TEXT value/ } },
      { reason: { message: 'fail has a call without `yield*`' } },
      { reason: { message: 'a pet that breaks its schema is not stored: name is not allowed' } },
      { reason: { message: /not.null/i } },
    ]);
    t.same((await namesIn(shop)).sort(), ['Max', 'Rex']);
    t.equal(await orders.fail?.(''), 'done');
  });

  t.test('if one change in a transaction is refused, the transaction may make another change instead', async (t) => {
    const { orders } = await prepare(t)();
    await orders.create({ price: 1n, note: 'a' });
    t.match(await orders.takeNote?.(['a', 'b']), { note: 'b' });
    t.match(await orders.takeNote?.(['a', 'b']), { refused: 'note_taken' });
    t.same(
      await orders.takeNotes?.([
        ['c', 'd', 'a'],
        ['d', 'e'],
      ]),
      ['d', 'e'],
    );
    t.match(await orders.takeNotes?.([['f', 'a']]), { refused: 'note_taken' });
    const notes = (await orders.list({ limit: 9 }))?.body.read().map(({ note }) => note);
    t.same(notes, ['a', 'b', 'd', 'e']);
  });

  t.test(
    'a transaction with an Idempotency-Key is made once, even if sent concurrently; a refused one leaves its key unused',
    async (t) => {
      const open = prepare(t);
      const shops = [await open(), await open()] as [Shop, Shop];
      const [{ pets, orders }] = shops;
      const { id: petId } = await pets.create({ ...PET, status: 'pending' });
      const place = (index: number) =>
        shops[index % 2]?.orders.place?.({ petId, price: 5n }, { idempotency: idempotencyOf('place') });
      t.match(await place(0), { refused: 'pet_not_available' });
      await pets.update(petId, { status: 'available' });
      const onces = Array.from({ length: 20 }, () => idempotencyOf('place'));
      const answers = await Promise.all(
        onces.map((idempotency, index) => shops[index % 2]?.orders.place?.({ petId, price: 5n }, { idempotency })),
      );
      t.equal(onces.filter(({ isReplayed }) => isReplayed).length, 19);
      t.match(answers[0], { petId, price: 5n });
      for (const answer of answers) t.strictSame(answer, answers[0]);
      t.strictSame(await place(1), answers[0]);
      const other = orders.place?.({ petId, price: 6n }, { idempotency: idempotencyOf('place', 'other') });
      await t.rejects(other as Promise<unknown>, KeyReused);
      for (let count = 0; count < 2; count++)
        await orders.add?.({ name: 'Void' }, { idempotency: idempotencyOf('void') });
      t.same(await namesIn(shops[0]), ['Rex', 'Void']);
    },
  );

  t.test(
    'a transaction may return any plain data, with every digit of integers, and can read the current time',
    async (t) => {
      const { orders } = await prepare(t)();
      const output = { most: 2n ** 63n - 1n, list: [1, 1.5, null, 'text', { __proto__x: true }], none: undefined };
      // Texts that look like the engine's own marks for int64 values. A client may send them.
      const marks = [{ '\0int64': 'x' }, { '\0int64': '5' }, 'n5', 's', ''];
      t.strictSame(await orders.add?.({ name: 'm', output: marks }, { idempotency: idempotencyOf('marks') }), marks);
      const { none: _none, ...kept } = output;
      t.strictSame(await orders.add?.({ name: 'a', output }, { idempotency: idempotencyOf('output') }), kept);
      t.strictSame(await orders.add?.({ name: 'a', output }, { idempotency: idempotencyOf('output') }), kept);
      t.equal(await orders.add?.({ name: 'b' }), undefined);
      const now = Date.parse((await orders.add?.({ name: 'c', output: 'now' })) as string);
      t.ok(Math.abs(now - Date.now()) < 10_000);
    },
  );

  t.test('a read-only transaction sees one snapshot while others write, even with its own SQL', async (t) => {
    const open = prepare(t);
    const [{ pets, orders }, other] = [await open(), await open()];
    const { id: petId } = await pets.create(PET);
    await orders.createAll([1n, 5n, 7n].map((price) => ({ price })));
    await orders.create({ price: 2n ** 60n, status: 'paid' });
    const read = async (input: Fields) => (await orders.report?.(input)) as Report;
    const report = await read({ from: 5n, petId });
    t.same(report.totals, [
      { status: 'paid', count: 1n, sum: 2n ** 60n },
      { status: 'placed', count: 2n, sum: 12n },
    ]);
    t.match(report, { count: 3n, pet: { name: 'Rex' } });
    t.same(
      report.page.body.read().map(({ price }) => price),
      [2n ** 60n, 7n, 5n],
    );
    let isDone = false;
    const writing = (async () => {
      while (!isDone) await other.orders.create({ price: 5n });
    })();
    for (let round = 0; round < 20; round++) {
      const { totals, count } = await read({ from: 5n });
      t.equal(
        totals.reduce((sum, total) => sum + total.count, 0n),
        count,
      );
    }
    isDone = true;
    await writing;
    t.same(await orders.ask?.(["SELECT 1.5 AS a, 'é' AS b, NULL AS c"]), [{ a: 1.5, b: 'é', c: null }]);
    t.same(
      await orders.ask?.(['SELECT 1 AS a WHERE true = ', " AND 'O''Neill' = ", ' AND CAST(', ' AS text) IS NULL']),
      [{ a: 1n }],
    );
    t.same(await orders.ask?.(['SELECT 1 AS a WHERE 1 = 2']), []);
    for (const sql of ['DELETE FROM orders', 'DELETE FROM orders RETURNING price', 'COMMIT', 'SELECT 1 FROM nothing'])
      await t.rejects(orders.ask?.([sql]) as Promise<unknown>, sql);
  });

  t.test(
    'a transaction may compose its SQL from parts with their own values, but none of the parts may write',
    async (t) => {
      const { orders } = await prepare(t)();
      await orders.createAll([1n, 5n, 7n].map((price) => ({ price, ...(price === 7n && { status: 'paid' }) })));
      t.same(await orders.some?.({ from: 5n }), [{ price: 5n }, { price: 7n }]);
      t.same(await orders.some?.({ from: 5n, status: 'paid' }), [{ price: 7n }]);
      await t.rejects(orders.some?.({ from: 5n, forgets: true }) as Promise<unknown>, {
        message: 'some has a call without `yield*`',
      });
      await t.rejects(orders.writePart?.(1n) as Promise<unknown>);
      t.same(await orders.some?.({ from: 1n }), [{ price: 1n }, { price: 5n }, { price: 7n }]);
    },
  );

  t.test('a transaction can read the changes that it has made itself', async (t) => {
    const { orders } = await prepare(t)();
    await orders.createAll([1n, 5n].map((price) => ({ price })));
    t.match(await orders.addToSum?.(7n), { sum: 13n, dearest: [{ price: 7n }] });
    t.match(await Promise.all([orders.addToSum?.(7n), orders.addToSum?.(8n)]), [{ sum: 20n }, { sum: 28n }]);
  });
}

onBoth(t, testTransactions);

t.test('transactions also work on a SQLite database in memory', async (t) => {
  const store = openStore({ kind: 'memory' }, domain, LIMITS, { transactions }) as unknown as Store;
  t.teardown(() => store.close());
  const { pets, orders } = toShop(store);
  const { id: petId } = await pets.create(PET);
  t.match(await orders.place?.({ petId, price: 1n }), { petId });
  t.match(await orders.place?.({ petId, price: 1n }), { refused: 'pet_not_available' });
  // A transaction that endlessly makes queries is also ended, and cannot catch the error.
  await t.rejects(orders.loop?.('asks') as Promise<unknown>, { message: /^orders\.loop: it has not ended/ });
  t.match(await orders.loop?.('ends'), 'done');
});

t.test('an endless transaction is stopped, and the error names the transaction; other changes are made', async (t) => {
  const place = { kind: 'sqlite', file: `${t.testdir()}/shop.db` } as const;
  const store = openStore(place, domain, LIMITS, { transactions }) as unknown as Store;
  t.teardown(() => store.close());
  const shop = toShop(store);
  const { orders } = shop;
  const ended = orders.loop?.('spins') as Promise<unknown>;
  const others = [orders.add?.({ name: 'Max' }), orders.loop?.('ends'), shop.pets.create(PET)];
  await t.rejects(ended, { message: /^orders\.loop: it has not ended in \d+ ms$/ });
  t.match(await Promise.all(others), [undefined, 'done', { name: 'Rex' }]);
  t.same((await namesIn(shop)).sort(), ['Half', 'Max', 'Rex']);
  await store.check();
});

t.test("the writing thread can check a transaction's records against the schemas of the contract", async (t) => {
  const { pets } = await loadCodecs();
  t.equal(pets.check({ id: 1n, ...PET }), undefined);
  t.match(pets.check({ id: 1n, ...PET, status: 'lost' }), [/status/]);
});
