import { setTimeout as wait } from 'node:timers/promises';
import t from 'tap';
import { Queue } from '../../src/contract-first/store/queue.ts';
import { holdClock } from '../held-clock.ts';

t.test('what is put back is the first again, and waits no longer than it may, whatever came meanwhile', async (t) => {
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
});

t.test('what several have taken stands in the order in which it came when it is put back', async (t) => {
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
