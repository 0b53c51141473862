import { setTimeout as wait } from 'node:timers/promises';
import t from 'tap';
import {
  buildLimiter,
  type Limiter,
  type Standing,
  toNetwork,
} from '../../../src/contract-first/engine/access/rate-limits.ts';
import { buildWindowCounter } from '../../../src/contract-first/store/rates.ts';
import type { WindowCounter } from '../../../src/contract-first/store/store.ts';
import { holdClock } from '../../held-clock.ts';
import { usedHeap } from '../../used-heap.ts';

const DAY = 86_400;

const check = (limiter: Limiter, limit: number, id = 'key', window = DAY) =>
  new Promise<Standing>((resolve) => limiter(id, { limit, window }, resolve));

const checkMany = (limiter: Limiter, count: number, limit: number) =>
  Promise.all(Array.from({ length: count }, () => check(limiter, limit)));

const passed = (standings: Standing[]) => standings.filter(({ isOver }) => !isOver).length;

t.test('the limiter admits as many requests as the rate limit allows, and reports how many remain', async (t) => {
  const limiter = buildLimiter(buildWindowCounter());
  for (const id of ['one', 'other']) {
    const standings: Standing[] = [];
    for (let count = 0; count < 6; count++) standings.push(await check(limiter, 4, id));
    t.strictSame(
      standings.map(({ isOver, left }) => [isOver, left]),
      [...[3, 2, 1, 0].map((left) => [false, left]), [true, 0], [true, 0]],
    );
    t.ok(standings.every(({ reset }) => Number.isInteger(reset) && reset >= 1 && reset <= DAY));
  }
});

t.test('when the window of a rate limit ends, the limiter counts the requests from zero again', async (t) => {
  const limiter = buildLimiter(buildWindowCounter());
  const clock = holdClock(t);
  // Waits for the start of a full second, because windows of one second begin there.
  clock.pass(1000 - (Date.now() % 1000));
  const countPassed = async () => {
    const standings: Standing[] = [];
    for (let count = 0; count < 5; count++) standings.push(await check(limiter, 3, 'key', 1));
    return passed(standings);
  };
  for (let second = 0; second < 3; second++) {
    t.equal(await countPassed(), 3);
    clock.pass(999);
    t.equal(await countPassed(), 0);
    clock.pass(1);
  }
});

t.test('if a rate limit is lowered within its window, the lower limit applies immediately', async (t) => {
  const limiter = buildLimiter(buildWindowCounter());
  t.equal(passed(await checkMany(limiter, 50, 200)), 50);
  t.equal(passed(await checkMany(limiter, 50, 10)) <= 2, true);
});

t.test(
  'processes that share a count through the store together admit exactly the rate limit, and rarely ask the store',
  async (t) => {
    const shared = buildWindowCounter();
    let questions = 0;
    const slow: WindowCounter = async (...ask) => {
      questions++;
      await wait(1);
      return shared(...ask);
    };
    const limiters = Array.from({ length: 4 }, () => buildLimiter(slow));
    const standings: Standing[] = [];
    for (let round = 0; round < 60; round++) {
      const ofRound = await Promise.all(limiters.map((limiter) => checkMany(limiter, 10, 1000)));
      standings.push(...ofRound.flat());
    }
    const count = passed(standings);
    t.ok(count <= 1000 && count > 900, `${count}`);
    t.ok(questions < 300, `${questions}`);
    const before = questions;
    for (const limiter of limiters) t.equal((await check(limiter, 1000)).isOver, true);
    t.equal(questions, before);
  },
);

t.test(
  'if requests arrive while the limiter waits for the store, its next call to the store decides about all of them',
  async (t) => {
    const shared = buildWindowCounter();
    const slow: WindowCounter = async (...ask) => {
      await wait(5);
      return shared(...ask);
    };
    const limiter = buildLimiter(slow);
    const first = checkMany(limiter, 3, 10);
    await wait(1);
    const standings = await Promise.all([first, checkMany(limiter, 9, 10)]);
    t.equal(passed(standings.flat()), 10);
  },
);

t.test(
  'for each key or address, the limiter has at most one call to the store in progress, even when a window ends',
  async (t) => {
    const clock = holdClock(t);
    const shared = buildWindowCounter();
    const [asking, twice]: [Set<string>, string[]] = [new Set(), []];
    const slow: WindowCounter = async (...ask) => {
      const [id] = ask;
      if (asking.has(id)) twice.push(id);
      asking.add(id);
      await wait(5);
      asking.delete(id);
      return shared(...ask);
    };
    const limiter = buildLimiter(slow);
    const answers: Promise<Standing>[] = [];
    for (const id of ['key Ada', 'token Ada', 'token Ada', 'key Ada']) {
      answers.push(check(limiter, 9, id, 1));
      clock.pass(1000);
    }
    t.equal(passed(await Promise.all(answers)), 4);
    t.strictSame(twice, []);
  },
);

t.test(
  'if the store that shares the request count fails or does not answer, each process counts only its own requests',
  async (t) => {
    const alive = setInterval(() => {}, 1000);
    t.teardown(() => clearInterval(alive));
    const broken: WindowCounter[] = [() => Promise.reject(new Error('away')), () => new Promise(() => {})];
    for (const countWindow of broken) {
      const limiter = buildLimiter(countWindow);
      t.equal(passed(await checkMany(limiter, 30, 20)), 20);
    }
  },
);

t.test('the limiter counts all IPv6 addresses of a /64 network as one, because one client may own them all', (t) => {
  for (const [ip, network] of [
    ['192.0.2.1', '192.0.2.1'],
    ['::ffff:192.0.2.1', '192.0.2.1'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2'],
    ['2001:db8:1:2::6', '2001:db8:1:2'],
    ['2001:db8::6', '2001:db8:0:0'],
    ['::1', '0:0:0:0'],
    ['fe80::1%lo', 'fe80:0:0:0'],
  ] as const) {
    t.equal(toNetwork(ip), network);
  }
  t.end();
});

t.test('the limiter keeps the request count of an API key while it counts requests of 104,000 addresses', async (t) => {
  const countWindow = buildWindowCounter();
  const limiter = buildLimiter(countWindow);
  for (let count = 0; count < 5; count++) t.notOk((await check(limiter, 5, 'key Ada')).isOver);
  for (let count = 0; count < 104_000; count++) await check(limiter, 9, `address ${count}`);
  t.ok((await check(limiter, 5, 'key Ada')).isOver);
  t.strictSame((await countWindow('key Ada', DAY, 0)).total, 5);
});

t.test(
  'the limiter forgets a token or an address when its window ends, and a long id takes no more memory than a short one',
  (t) => {
    const clock = holdClock(t);
    clock.pass(1000 - (Date.now() % 1000));
    const limiter = buildLimiter(buildWindowCounter());
    const before = usedHeap();
    /** Counts requests of this many ids. Returns how much more memory is used than at the start, in bytes. */
    const count = (many: number, prefix: string) => {
      for (let number = 0; number < many; number++) limiter(`${prefix}${number}`, { limit: 9, window: 1 }, () => {});
      return usedHeap() - before;
    };
    const first = count(40_000, 'token 0 ');
    for (let second = 1; second < 6; second++) {
      clock.pass(1000);
      const used = count(40_000, `token ${second} `);
      t.ok(used < 1.5 * first, `${used} bytes, and ${first} at first`);
    }
    clock.pass(1000);
    const long = count(20_000, `token ${'x'.repeat(8000)}`);
    t.ok(long < 50e6, `${long} bytes for 160 MB of ids`);
    t.end();
  },
);
