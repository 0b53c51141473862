import fc from 'fast-check';
import t from 'tap';
import { fromCursor, toCursor } from '../../src/contract-first/store/lists.ts';

const ids = fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n });
const values = fc.array(fc.option(fc.oneof(fc.string(), ids, fc.boolean()), { nil: undefined }), {
  minLength: 2,
  maxLength: 2,
});

t.test('a cursor gives back its id, for its own filters only', async () => {
  fc.assert(
    fc.property(ids, values, values, (id, own, other) => {
      const cursor = toCursor(id, own);
      const isSame = own.every((value, index) => String(value) === String(other[index]));
      return fromCursor(cursor, own) === id && (isSame || fromCursor(cursor, other) === undefined);
    }),
    { seed: 1 },
  );
});

t.test('a filter that is added at the end leaves the cursors that were given out valid', async () => {
  fc.assert(
    fc.property(ids, values, (id, own) => fromCursor(toCursor(id, own), [...own, undefined]) === id),
    { seed: 1 },
  );
});

t.test('a cursor that no list gave out is refused', async (t) => {
  fc.assert(
    fc.property(fc.string(), (text) => {
      const id = fromCursor(text, []);
      return id === undefined || toCursor(id) === text;
    }),
    { seed: 1 },
  );
  for (const cursor of ['', '1', 'AAAA', `${toCursor(5n)}=`, toCursor(2n ** 63n)])
    t.equal(fromCursor(cursor, []), undefined);
});
