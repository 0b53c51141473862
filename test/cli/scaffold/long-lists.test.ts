/** A list without pages returns all its records, or a 501 that gives the reason. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { stringify } from 'lossless-json';
import t from 'tap';
import { buildSandboxServer } from '../../../src/contract-first/cli/sandbox/first-request.ts';
import { loadAny, withoutKeys } from '../../../src/contract-first/cli/sandbox/load.ts';
import { withStored } from '../../../src/contract-first/cli/sandbox/stored-handlers.ts';
import { books, query, record, reply } from './books-contract.ts';

t.test(
  'if a list without pages has too many records, the handler that `new` writes answers 501 instead of sending some',
  async (t) => {
    const file = join(t.testdir(), 'contract.json');
    const contract = books(({ paths, book }) => {
      book.required.push('price');
      paths['/books'].post.requestBody.content['application/json'].schema = {
        type: 'object',
        required: ['title', 'price'],
        properties: { title: book.properties.title, price: book.properties.price },
      };
      paths['/books'].get.parameters = [query('minPrice', { type: 'number' })];
      const properties = { items: { type: 'array', items: record('Book') }, total: { type: 'integer' } };
      paths['/books'].get.responses[200] = reply({ type: 'object', required: ['items'], properties });
    });
    writeFileSync(file, stringify(contract) as string);
    const loaded = await loadAny(file);
    const [collection] = loaded.collections as [(typeof loaded.collections)[0]];
    const handler = collection.handlers.get('listBooks') ?? '';
    t.match(handler, 'books.list({ limit: 10000, skip: 0, count: true, price: { from: query.minPrice } })');
    t.match(collection.plan.unknown, [
      { id: 'listBooks', when: 'there are more than 10000 records: the contract has no pages' },
    ]);
    collection.handlers.set('listBooks', handler.replace('limit: 10000', 'limit: 2'));
    await withStored(loaded.collections, async ({ domain, handlers: stored }) => {
      const parts = { toErrorBody: loaded.toErrorBody, key: 'x', logLevel: 'silent', domain, stored } as const;
      const app = await buildSandboxServer(withoutKeys(loaded.contract), parts);
      t.teardown(() => app.close());
      const list = async (search = '') => (await app.inject(`/books${search}`)).json();
      for (const price of [1, 2, 3]) {
        const { statusCode } = await app.inject({ method: 'POST', url: '/books', payload: { title: 'Emma', price } });
        t.equal(statusCode, 201);
      }
      t.equal((await app.inject('/books')).statusCode, 501);
      t.match(await list(), { message: /^The list has more than 10000 records: it needs pages/ });
      t.match(await list('?minPrice=2'), { items: [{ price: 2 }, { price: 3 }], total: 2 });
    });
  },
);
