import { setTimeout as wait } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { toStoredKey } from '../../src/contract-first/store/api-keys.ts';
import type { Fields } from '../../src/contract-first/store/collection.ts';
import { openPostgres } from '../../src/contract-first/store/postgres/open-postgres.ts';
import { type StoreLimits, StoreUnavailable } from '../../src/contract-first/store/store.ts';
import { startCuttingProxy } from '../cutting-proxy.ts';
import { LIMITS, listPets, type NewPet, type OwnStore } from '../database.ts';
import { domain as orders } from '../orders/domain.ts';
import { idempotencyOf, type Shop, toShop } from '../orders/shops.ts';
import { transactions } from '../orders/writing.ts';
import { openPostgresUrl, schemaOf, settingsOf, startPostgres } from '../postgres.ts';

const REX: NewPet = { name: 'Rex', categoryId: 7n };
/** The time in milliseconds within which a call must fail: some seconds, and more for a busy machine. */
const SOON = 10_000;
/** A timeout in milliseconds that no call reaches, for stores whose calls must succeed or fail for another reason. */
const LONG = 60_000;

const server = await startPostgres(t);

async function openOne(
  t: Test,
  url = server.newUrl(),
  limits: Partial<StoreLimits> = {},
  timeout?: number,
): Promise<OwnStore> {
  const store = await openPostgresUrl(url, limits, timeout);
  t.teardown(() => store.close());
  return store;
}

/** Changes a setting of the whole PostgreSQL server. */
async function setAndReload(setting: string): Promise<void> {
  const admin = await server.open('-c default_transaction_read_only=off');
  await admin.query(`ALTER SYSTEM SET ${setting}`);
  await admin.query('SELECT pg_reload_conf()');
  await admin.end();
}

async function failsSoon(t: Test, kind: StoreUnavailable['kind'], call: () => unknown): Promise<void> {
  const started = performance.now();
  const error = await Promise.resolve()
    .then(call)
    .then(() => undefined)
    .catch((thrown: unknown) => thrown);
  t.ok(error instanceof StoreUnavailable, String(error));
  t.equal((error as StoreUnavailable).kind, kind);
  t.ok(performance.now() - started < SOON, `after ${performance.now() - started} ms`);
}

/** Checks that every call fails soon with `unavailable`. A create may also have an unknown outcome. */
async function failsInAll(t: Test, store: OwnStore): Promise<void> {
  await Promise.all([
    failsSoon(t, 'unavailable', () => store.records.get(1n)),
    failsSoon(t, 'unavailable', () => listPets(store, { limit: 10 })),
    failsSoon(t, 'unavailable', () => store.readKeys()),
    failsSoon(t, 'unavailable', () => store.listKeys()),
    failsSoon(t, 'unavailable', () => store.check()),
    t.rejects(async () => store.records.create(REX), { message: 'the store is unavailable' }),
  ]);
}

/** Resolves when all calls of the store succeed again. */
async function worksAgain(store: OwnStore): Promise<void> {
  const deadline = performance.now() + 20_000;
  for (;;) {
    try {
      await store.check();
      const { id } = await store.records.create(REX);
      await store.records.get(id);
      await store.readKeys();
      return;
    } catch (error) {
      if (!(error instanceof StoreUnavailable) || performance.now() > deadline) throw error;
    }
    await wait(50);
  }
}

/** Stores a pet with direct SQL, which has no timeout. */
async function addRex(url: string): Promise<bigint> {
  const table = `${schemaOf(url)}.pets`;
  const { rows } = await server.execute(`INSERT INTO ${table} (name, category_id) VALUES ('Rex', 7) RETURNING id`);
  return BigInt(rows[0].id);
}

