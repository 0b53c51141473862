/**
 * Sends texts that a database cannot store together with valid ones, and checks that each caller gets its own answer,
 * on both databases.
 */
import t, { type Test } from 'tap';
import { type Fields, isRefused } from '../src/contract-first/store/collection.ts';
import { idempotencyOf, keyOf, type Open, onBoth, type Shop } from './orders/shops.ts';

/** PostgreSQL rejects U+0000. It also rejects half surrogate pairs, which SQLite would return as U+FFFD. */
const IMPOSSIBLE = ['\0', 'a\0', '\ud800', 'a\udfff'];

/**
 * Makes all calls five times at the same time, so that they share statements. Returns the outcomes of the last round.
 */
async function atOnce<Answer>(asks: (() => Answer | Promise<Answer>)[]): Promise<PromiseSettledResult<Answer>[]> {
  const all = Array.from({ length: 5 }, () => asks).flat();
  return (await Promise.allSettled(all.map(async (ask) => ask()))).slice(-asks.length);
}

async function prepareShop(open: Open): Promise<{ shop: Shop; number: string }> {
  const shop = await open();
  for (const code of ['a', '\ufffd', 'a\ufffd']) await shop.coupons.put(code, { left: 1n });
  await shop.orders.create({ price: 1n, note: 'a', status: '\ufffd' });
  return { shop, number: keyOf(await shop.orders.create({ price: 1n, note: 'b' })) };
}

function testImpossible(t: Test, prepare: (t: Test) => Open): void {
  t.test(
    'a lookup of a text that the database cannot store finds nothing; other lookups in its batch still get answers',
    async (t) => {
      const { shop } = await prepareShop(prepare(t));
      const { coupons, orders } = shop;
      const list = async (query: Fields) => (await orders.list({ limit: 9, ...query }))?.body.read().length;
      for (const text of IMPOSSIBLE) {
        const answers = await atOnce<unknown>([
          async () => (await coupons.get('a'))?.read().left,
          () => coupons.get(text),
          () => list({ status: 'placed' }),
          () => list({ status: text }),
          () => list({ noteBegins: text }),
          () => list({ status: text, order: 'cheapest' }),
          () => list({ status: 'placed', order: 'cheapest' }),
        ]);
        t.strictSame(
          answers.map((answer) => (answer.status === 'fulfilled' ? answer.value : String(answer.reason))),
          [1n, undefined, 1, 0, 0, 0, 1],
          JSON.stringify(text),
        );
      }
    },
  );

  t.test(
    'a change of a record whose id the database cannot store finds no record; other changes in its batch are made',
    async (t) => {
      const { shop, number } = await prepareShop(prepare(t));
      const { coupons, orders } = shop;
      for (const text of IMPOSSIBLE) {
        const answers = await atOnce<unknown>([
          () => orders.update(number, { pieces: { add: 1 } }),
          () => orders.update(text, { pieces: { add: 1 } }),
          () => orders.replace(text, { price: 1n }),
          () => orders.delete(text),
          () => coupons.delete(text),
          () => orders.update(number, { status: 'paid' }, { if: { note: text } }),
          () => orders.update(number, { pieces: { add: 1 } }, { if: { note: ['b', text] } }),
        ]);
        t.match(
          answers.slice(1, 5),
          [undefined, undefined, false, false].map((value) => ({ value })),
        );
        t.ok(
          answers.every(({ status }) => status === 'fulfilled'),
          JSON.stringify(answers.map(String)),
        );
        t.match(answers[5], { value: { refused: 'changed' } });
      }
      t.match((await orders.get(number))?.read(), { pieces: 1 + 2 * 5 * IMPOSSIBLE.length, status: 'placed' });
      t.equal((await coupons.list({ limit: 9 }))?.body.read().length, 3);
    },
  );

  t.test('every caller has its own Idempotency-Keys, even a caller whose name the database cannot store', async (t) => {
    const { shop } = await prepareShop(prepare(t));
    const { orders } = shop;
    const callers = [...IMPOSSIBLE, '\ufffd', 'a\ufffd', '\\u0000', 'x'.repeat(9), randomText(3000), randomText(3000)];
    const create = (caller: string) => async () => {
      const idempotency = { ...idempotencyOf(randomText(3000)), caller };
      const order = await orders.create({ price: 1n }, { idempotency });
      const again = await orders.create({ price: 1n }, { idempotency });
      if (isRefused(order) || isRefused(again)) throw new Error('refused');
      return order.number === again.number;
    };
    const answers = await Promise.allSettled([...callers, 'Ada'].map(async (caller) => create(caller)()));
    t.match(answers, Array(callers.length + 1).fill({ value: true }));
    const key = idempotencyOf('the same key');
    const made = await Promise.all(
      callers.map((caller) => orders.create({ price: 2n }, { idempotency: { ...key, caller } })),
    );
    t.equal(new Set(made.map(keyOf)).size, callers.length);
  });

  t.test(
    'an indexed text that is too long for SQLite or PostgreSQL is an error on both; other writes in its batch succeed',
    async (t) => {
      const { coupons, orders } = (await prepareShop(prepare(t))).shop;
      const [fits, long] = [randomText(433), randomText(434)];
      const answers = await atOnce<unknown>([
        async () => (await coupons.put(randomText(866), { left: 1n }))?.isNew,
        () => coupons.put(randomText(867), { left: 1n }),
        () => orders.create({ price: 1n, status: randomText(433), note: fits }),
        () => orders.create({ price: 1n, note: long }),
        () => orders.create({ price: 1n, couponCode: randomText(3000) }),
        () => orders.createAll([{ price: 1n }, { price: 1n, note: long }]),
        () => orders.takeNote?.([long]),
        async () => orders.update(keyOf(await orders.create({ price: 1n })), { note: long }),
      ]);
      const refusals = [1, 3, 4, 5, 6, 7].map((index) => answers[index]);
      t.match(refusals, Array(6).fill({ status: 'rejected', reason: { code: 'INVALID_VALUE', message: /bytes/ } }));
      t.match([answers[0], answers[2]], [{ value: true }, { value: { note: fits } }]);
      t.equal((await orders.list({ limit: 99, status: 'placed', order: 'cheapest' }))?.body.read().length, 6);
    },
  );
}

/** Returns a text of random Chinese characters, which the database cannot compress. */
function randomText(length: number): string {
  return Array.from({ length }, () => String.fromCodePoint(0x4e00 + Math.floor(Math.random() * 20_000))).join('');
}

onBoth(t, testImpossible);
