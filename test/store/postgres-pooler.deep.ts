/** Stores behind PgBouncer, which gives each transaction a session that other clients have used. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { findFreePort } from '../../scripts/free-port.ts';
import { openPostgres } from '../../src/contract-first/store/postgres/open-postgres.ts';
import { LIMITS } from '../database.ts';
import { domain } from '../orders/domain.ts';
import { idempotencyOf, keyOf, type Shop, toShop } from '../orders/shops.ts';
import { transactions } from '../orders/writing.ts';
import { settingsOf, startPostgres } from '../postgres.ts';

const server = await startPostgres(t);

/** Starts PgBouncer and returns its port. Like PostgreSQL, it does not run as root. */
async function startPooler(t: Test): Promise<number> {
  const port = await findFreePort();
  const file = `${server.folder}/pooler-${port}.ini`;
  const access = `host=127.0.0.1 port=${server.port} user=petstore password=${server.password}`;
  writeFileSync(
    file,
    `[databases]\npostgres = ${access}\n[pgbouncer]\nlisten_addr = 127.0.0.1\nlisten_port = ${port}\nunix_socket_dir =\nauth_type = any
pool_mode = transaction\ndefault_pool_size = 3\nignore_startup_parameters = statement_timeout\nserver_login_retry = 1\n`,
    { mode: 0o644 },
  );
  const root = process.getuid?.() === 0 ? ['-u', 'nobody'] : [];
  const pooler = spawn('pgbouncer', ['-q', ...root, file], { stdio: 'ignore' });
  t.teardown(async () => {
    const ended = once(pooler, 'exit');
    pooler.kill('SIGKILL');
    await ended;
  });
  for (let isUp = false; !isUp; await wait(20)) {
    const socket = connect(port, '127.0.0.1');
    isUp = await once(socket, 'connect').then(
      () => true,
      () => false,
    );
    socket.destroy();
  }
  return port;
}

async function openShop(t: Test, url: string): Promise<Shop> {
  const settings = settingsOf(url);
  const store = await openPostgres(settings, domain, LIMITS, { transactions }, 60_000);
  t.teardown(() => store.close());
  return toShop(store);
}

const throughPooler = (url: string, port: number) => url.replace(`:${server.port}/`, `:${port}/`);

t.test('the store works through a pooler that lets clients share sessions between transactions', async (t) => {
  await server.execute("ALTER ROLE petstore SET statement_timeout = '20s'");
  await server.execute("ALTER ROLE petstore SET TimeZone = 'America/New_York'");
  const url = throughPooler(server.newUrl(), await startPooler(t));
  const shops = [await openShop(t, url), await openShop(t, url)] as [Shop, Shop];
  const prices = Array.from({ length: 60 }, (_, index) => BigInt(index));
  const made = await Promise.all(
    prices.map(async (price, index) => {
      const { orders, pets } = shops[index % 2] as Shop;
      const { id: petId } = await pets.create({ name: 'Ann', categoryId: price, status: 'available' });
      const placed = await orders.place?.({ petId, price }, { idempotency: idempotencyOf(`place ${price}`) });
      const once = idempotencyOf(`add ${price}`);
      await orders.update(keyOf(placed), { pieces: { add: 1 } }, { idempotency: once });
      return orders.update(keyOf(placed), { pieces: { add: 1 } }, { idempotency: { ...once } });
    }),
  );
  t.match(
    made,
    prices.map((price) => ({ price, pieces: 2, revision: 2n })),
  );
  const [{ orders }] = shops;
  const page = await orders.list({ limit: 99, order: 'cheapest', price: { from: 7n } });
  t.strictSame(
    page?.body.read().map(({ price }) => price),
    prices.slice(7),
  );
  t.same(await orders.ask?.(["SELECT current_setting('TimeZone') AS zone"]), [{ zone: 'UTC' }]);
});

t.test('behind a pooler, the start fails until the database role has the settings that the error prints', async (t) => {
  const wrong = { extra_float_digits: '0', array_nulls: 'off', default_transaction_isolation: 'serializable' };
  for (const [name, value] of Object.entries(wrong))
    await server.execute(`ALTER ROLE petstore SET ${name} = '${value}'`);
  const url = server.newUrl();
  const refused = openShop(t, throughPooler(url, await startPooler(t)));
  const [, remedy = ''] =
    /behind a pooler, its role needs other settings: (.*)/.exec(
      await refused.then(
        () => '',
        (error: Error) => error.message,
      ),
    ) ?? [];
  t.equal(remedy.split(';').length, 3);
  // Without a pooler, the store sets these settings in its sessions, so the role does not need them.
  await openShop(t, url);
  await server.execute(remedy);
  const { coupons } = await openShop(t, throughPooler(url, await startPooler(t)));
  await coupons.put('a', { left: 1n });
  t.match((await coupons.get('a'))?.read(), { left: 1n });
});