async function idsIn(store: OwnStore): Promise<bigint[]> {
  const { body } = await listPets(store, { limit: 100_000 });
  return [...body.text.matchAll(/\{"id":(\d+),/g)].map(([, digits]) => BigInt(digits as string));
}

t.test('while connections are killed, no read fails, and each pet whose create returned an id is stored', async (t) => {
  const store = await openOne(t, server.newUrl(), {}, LONG);
  const first = await store.records.create(REX);
  const ids = [first.id];
  let isOver = false;
  const read = async () => {
    while (!isOver) t.ok(await store.records.get(first.id));
  };
  const create = async () => {
    while (!isOver) {
      try {
        ids.push((await store.records.create(REX)).id);
      } catch (error) {
        if (!(error instanceof StoreUnavailable)) throw error;
      }
    }
  };
  const clients = [read(), read(), create(), create()];
  for (let count = 0; count < 5; count++) {
    await server.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'petstore'");
    await wait(100);
  }
  isOver = true;
  await Promise.all(clients);
  await worksAgain(store);
  const stored = new Set(await idsIn(store));
  t.strictSame(
    ids.filter((id) => !stored.has(id)),
    [],
  );
});

t.test('while PostgreSQL does not answer, each call fails soon; once it answers, everything works again', async (t) => {
  const store = await openOne(t);
  await worksAgain(store);
  await server.signal('SIGSTOP');
  await failsInAll(t, store);
  await failsInAll(t, store);
  await server.signal('SIGCONT');
  await worksAgain(store);
});

t.test('while PostgreSQL is stopped, each call fails soon; after its restart, everything works again', async (t) => {
  const url = server.newUrl();
  const store = await openOne(t, url);
  const id = await addRex(url);
  await server.stop();
  await failsInAll(t, store);
  await server.start();
  await worksAgain(store);
  t.equal((await store.records.get(id))?.text, `{"id":${id},"name":"Rex","categoryId":7}`);
});

t.test('a start keeps trying if PostgreSQL does not answer for some seconds', async (t) => {
  const url = server.newUrl();
  await openOne(t, url);
  await server.signal('SIGSTOP');
  const opening = openOne(t, url);
  await Promise.race([opening, wait(2500)]);
  await server.signal('SIGCONT');
  const store = await opening;
  t.equal(await store.countInvalidRecords('a contract', () => true), 0);
  await worksAgain(store);
});

t.test('if a start can write to no PostgreSQL server of its URL, it prints the reason for each of them', async (t) => {
  const url = server.newUrl().replace(/@[^/]*/, '@127.0.0.1:1,127.0.0.1:2');
  const opening = openPostgresUrl(url, {}, 1700, 2000);
  const refused = (port: number) => `127.0.0.1:${port}: connect ECONNREFUSED 127.0.0.1:${port}`;
  await t.rejects(opening, new Error(`${refused(1)}; ${refused(2)}`));
});

t.test('if a start gets too few connections, it reports this and closes those that it has', async (t) => {
  await server.execute(
    `CREATE ROLE guest LOGIN PASSWORD 'guest' CONNECTION LIMIT 2; GRANT CREATE ON DATABASE postgres TO guest`,
  );
  const url = server.newUrl().replace(/\/\/[^@]*/, '//guest:guest');
  await t.rejects(openPostgresUrl(url, {}, 1700, 2000), /too many connections for role "guest"/);
  const count = "SELECT count(*) FROM pg_stat_activity WHERE usename = 'guest'";
  while (Number((await server.execute(count)).rows[0]?.count) > 0) await wait(20);
});

t.test('a store can be closed while PostgreSQL is stopped; calls that wait and later calls fail', async (t) => {
  const store = await openOne(t);
  await server.stop();
  const refused = failsInAll(t, store);
  await store.close();
  await refused;
  await failsInAll(t, store);
  await server.start();
});

t.test(
  'while the database is read-only, creates and health checks fail, and gets work; afterwards, everything works',
  async (t) => {
    const url = server.newUrl();
    const store = await openOne(t, url);
    const id = await addRex(url);
    await setAndReload('default_transaction_read_only = on');
    await t.rejects(async () => {
      for (;;) await store.records.create(REX);
    }, StoreUnavailable);
    t.ok(await store.records.get(id));
    await failsSoon(t, 'unavailable', () => store.check());
    await failsSoon(t, 'unavailable', () => store.readKeys());
    await failsSoon(t, 'unavailable', () => store.records.create(REX));
    await setAndReload('default_transaction_read_only = off');
    await worksAgain(store);
  },
);

t.test(
  'if another session locks a table for too long, PostgreSQL ends the calls that wait, and nothing is changed',
  async (t) => {
    const url = server.newUrl();
    const store = await openOne(t, url);
    const id = await addRex(url);
    const other = await server.connect(t, url);
    await other.query('BEGIN; LOCK TABLE pets IN ACCESS EXCLUSIVE MODE');
    await Promise.all([
      failsSoon(t, 'unavailable', () => store.records.create(REX)),
      failsSoon(t, 'unavailable', () => store.records.get(id)),
    ]);
    await other.query('ROLLBACK');
    t.strictSame(await idsIn(store), [id]);
  },
);

t.test('a create that waits too long for a lock is not made, even if CREATE_TIMEOUT is long', async (t) => {
  const url = server.newUrl();
  const store = await openOne(t, url, { createTimeout: 5000 }, LONG);
  await addRex(url);
  const other = await server.connect(t, url);
  await other.query('BEGIN; LOCK TABLE pets IN EXCLUSIVE MODE');
  const first = failsSoon(t, 'unavailable', () => store.records.create(REX));
  await wait(100);
  await Promise.all([first, ...[1, 2, 3].map(() => failsSoon(t, 'unavailable', () => store.records.create(REX)))]);
  await other.query('ROLLBACK');
  t.equal((await idsIn(store)).length, 1);
  await worksAgain(store);
});

t.test('more concurrent creates than fit into one statement are all stored, in the order of their calls', async (t) => {
  const store = await openOne(t, server.newUrl(), {}, LONG);
  const names = Array.from({ length: 2500 }, (_, index) => `Pet ${index}`);
  const pets = await Promise.all(names.map((name) => store.records.create({ ...REX, name })));
  const sorted = [...pets].sort((one, other) => Number(one.id - other.id));
  t.strictSame(
    sorted.map(({ name }) => name),
    names,
  );
  t.strictSame(
    await idsIn(store),
    sorted.map(({ id }) => id),
  );
});

t.test('while no standby confirms writes, health checks and creates fail soon, and gets are answered', async (t) => {
  const store = await openOne(t, server.newUrl(), {}, 3000);
  const { id } = await store.records.create(REX);
  await setAndReload("synchronous_standby_names = 'nobody'");
  await failsSoon(t, 'outcome_unknown', async () => {
    for (;;) await store.records.create(REX);
  });
  let ended = 0;
  const check = async () => {
    await failsSoon(t, 'unavailable', () => store.check());
    ended++;
  };
  const checks: Promise<void>[] = [];
  for (let count = 0; count < 10; count++) {
    checks.push(check());
    await wait(5);
    t.ok(await store.records.get(id));
  }
  t.equal(ended, 0);
  await Promise.all(checks);
  await setAndReload("synchronous_standby_names = ''");
  await worksAgain(store);
});

t.test('after a failover, the store reads records again from the new primary instead of its cache', async (t) => {
  const other = await startPostgres(t);
  const url = server.newUrl();
  const store = await openOne(t, url.replace('/postgres?', `,127.0.0.1:${other.port}/postgres?`), {}, 10_000);
  const { id } = await store.records.create(REX);
  t.match(await store.records.update(id, { name: 'Max' }), { name: 'Max' });
  const moved = url.replace(`:${server.port}/`, `:${other.port}/`);
  await (await openOne(t, moved, {}, LONG)).records.create({ ...REX, name: 'Moved' });

  await setAndReload('default_transaction_read_only = on');
  for (let text = ''; !text.includes('Moved'); text = (await store.records.get(id))?.text ?? '') await wait(10);
  for (let count = 0; count < 10; count++) t.match((await listPets(store, { limit: 10 })).body.text, 'Moved');
  await store.readKeys();
  await store.check();
  t.equal((await store.records.create(REX)).id, id + 1n);
  t.match(await store.records.update(id, { name: 'Ada' }), { name: 'Ada' });
  await setAndReload('default_transaction_read_only = off');
});

t.test(
  'if PostgreSQL ends a long transaction, the store repeats gets, and the outcome of creates is unknown',
  async (t) => {
    const { rows } = await server.execute('SHOW server_version_num');
    if (Number(rows[0].server_version_num) < 170_000) return t.comment('PostgreSQL does this only since version 17');
    const url = server.newUrl();
    await openOne(t, url);
    const id = await addRex(url);
    await server.execute("ALTER ROLE petstore SET transaction_timeout = '1500ms'");
    const store = await openOne(t, url, {}, 10_000);
    await worksAgain(store);
    await server.execute('ALTER ROLE petstore RESET transaction_timeout');
    const other = await server.connect(t, url);
    await other.query('BEGIN; LOCK TABLE pets IN ACCESS EXCLUSIVE MODE');
    const got = store.records.get(id);
    await failsSoon(t, 'outcome_unknown', () => store.records.create(REX));
    await other.query('ROLLBACK');
    t.ok(await got);
    await worksAgain(store);
  },
);

t.test("if PostgreSQL's answer to a write or to COMMIT is lost, the outcome of the write is unknown", async (t) => {
  const url = server.newUrl();
  const proxy = await startCuttingProxy(t, server.port);
  // The proxy looks for the text of a statement. Prepared statements are sent by name, without their text.
  const cuttable = `${url.replace(`:${server.port}/`, `:${proxy.port}/`)}&prepared=off`;
  const store = await openOne(t, cuttable, {}, LONG);
  const direct = await openOne(t, url, {}, LONG);
  const { id } = await store.records.create(REX);
  proxy.cutAnswerTo('INSERT INTO');
  await failsSoon(t, 'outcome_unknown', () => store.records.create(REX));
  proxy.cutAnswerTo(undefined);
  t.equal((await idsIn(direct)).length, 2);
  await worksAgain(store);
  proxy.cutAnswerTo('COMMIT\0');
  await failsSoon(t, 'outcome_unknown', () => store.records.replace(id, { ...REX, name: 'Ada' }));
  proxy.cutAnswerTo(undefined);
  t.match((await direct.records.get(id))?.read(), { name: 'Ada' });
  await worksAgain(store);
});

t.test(
  'if PostgreSQL rejects one of many pets that are created together, only the create of this pet fails',
  async (t) => {
    const url = server.newUrl();
    const store = await openOne(t, url, {}, LONG);
    await server.execute(`ALTER TABLE ${schemaOf(url)}.pets ADD CHECK (name <> 'Bad')`);
    const names = ['Ada', 'Bad', 'Cleo', 'Dan', 'Eve'];
    const results = await Promise.allSettled(names.map((name) => store.records.create({ ...REX, name })));
    t.strictSame(
      results.map(({ status }) => status),
      ['fulfilled', 'rejected', 'fulfilled', 'fulfilled', 'fulfilled'],
    );
    t.notOk((results[1] as PromiseRejectedResult).reason instanceof StoreUnavailable);
    t.equal((await idsIn(store)).length, 4);
  },
);

t.test('if too many creates wait, a further create fails immediately, and the earlier ones are made', async (t) => {
  const store = await openOne(t, server.newUrl(), { maxCreates: 2 }, LONG);
  const created = [store.records.create(REX), store.records.create(REX)];
  await failsSoon(t, 'overloaded', () => store.records.create(REX));
  t.equal((await Promise.all(created)).length, 2);
  t.ok(await store.records.create(REX));
});

t.test(
  "if PostgreSQL's answer to the create of an API key is lost, the outcome of the create is unknown",
  async (t) => {
    const url = server.newUrl();
    const proxy = await startCuttingProxy(t, server.port);
    const store = await openOne(t, url.replace(`:${server.port}/`, `:${proxy.port}/`), {}, LONG);
    proxy.cutAnswerTo('api_keys');
    await failsSoon(t, 'outcome_unknown', () => store.createKey(toStoredKey('key', 'Ada')));
    proxy.cutAnswerTo(undefined);
    await worksAgain(store);
    t.equal((await store.listKeys()).length, 1);
  },
);

t.test(
  'while PostgreSQL has no free connections, every call fails; once it has free ones, everything works',
  async (t) => {
    await server.execute(`CREATE ROLE limited LOGIN PASSWORD '${server.password}'`);
    await server.execute('GRANT CREATE ON DATABASE postgres TO limited');
    const store = await openOne(t, server.newUrl().replace('petstore:', 'limited:'));
    await worksAgain(store);
    await server.execute('ALTER ROLE limited CONNECTION LIMIT 0');
    await server.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE usename = 'limited'");
    await failsInAll(t, store);
    await server.execute('ALTER ROLE limited CONNECTION LIMIT -1');
    await worksAgain(store);
  },
);

t.test('the store retries a write that conflicts with another program a few times', async (t) => {
  const url = server.newUrl();
  const store = await openOne(t, url, {}, LONG);
  const schema = schemaOf(url);
  const conflictUntil = (last: number, state: string) =>
    server.execute(`
      DROP SEQUENCE IF EXISTS ${schema}.tries; CREATE SEQUENCE ${schema}.tries;
      CREATE OR REPLACE FUNCTION ${schema}.conflict() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
        IF nextval('${schema}.tries') < ${last} THEN RAISE SQLSTATE '${state}'; END IF;
        RETURN NEW;
      END $$;
      CREATE OR REPLACE TRIGGER conflict BEFORE INSERT OR UPDATE ON ${schema}.pets FOR EACH ROW
      EXECUTE FUNCTION ${schema}.conflict()`);
  await conflictUntil(5, '40001');
  const { id } = await store.records.create(REX);
  await conflictUntil(5, '40P01');
  const changes = ['Ada', 'Bob'].map((name) => store.records.update(id, { name }));
  t.match(await Promise.all(changes), [{ name: 'Ada' }, { name: 'Bob' }]);
  t.equal((await idsIn(store)).length, 1);
  for (const state of ['40001', '40P01']) {
    await conflictUntil(1000, state);
    await failsSoon(t, 'unavailable', () => store.records.create(REX));
    await failsSoon(t, 'unavailable', () => store.records.update(id, { name: 'Cleo' }));
  }
});

t.test('if a change and another program deadlock, the deadlock ends and the change is made', async (t) => {
  const url = server.newUrl();
  await server.execute("ALTER DATABASE postgres SET deadlock_timeout = '100ms'");
  const store = await openOne(t, url, {}, LONG);
  const { id } = await store.records.create(REX);
  const other = await server.connect(t, url);
  for (let round = 0; round < 3; round++) {
    await other.query('BEGIN; SELECT FROM pets FOR UPDATE');
    const changed = store.records.update(id, { name: `Round ${round}` });
    await wait(20);
    // Now both wait: this session has locked the row and waits for the writers' lock; the update holds that lock and
    // waits for the row.
    await other.query('UPDATE pets SET category_id = 9').catch(() => {});
    await other.query('COMMIT');
    t.match(await changed, { name: `Round ${round}` });
  }
});

t.test('a transaction that runs queries without end is stopped, and the error names the transaction', async (t) => {
  const settings = settingsOf(server.newUrl());
  const store = await openPostgres(settings, orders, LIMITS, { transactions }, 2600);
  t.teardown(() => store.close());
  const shop = toShop(store);
  const message = /^orders\.loop: the database has not answered in time/;
  await t.rejects(shop.orders.loop?.('asks') as Promise<unknown>, { name: 'StoreUnavailable', cause: { message } });
  while (!(await shop.pets.create(REX).catch(() => undefined))) await wait(50);
  t.equal((await shop.pets.list({ limit: 9 }))?.body.read().length, 1);
});

/** Opens a shop with ten accounts of 100 each, in the database and schema of a URL. */
async function openAccounts(t: Test, url: string, timeout?: number): Promise<Shop & { ids: bigint[] }> {
  const settings = settingsOf(url);
  const store = await openPostgres(settings, orders, LIMITS, { transactions }, timeout);
  t.teardown(() => store.close());
  const shop = toShop(store);
  const page = await shop.pets.list({ limit: 10 });
  const accounts = Array.from({ length: 10 }, () => ({ ...REX, categoryId: 100n }));
  const pets = page?.body.read() ?? [];
  const made = pets.length > 0 ? pets : ((await shop.pets.createAll(accounts)) as Fields[]);
  return { ...shop, ids: made.map(({ id }) => id as bigint) };
}

interface Moved {
  schema: string;
  moved: number;
  /** The number of other transfers that may have been made, because the answer to their COMMIT was lost. */
  unknown?: number;
}

/**
 * Checks that the accounts still add up to 1000, and that each transfer has exactly two orders: no transfer is half
 * done or done twice.
 */
async function checkAccounts(t: Test, { schema, moved, unknown = 0 }: Moved): Promise<void> {
  const { rows } = await server.execute(`
    SELECT (SELECT sum(category_id) FROM ${schema}.pets) AS sum, (SELECT count(*) FROM ${schema}.orders) AS orders`);
  t.match(rows, [{ sum: '1000' }]);
  const orders = Number(rows[0]?.orders);
  t.ok(orders >= 2 * moved && orders <= 2 * (moved + unknown), `${orders} orders, ${moved} moved, ${unknown} unknown`);
}

t.test(
  'of too many concurrent transactions, those that fit into the time limit are made, and the others fail without effect',
  async (t) => {
    const url = server.newUrl();
    const near = await openAccounts(t, url, LONG);
    // With the delay of the proxy, each transaction takes more than a tenth of a second.
    const proxy = await startCuttingProxy(t, server.port, 8);
    const { orders, ids } = await openAccounts(t, url.replace(`:${server.port}/`, `:${proxy.port}/`));
    const moves = Array.from({ length: 64 }, (_, index) =>
      orders.move?.({ from: ids[index % 10], to: ids[(index + 1) % 10], amount: 1n }),
    );
    const outcomes = await Promise.allSettled(moves);
    const done = outcomes.filter(({ status }) => status === 'fulfilled');
    t.ok(done.length > 0 && done.length < 64, `${done.length}`);
    const others = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? [outcome.reason] : []));
    const refused = others.filter(({ kind }) => kind !== 'outcome_unknown');
    t.match(refused, Array(refused.length).fill({ name: 'StoreUnavailable', kind: 'unavailable' }));
    await checkAccounts(t, { schema: schemaOf(url), moved: done.length, unknown: others.length - refused.length });
    t.equal(await near.orders.move?.({ from: ids[0], to: ids[1], amount: 1n }), 1);
  },
);

