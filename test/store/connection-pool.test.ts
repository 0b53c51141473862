/** Tests ConnectionPool with objects in place of connections, so no PostgreSQL server is needed. */
import { setTimeout as wait } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { ClientWrites } from '../../src/contract-first/store/postgres/client-writes.ts';
import type { PostgresConnection } from '../../src/contract-first/store/postgres/connection.ts';
import { ConnectionPool, type ConnectionPoolOptions } from '../../src/contract-first/store/postgres/connection-pool.ts';
import { StoreCounts, StoreUnavailable } from '../../src/contract-first/store/store.ts';
import { holdClock } from '../held-clock.ts';

function newConnection(): PostgresConnection {
  let isOpen = true;
  let resolve = () => {};
  const ended = new Promise<void>((done) => {
    resolve = done;
  });
  return {
    query: async () => [],
    get isOpen() {
      return isOpen;
    },
    isReadOnly: false,
    server: 'one',
    ended,
    end: () => {
      isOpen = false;
      resolve();
    },
  };
}

/** Opens a pool of one connection. `opened` lists the connections that it has opened so far. */
function openPool(t: Test, options: Partial<ConnectionPoolOptions> = {}) {
  const opened: PostgresConnection[] = [];
  const connect = async () => {
    const connection = newConnection();
    opened.push(connection);
    return connection;
  };
  const pool = new ConnectionPool({ connect, count: 1, waitTimeout: 60_000, timeout: 60_000, ...options });
  t.teardown(() => pool.close());
  return { pool, opened };
}

t.test('a statement that waits too long for a free connection fails, and the connection stays usable', async (t) => {
  const { pool, opened } = openPool(t);
  await pool.untilOpen(60_000);
  const clock = holdClock(t);
  const first = pool.run(async () => {
    // 60 seconds pass here, and the connection is free again before the pool's timer runs.
    clock.pass(60_000);
    return 'done';
  });
  const late = pool.runOnce(async () => 'too late');
  await t.rejects(late, { kind: 'unavailable', cause: { message: /are busy/ } });
  t.equal(await first, 'done');
  t.equal(await pool.run(async () => 'done'), 'done');
  t.equal(opened.length, 1);
});

t.test('a transaction may wait longer for a free connection than a single statement', async (t) => {
  const { pool } = openPool(t, { waitTimeout: 400, transactionWait: 700, timeout: 1000 });
  await pool.untilOpen(60_000);
  const clock = holdClock(t);
  const run = async () => 'done';
  for (const [waited, outcomes] of [
    [300, ['done', 'done']],
    [500, ['unavailable', 'done']],
    [800, ['unavailable', 'unavailable']],
  ] as const) {
    const first = pool.runOnce(async () => clock.pass(waited));
    const others = await Promise.allSettled([pool.runOnce(run), pool.runTransaction(run)]);
    t.equal(await first, undefined);
    t.strictSame(
      others.map((one) => (one.status === 'fulfilled' ? one.value : one.reason.kind)),
      outcomes,
    );
  }
});

t.test(
  'if a connection is lost, its task is repeated if that is safe; otherwise the outcome of the task is unknown',
  async (t) => {
    const { pool, opened } = openPool(t);
    let runs = 0;
    const lose = async (connection: PostgresConnection) => {
      if (++runs % 2 === 0) return 'done';
      connection.end();
      throw new Error('lost');
    };
    t.equal(await pool.run(lose), 'done');
    await t.rejects(pool.runOnce(lose), { kind: 'outcome_unknown', cause: { message: 'lost' } });
    t.equal(await pool.run(async () => 'again'), 'again');
    t.equal(opened.length, 3);
  },
);

t.test('a closing connection pool finishes the tasks that wait, and rejects new ones', async (t) => {
  const { pool } = openPool(t);
  const runs = [1, 2, 3].map((result) => pool.run(() => wait(5, result)));
  await pool.close();
  t.strictSame(await Promise.all(runs), [1, 2, 3]);
  await t.rejects(
    pool.run(async () => 4),
    { kind: 'unavailable', cause: { message: 'the store is closed' } },
  );
});

t.test('if some writes of a batch conflict with another program, the store repeats only these writes', async (t) => {
  const { pool } = openPool(t);
  await pool.untilOpen(60_000);
  const asked: string[][] = [];
  const conflict = new StoreUnavailable(
    Object.assign(new Error('deadlock detected'), { code: '40P01' }),
    'unavailable',
  );
  const writes = new ClientWrites(pool, 10, new StoreCounts());
  const write = writes.gatherWrites<string, string>(async (_connection, questions) => {
    asked.push(questions);
    return questions.map((question) => (question === 'b' && asked.length < 3 ? conflict : question));
  }, {});
  t.strictSame(await Promise.all(['a', 'b', 'c'].map(write)), ['a', 'b', 'c']);
  t.strictSame(asked, [['a', 'b', 'c'], ['b'], ['b']]);
});
