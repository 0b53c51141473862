import t, { type Test } from 'tap';
import type { PostgresConnection } from '../../src/contract-first/store/postgres/connection.ts';
import { openPostgres } from '../../src/contract-first/store/postgres/open-postgres.ts';
import { buildConnect } from '../../src/contract-first/store/postgres/primary.ts';
import type { AnyDescription } from '../../src/contract-first/store/tables/description.ts';
import { LIMITS } from '../database.ts';
import { holdClock } from '../held-clock.ts';
import { domain, orders } from '../orders/domain.ts';
import { keyOf, type Shop, toShop } from '../orders/shops.ts';
import { transactions } from '../orders/writing.ts';
import { schemaOf, settingsOf, startPostgres } from '../postgres.ts';

const server = await startPostgres(t);

async function connect(t: Test, options = ''): Promise<PostgresConnection> {
  const settings = settingsOf(server.newUrl() + options);
  const connection = await buildConnect(settings)({ toConnect: 60_000, toAnswer: 60_000, isForChanges: true });
  t.teardown(() => connection.end());
  return connection;
}

async function preparedBy(connection: PostgresConnection): Promise<number> {
  return Number((await connection.query('SELECT count(*) FROM pg_prepared_statements'))[0]?.[0]);
}

t.test(
  'only the most recent statements stay prepared on PostgreSQL, and each of them only for a limited time',
  async (t) => {
    const connection = await connect(t);
    const clock = holdClock(t);
    const ask = async (number: number) => {
      const rows = await connection.query(`SELECT $1::int + ${number}`, [1]);
      t.strictSame(rows, [[`${number + 1}`]]);
    };
    await ask(0);
    clock.pass(9000);
    for (let number = 1; number < 300; number++) await ask(number);
    t.equal(await preparedBy(connection), 200);
    for (const number of [0, 299, 0]) await ask(number);
    t.equal(await preparedBy(connection), 200);
    clock.pass(2000);
    await ask(0);
    t.equal(await preparedBy(connection), 1);
  },
);

t.test('with prepared=off in DATABASE_URL, no statement is prepared', async (t) => {
  const connection = await connect(t, '&prepared=off');
  t.strictSame(await connection.query('SELECT $1::int', [1]), [['1']]);
  t.equal(await preparedBy(connection), 0);
});

/** Orders without references and unique sets, so that one can be created without a transaction. */
const FREE = {
  ...orders,
  columns: {
    ...orders.columns,
    petId: { column: 'pet_id', type: 'int64', isOptional: true },
    couponCode: { column: 'coupon_code', type: 'text', isOptional: true },
  },
  unique: [],
} as const;

t.test('statements that are prepared still work after migrations change their tables', async (t) => {
  const url = server.newUrl();
  const open = async (orders: AnyDescription): Promise<Shop> => {
    const settings = settingsOf(url);
    const store = await openPostgres(settings, { ...domain, orders }, LIMITS, { transactions }, 60_000);
    t.teardown(() => store.close());
    return toShop(store);
  };
  const [one, free] = [await open(orders), await open(FREE)];
  const use = async (count: bigint) => {
    const order = await free.orders.create({ price: 1n });
    t.match(await one.orders.update(keyOf(order), { pieces: 2 }), { pieces: 2, price: 1n });
    t.match(await one.orders.addToSum?.(1n), { sum: 2n * count, dearest: [{ price: 1n }] });
  };
  await use(1n);
  await use(2n);
  await server.execute(`ALTER TABLE ${schemaOf(url)}.orders
    ALTER price TYPE numeric, ALTER placed_at TYPE varchar, ADD COLUMN later int NOT NULL DEFAULT 7`);
  await use(3n);
  await use(4n);
});
