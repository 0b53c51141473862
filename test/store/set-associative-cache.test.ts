import t from 'tap';
import { buildSetAssociativeCache } from '../../src/contract-first/store/sqlite/set-associative-cache.ts';

const build = (maxSize = 100) => buildSetAssociativeCache<string>(maxSize, ({ length }) => length);

t.test('the cache returns the value that was last stored for an id', async (t) => {
  const cache = build();
  t.equal(cache.get(5n), undefined);
  cache.set(5n, 'Ada');
  cache.set(6n, 'Bob');
  cache.set(5n, 'Abe');
  t.strictSame([cache.get(5n), cache.get(6n)], ['Abe', 'Bob']);
});

t.test('the cache never returns the value of another id that uses the same two slots', async (t) => {
  const ids = [1n, 1n + 2n ** 16n, 1n + 2n ** 32n, 1n + 2n ** 53n, 1n + 2n ** 62n, 1n - 2n ** 16n, 1n - 2n ** 63n];
  const cache = build(1000);
  for (const [index, id] of ids.entries()) {
    cache.set(id, `Pet ${id}`);
    const held = ids.slice(Math.max(0, index - 1), index + 1);
    for (const other of ids) {
      t.equal(cache.get(other), held.includes(other) ? `Pet ${other}` : undefined, `${other} after ${id}`);
    }
  }
});

t.test('if a value for a cached id is stored again, the cache keeps the id in only one slot', async (t) => {
  const cache = build(10);
  const [one, two] = [1n, 1n + 2n ** 20n];
  for (const id of [one, two, one, one, two, two]) {
    cache.set(id, 'Ada');
    t.equal(cache.get(id), 'Ada');
  }
  t.equal(cache.get(one), 'Ada');
  cache.set(7n, 'Bob');
  t.strictSame([one, two, 7n].map(cache.get), ['Ada', 'Ada', 'Bob']);
});

t.test('the cache can hold every id of a long consecutive range at the same time', async (t) => {
  const cache = build(10_000);
  const ids = Array.from({ length: 100 }, (_, index) => 2n ** 32n - 50n + BigInt(index));
  for (const id of ids) cache.set(id, String(id));
  t.strictSame(ids.map(cache.get), ids.map(String));
});

t.test(
  'the cache never exceeds its limit of bytes, and does not count values that were replaced or deleted',
  async (t) => {
    const cache = build(10);
    const ids = Array.from({ length: 20 }, (_, index) => BigInt(index));
    const cached = () => ids.flatMap((id) => cache.get(id) ?? []);
    for (const id of ids) {
      cache.set(id, 'Ada');
      t.equal(cached().length, Math.min(Number(id) + 1, 3), `after ${id}`);
    }
    for (let count = 0; count < 5; count++) cache.set(19n, 'Eve');
    t.equal(cached().length, 3);
    cache.clear();
    t.strictSame(cached(), []);
    for (const id of [1n, 2n, 3n]) cache.set(id, 'Ada');
    t.strictSame(cached(), ['Ada', 'Ada', 'Ada']);
  },
);

t.test('the cache does not store a value that is larger than its limit of bytes', async (t) => {
  const cache = build(10);
  cache.set(1n, 'Ada');
  cache.set(2n, 'Bob, the cat of the house');
  t.equal(cache.get(2n), undefined);
  cache.set(3n, 'Cid');
  t.equal(cache.get(3n), 'Cid');
});
