import { setImmediate as nextTurn, setTimeout as wait } from 'node:timers/promises';
import t from 'tap';
import { Queue } from '../../src/contract-first/store/changes/queue.ts';
import { type BatchOptions, BatchQueue } from '../../src/contract-first/store/sqlite/batch-queue.ts';
import { StoreCounts } from '../../src/contract-first/store/store.ts';
import { holdClock } from '../held-clock.ts';

/** Opens a queue of numbers. Its writer keeps each batch until the test calls `end`, `fail` or `blame`. */
function openQueue(options: Partial<BatchOptions<number, string>> = {}) {
  const batches: number[][] = [];
  const counts = new StoreCounts();
  const post = (batch: number[]) => {
    batches.push(batch);
  };
  const queue = new BatchQueue<number, string>({
    post,
    isWritten: (_item, result) => result !== 'refused',
    maxWaiting: 8,
    timeout: 60_000,
    checkTimeout: 60_000,
    counts,
    ...options,
  });
  /** Resolves with the next batch that the queue hands to the writer. */
  async function next(): Promise<number[]> {
    const { length } = batches;
    while (batches.length === length) await nextTurn();
    return batches.at(-1) as number[];
  }
  return { queue, batches, next, counts };
}

const toTexts = (items: number[]) => items.map(String);

/** Returns the outcome of each promise: its result, the kind of its outage, or the message of its error. */
async function outcomesOf(all: Promise<string>[]): Promise<unknown[]> {
  const results = await Promise.allSettled(all);
  return results.map((result) =>
    result.status === 'fulfilled' ? result.value : (result.reason.kind ?? result.reason.message),
  );
}

t.test(
  'writes that arrive in the same turn of the event loop or during the same running batch are put into one batch',
  async (t) => {
    const { queue, next, counts } = openQueue();
    const first = [queue.add(1), queue.add(2)];
    t.strictSame(await next(), [1, 2]);
    const second = [queue.add(3)];
    await nextTurn();
    second.push(queue.add(4));
    const handed = next();
    queue.end(toTexts);
    t.strictSame(await handed, [3, 4]);
    queue.end(toTexts);
    t.strictSame(await outcomesOf([...first, ...second]), ['1', '2', '3', '4']);
    t.match(counts.latest, { size: 2 });
  },
);

t.test(
  'a write that times out in the queue is not made; a write that times out in the database has an unknown outcome',
  async (t) => {
    const { queue, next } = openQueue({ timeout: 200 });
    const clock = holdClock(t);
    const handed = queue.add(1);
    await next();
    const outcomes = outcomesOf([handed, queue.add(2)]);
    clock.pass(201);
    t.strictSame(await outcomes, ['outcome_unknown', 'unavailable']);
    t.strictSame(await outcomesOf([queue.add(3)]), ['overloaded']);
    queue.end(toTexts);
    const again = queue.add(4);
    t.strictSame(await next(), [4]);
    queue.end(toTexts);
    t.equal(await again, '4');
  },
);

t.test(
  'after a successful batch, health checks pass for a while without a test write, until an outage begins',
  async (t) => {
    const { queue, next, batches } = openQueue();
    const checked = queue.check();
    t.strictSame(await next(), []);
    queue.end(toTexts);
    await checked;
    await queue.check();
    t.equal(batches.length, 1, 'the second health check made no test write');
    for (const [isWritable, proofs] of [
      [true, 0],
      [false, 1],
    ] as const) {
      const failed = outcomesOf([queue.add(1)]);
      await next();
      queue.fail(new Error('out'), 'unavailable', isWritable);
      t.strictSame(await failed, ['unavailable']);
      const { length } = batches;
      const again = queue.check();
      for (let turn = 0; turn < 5; turn++) await nextTurn();
      t.equal(batches.length - length, proofs);
      if (proofs > 0) queue.end(toTexts);
      await again;
    }
  },
);

t.test('after a batch in which every write failed, the next health check makes a test write', async (t) => {
  const { queue, next } = openQueue();
  const refused = outcomesOf([queue.add(1), queue.add(2)]);
  await next();
  queue.end((items) => items.map(() => new Error('bad')));
  t.strictSame(await refused, ['bad', 'bad']);
  const checked = queue.check();
  t.strictSame(await next(), []);
  queue.end(toTexts);
  await checked;
});

t.test(
  'a waiting health check passes only after a successful write; the next batch is a test write, before other writes',
  async (t) => {
    const { queue, next, batches } = openQueue();
    const done: string[] = [];
    const refuse = (items: number[]) => items.map(() => 'refused');
    const first = queue.add(1);
    await next();
    const checked = queue.check().then(() => done.push('checked'));
    const second = queue.add(2);
    const proof = next();
    queue.end(refuse);
    t.equal(await first, 'refused');
    t.strictSame(await proof, [], 'the test write comes before the waiting writes');
    t.strictSame(done, []);
    const handed = next();
    queue.end(toTexts);
    await checked;
    t.strictSame(await handed, [2]);
    queue.end(refuse);
    t.equal(await second, 'refused');
    await queue.check();
    t.equal(batches.length, 3, 'an earlier successful write is still enough');
  },
);

t.test('a failed write does not let a waiting health check pass; the next batch is a test write', async (t) => {
  const { queue, next } = openQueue();
  const failed = t.rejects(queue.add(1), { message: 'bad' });
  await next();
  const checked = queue.check();
  const waits = queue.add(2);
  const proof = next();
  queue.blame(new Error('bad'));
  await failed;
  t.strictSame(await proof, []);
  const handed = next();
  queue.end(toTexts);
  await checked;
  t.strictSame(await handed, [2]);
  queue.end(toTexts);
  t.equal(await waits, '2');
});

t.test(
  'a health check fails after its timeout, or immediately if the running batch has already taken that long',
  async (t) => {
    const { queue, next } = openQueue({ checkTimeout: 100 });
    const clock = holdClock(t);
    const write = queue.add(1);
    await next();
    const late = { kind: 'unavailable', cause: { message: /not answered in time/ } };
    const checked = t.rejects(queue.check(), late);
    clock.pass(101);
    await checked;
    // The clock stands still, so this check cannot time out later: it fails immediately or never.
    await t.rejects(queue.check(), late);
    queue.end(toTexts);
    await write;
  },
);

t.test(
  'a write that is put back into the queue is the first again, and its timeout counts from its first arrival',
  async (t) => {
    const queue = new Queue<string>(400, () => new Error('late'));
    const clock = holdClock(t);
    const first = queue.add('first');
    const taken = queue.take();
    clock.pass(200);
    const second = queue.add('second');
    queue.putBack(taken);
    clock.pass(200);
    await t.rejects(first, { message: 'late' });
    t.equal(queue.length, 1, 'the second still waits');
    for (const { item, resolve } of queue.take()) resolve(item);
    t.equal(await second, 'second');
  },
);

t.test('writes that are put back into the queue after two batches have their original order', async (t) => {
  const queue = new Queue<string>(60_000, () => new Error('late'));
  const all = [queue.add('a'), queue.add('b')];
  const [a, b] = queue.take();
  await wait(2);
  all.push(queue.add('c'));
  if (a && b) {
    queue.putBack([a]);
    queue.putBack([b]);
  }
  const taken = queue.take();
  t.strictSame(
    taken.map(({ item }) => item),
    ['a', 'b', 'c'],
  );
  for (const { item, resolve } of taken) resolve(item);
  t.strictSame(await Promise.all(all), ['a', 'b', 'c']);
});
