/**
 * `new` finds the record in unusual replies: a list with one record, a single alternative, an object without fields.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { stringify } from 'lossless-json';
import t, { type Test } from 'tap';
import { type WrittenCollection, writeCollections } from '../../../src/contract-first/cli/scaffold/collection-files.ts';
import { writeTest } from '../../../src/contract-first/cli/scaffold/written-test.ts';
import { loadContract } from '../../../src/contract-first/contract/read/load-contract.ts';
import { books, none, record, reply, text } from './books-contract.ts';

async function write(t: Test, edit?: Parameters<typeof books>[0], isAssuming = false) {
  const file = join(t.testdir(), 'contract.json');
  writeFileSync(file, stringify(books(edit)) as string);
  const contract = await loadContract(file);
  const { collections, reasons } = writeCollections(contract, { isAssuming });
  const [{ handlers } = { handlers: new Map<string, string>() }] = collections;
  const test = () => writeTest(contract, collections[0] as WrittenCollection, collections);
  return { collections, reasons, handlers, test };
}

const list = { type: 'array', items: record('Book') };

t.test('`new` writes handlers for replies that send a single record as a list', async (t) => {
  const { handlers, test } = await write(t, ({ paths }) => {
    paths['/books'].post.responses[201] = reply(list);
    const { get, patch } = paths['/books/{bookId}'];
    get.responses[200] = reply({ type: 'object', properties: { data: list } });
    patch.responses[200] = reply(list);
  });
  t.match(handlers.get('createBook'), 'return { status: 201, body: [book] };');
  t.match(handlers.get('getBook'), 'return { status: 200, body: { data: [book] } };');
  t.match(handlers.get('changeBook'), 'return { status: 200, body: [book] };');
  const written = test();
  t.match(written, 'const record = created.body?.[0];');
  t.match(written, 'assert.deepEqual(found.body?.data?.[0], record);');
  t.match(written, 'listed.body?.items?.some((one)');
});

t.test('`new` writes no handler for a GET that may return several records for one path parameter', async (t) => {
  const { reasons } = await write(t, ({ paths }) => {
    delete paths['/books'];
    paths['/books/{bookId}'].get.responses[200] = reply(list);
  });
  t.equal(reasons.get('getBook'), 'its reply is not a Book');
});

t.test(
  '`new` writes no handler for a GET whose success has no content, and still tests the other handlers',
  async (t) => {
    const { reasons, handlers, test } = await write(t, ({ paths }) => {
      paths['/books/{bookId}'].get.responses[200] = none;
    });
    t.equal(reasons.get('getBook'), 'its reply is not a Book');
    t.notOk(handlers.has('getBook'));
    t.match(test(), 'client.createBook(');
  },
);

t.test('`new` treats a oneOf with one schema, or a schema or null, like the schema itself', async (t) => {
  const { handlers, reasons } = await write(t, ({ paths }) => {
    const only = { oneOf: [record('Book')] };
    const data = { anyOf: [record('Book'), { type: 'null' }] };
    const { get, put } = paths['/books/{bookId}'];
    get.responses[200] = reply({ oneOf: [{ type: 'object', required: ['data'], properties: { data } }] });
    put.responses[200] = reply({ oneOf: [record('Book'), record('Failure')] });
    paths['/books'].get.responses[200] = reply({ type: ['array', 'null'], items: only });
  });
  t.match(handlers.get('getBook'), 'return { status: 200, body: { data: book } };');
  t.match(handlers.get('listBooks'), 'return { status: 200, body: page.body };');
  t.equal(reasons.get('replaceBook'), 'its reply is not a Book');
});

t.test(
  'a handler that `new` writes for a change can answer with an empty object, or with the id under another name',
  async (t) => {
    const int64 = { type: 'integer', format: 'int64' };
    const many = Object.fromEntries(['a', 'b', 'c', 'd', 'e', 'f'].map((name) => [name, text]));
    const other = await write(t, ({ paths }) => {
      paths['/books'].post.responses[201] = reply({ type: 'object', properties: { bookId: int64, ...many } });
    });
    t.equal(other.reasons.get('createBook'), 'its reply is not a Book');
    const { handlers } = await write(t, ({ paths }) => {
      const { patch, put, delete: remove } = paths['/books/{bookId}'];
      patch.responses[200] = reply({ type: 'object' });
      put.responses[200] = reply({ description: 'Anything.' });
      remove.responses = {
        200: reply({ type: 'object', required: ['book_id'], properties: { book_id: int64, ...many } }),
      };
      paths['/books'].post.responses[201] = reply({ type: 'object', properties: { bookId: int64 } });
    });
    t.match(handlers.get('changeBook'), 'return { status: 200, body: {} };');
    t.match(handlers.get('replaceBook'), 'return { status: 200, body: {} };');
    t.match(handlers.get('deleteBook'), 'body: { book_id: book.id }');
    t.match(handlers.get('createBook'), 'body: { bookId: book.id }');
  },
);

t.test('`new` names a resource after as few of the last segments of its path as are unique', async (t) => {
  const { collections } = await write(t, ({ paths }) => {
    const copy = (start: string) => {
      for (const [path, item] of Object.entries(structuredClone(paths)).slice(0, 2)) {
        for (const operation of Object.values(item as object))
          if (operation.operationId) operation.operationId += start.replaceAll('/', '');
        paths[start + path] = item;
      }
    };
    for (const start of ['/v2/my', '/v3/my', '/my']) copy(start);
  });
  t.strictSame(
    collections.map(({ name, plan }) => [name, plan.path]),
    [
      ['books', '/books/{bookId}'],
      ['myBooks', '/my/books/{bookId}'],
      ['v2MyBooks', '/v2/my/books/{bookId}'],
      ['v3MyBooks', '/v3/my/books/{bookId}'],
    ],
  );
});

t.test(
  '`new` sends the default of a field around the records, because the type of the reply requires it',
  async (t) => {
    const { handlers } = await write(t, ({ paths }) => {
      const int64 = { type: 'integer', format: 'int64', default: 7 };
      const properties = { kind: { ...text, default: 'books#list' }, left: int64, books: list, header: text };
      paths['/books'].get.responses[200] = reply({ type: 'object', properties });
    });
    t.match(handlers.get('listBooks'), "body: { kind: 'books#list', left: 7n, books: page.body.read() }");
  },
);
