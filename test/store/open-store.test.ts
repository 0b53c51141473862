import { existsSync } from 'node:fs';
import { relative } from 'node:path';
import t, { type Test } from 'tap';
import { toPlainCodec } from '../../src/contract-first/store/tables/record-codec.ts';
import type { Table } from '../../src/contract-first/store/tables/table.ts';
import { listPets, openUrl } from '../database.ts';

async function openAndClose(t: Test, url: string): Promise<void> {
  const store = openUrl(url);
  await t.resolves(async () => store.check(), url);
  await store.close();
}

t.test(
  'the path of a SQLite file in DATABASE_URL may be absolute or relative, with or without slashes before it',
  async (t) => {
    const folder = t.testdir();
    const urls = [
      `sqlite:${folder}/1.db`,
      `sqlite://${folder}/2.db`,
      `sqlite:${relative('.', folder)}/3.db`,
      `sqlite:./${relative('.', folder)}/4.db`,
      `sqlite:${folder}/Größe #5 50%.db`,
    ];
    for (const url of urls) await openAndClose(t, url);
    for (const name of ['1.db', '2.db', '3.db', '4.db', 'Größe #5 50%.db']) t.ok(existsSync(`${folder}/${name}`), name);
  },
);

t.test('a database in memory creates no file, and is not shared with another store', async (t) => {
  const one = openUrl('sqlite::memory:');
  const other = openUrl('sqlite::memory:');
  t.teardown(() => [one.close(), other.close()]);
  await one.records.create({ name: 'Rex', categoryId: 7n });
  t.equal((await listPets(other, { limit: 1 })).body.text, '[]');
  t.notOk(existsSync(':memory:'));
});

t.test('if a contract does not describe a record, its numbers have the types of their columns', async (t) => {
  const fields = [
    { name: 'count', type: 'int64' },
    { name: 'price', type: 'number' },
  ];
  const { read } = toPlainCodec({ fields, internal: [], collection: 'parts' } as unknown as Table);
  const large = { __proto__: null, count: 1n, price: 1e20 };
  t.strictSame(read('{"count":1,"price":100000000000000000000}'), large);
  t.strictSame(read('{"count":9007199254740993,"price":0.5}'), {
    __proto__: null,
    count: 9007199254740993n,
    price: 0.5,
  });
  t.strictSame(read('{"price":1}'), { __proto__: null, price: 1 });
});
