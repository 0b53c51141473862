import t from 'tap';
import { toPlainShape } from '../../src/contract-first/store/shape.ts';
import type { Table } from '../../src/contract-first/store/table.ts';

t.test('a record that is read without a contract has its numbers as its columns say', async (t) => {
  const fields = [
    { name: 'count', type: 'int64' },
    { name: 'price', type: 'number' },
  ];
  const { read } = toPlainShape({ fields, collection: 'parts' } as unknown as Table);
  const large = { __proto__: null, count: 1n, price: 1e20 };
  t.strictSame(read('{"count":1,"price":100000000000000000000}'), large);
  t.strictSame(read('{"count":9007199254740993,"price":0.5}'), {
    __proto__: null,
    count: 9007199254740993n,
    price: 0.5,
  });
  t.strictSame(read('{"price":1}'), { __proto__: null, price: 1 });
});
