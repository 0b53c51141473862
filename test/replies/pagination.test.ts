import fc from 'fast-check';
import t from 'tap';
import { fromCursor, nextLink, toCursor } from '../../src/replies/pagination.ts';

const ids = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n });

t.test('a cursor gives back its id, for its own filter only', async () => {
  fc.assert(
    fc.property(ids, fc.string(), fc.string(), (id, filter, other) => {
      const cursor = toCursor(id, filter);
      return fromCursor(cursor, filter) === id && (filter === other || fromCursor(cursor, other) === undefined);
    }),
  );
});

t.test('a cursor that no list gave out is refused', async (t) => {
  fc.assert(
    fc.property(fc.string(), (text) => fromCursor(text) === undefined || toCursor(fromCursor(text) as bigint) === text),
  );
  for (const cursor of ['', '1', 'AAAA', `${toCursor(5n)}=`, toCursor(2n ** 63n)])
    t.equal(fromCursor(cursor), undefined);
});

t.test('a page has one link to the next page, which is made once', async (t) => {
  const [first, second] = [{}, {}];
  let made = 0;
  const toUrl = () => `/v1/pets?page=${++made}`;
  t.equal(nextLink(first, toUrl), '</v1/pets?page=1>; rel="next"');
  t.equal(nextLink(second, toUrl), '</v1/pets?page=2>; rel="next"');
  t.equal(nextLink(first, toUrl), '</v1/pets?page=1>; rel="next"');
});