t.test(
  'while connections are killed, each transaction of two servers is made once per Idempotency-Key or not at all',
  async (t) => {
    const url = server.newUrl();
    const shops = [await openAccounts(t, url, LONG), await openAccounts(t, url, LONG)] as const;
    const { ids } = shops[0];
    let [isOver, moved, failed] = [false, 0, 0];
    const moveOnce = async (client: number, round: number) => {
      const way = { from: ids[(client + round) % 10], to: ids[(client + 3 * round + 1) % 10], amount: 1n };
      for (;;) {
        const idempotency = { ...idempotencyOf(`${client} ${round}`), operation: 'move' };
        const outcome = shops[client % 2]?.orders.move?.(way, { idempotency }).catch((error: unknown) => error);
        const answer = await outcome;
        if (!(answer instanceof StoreUnavailable)) return answer;
        failed++;
      }
    };
    const clients = Array.from({ length: 40 }, async (_, client) => {
      for (let round = 0; !isOver; round++) {
        const answer = await moveOnce(client, round);
        if (answer === 1) moved++;
        else t.match(answer, { refused: 'too_little' });
      }
    });
    const kill = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'petstore'";
    for (let count = 0; count < 5 || failed === 0; count++) {
      await wait(300);
      await server.execute(kill);
    }
    isOver = true;
    await Promise.all(clients);
    await checkAccounts(t, { schema: schemaOf(url), moved });
  },
);
