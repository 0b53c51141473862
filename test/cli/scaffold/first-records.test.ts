/** With `--assume`, the table of records that no operation creates begins with the contract's example. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import fc from 'fast-check';
import { stringify } from 'lossless-json';
import t, { type Test } from 'tap';
import ts from 'typescript';
import { writeCollections } from '../../../src/contract-first/cli/scaffold/collection-files.ts';
import { writeFirstRequest } from '../../../src/contract-first/cli/scaffold/first-create.ts';
import { writeTest } from '../../../src/contract-first/cli/scaffold/written-test.ts';
import { loadContract } from '../../../src/contract-first/contract/read/load-contract.ts';
import { ContractError } from '../../../src/contract-first/engine/contract/contract.ts';
import type { Json } from '../../any-json.ts';
import { HOSTILE, WORST } from '../generate/hostile-contract.ts';
import { books, json, none, path, query, record, reply, text } from './books-contract.ts';

async function write(t: Test, edit?: Parameters<typeof books>[0], isAssuming = true) {
  const file = join(t.testdir(), 'contract.json');
  writeFileSync(file, stringify(books(edit)) as string);
  const contract = await loadContract(file);
  const { collections, reasons } = writeCollections(contract, { isAssuming });
  const [first] = collections;
  const tests = collections.map((one) => writeTest(contract, one, collections));
  return { contract, collections, reasons, first, tests, rows: (name = 'books') => rowsOf(collections, name) };
}

type Collections = ReturnType<typeof writeCollections>['collections'];

/** Runs the SQLite migrations of all collections, and returns the rows of one table. */
function rowsOf(collections: Collections, table: string): unknown[] {
  const db = new Database(':memory:');
  for (const { files } of collections) for (const [file, sql] of files) if (file.includes('/sqlite/')) db.exec(sql);
  return db.prepare(`SELECT * FROM ${table}`).all();
}

const EXAMPLE = 'migrations/postgres/0002-example.sql';

/** Leaves only the operations that read, change and delete. */
const readOnly = ({ paths }: Json) => {
  delete paths['/books'].post;
};

t.test("if no operation creates a record, `new --assume` adds the contract's example to the table", async (t) => {
  const { first, rows, reasons, tests } = await write(t, ({ paths, book }) => {
    readOnly({ paths });
    Object.assign(book.properties, {
      title: { ...text, example: "A 'quoted' title" },
      price: { type: 'number', example: 1.5 },
      size: { type: 'integer', format: 'int32' },
      order: { type: ['string', 'null'], example: null },
      seen: { type: ['string', 'null'], example: null },
      tags: { type: 'array', items: text, example: ["a's"] },
      createdAt: { ...text, format: 'date-time', example: '2026-02-03T04:05:06+01:00' },
    });
    book.required.push('size', 'seen');
    delete book.properties.note;
  });
  t.strictSame([...reasons], []);
  t.equal(first?.createId, undefined);
  t.match(rows(), [
    {
      ...{ id: 1, title: "A 'quoted' title", state: 'new', views: 1, is_open: 1, tags: `["a's"]` },
      ...{ order_value: 'null', price: '1.5', size: 1, seen: null },
      ...{ created_at: '2026-02-03T03:05:06.000Z', revision: 1 },
    },
  ]);
  const sql = first?.files.get(`src/books/${EXAMPLE}`);
  t.match(sql, /^-- Assumed: the contract's example\. .*\nINSERT INTO books \(id, title, /);
  t.match(sql, `VALUES (1, 'A ''quoted'' title', 'new', 1, true, '["a''s"]', 'null', 1.5, `);
  t.strictSame(first?.assumed, [
    "books: the table begins with one record, the contract's example; no operation creates more",
  ]);
  for (const line of [
    "test('a record of books is found, listed, changed, replaced, and deleted', async (t) => {",
    'const record = { id: 1n };',
    'assert.equal(found.body?.id, record.id);',
    'assert.ok(listed.body?.items?.some((one) => one.id === record.id));',
  ])
    t.match(tests[0], line);
});

t.test('if no operation creates a record, `new` without `--assume` does not store the resource', async (t) => {
  const plain = await write(t, readOnly, false);
  t.equal(plain.collections.length, 0);
  t.equal(plain.reasons.get('getBook'), 'no operation creates its records');
  const unread = await write(t, ({ paths }) => {
    readOnly({ paths });
    delete paths['/books'].get;
    delete paths['/books/{bookId}'].get;
  });
  t.equal(unread.reasons.get('deleteBook'), 'no operation creates its records');
  const only = await write(t, ({ paths }) => {
    delete paths['/books'].get;
    for (const method of ['get', 'put', 'patch', 'delete']) delete paths['/books/{bookId}'][method];
    paths['/books'].post.requestBody = { content: { 'text/plain': { schema: text } } };
  });
  t.equal(only.reasons.get('createBook'), 'no resource is at its path');
});

t.test("if `new` cannot write a create handler, the table begins with the contract's example", async (t) => {
  const { contract, first, reasons } = await write(t, ({ paths }) => {
    paths['/books'].post.requestBody = { content: { 'text/plain': { schema: text } } };
  });
  t.strictSame([...reasons], [['createBook', 'its body is not JSON']]);
  t.strictSame([...(first?.handlers.keys() ?? [])].sort(), [
    ...['changeBook', 'deleteBook', 'getBook', 'listBooks', 'replaceBook'],
  ]);
  t.match(first?.assumed, [
    "books: the table begins with one record, the contract's example; createBook is not stored",
  ]);
  t.equal(writeFirstRequest(contract, [first as Collections[0]]), '');
});

t.test('the id of the first record that `new` adds to a table fits the parameter in the path', async (t) => {
  const idOf = async (field: Json, parameter: Json, isRequired = true) => {
    const { rows, collections } = await write(t, ({ paths, book }) => {
      readOnly({ paths });
      book.properties.id = field;
      if (!isRequired) book.required = book.required.filter((name: string) => name !== 'id');
      paths['/books/{bookId}'].parameters = [path('bookId', parameter)];
    });
    return collections.length === 0 ? undefined : (rows() as [{ id: unknown }])[0].id;
  };
  t.equal(await idOf({ ...text, example: 'own' }, text), 'own');
  t.equal(await idOf({ ...text, example: 'own' }, { ...text, enum: ['other'] }), 'other');
  t.equal(await idOf({ ...text, example: 'own' }, { ...text, pattern: '^(?!own)x$' }), 'own');
  t.equal(await idOf(text, { ...text, example: 'mine' }, false), 'string');
  t.equal(await idOf({ type: 'integer', example: 7 }, text), '7');
  t.equal(await idOf({ type: 'integer', format: 'int64', example: 7 }, { type: 'integer' }), 7);
  t.equal(await idOf({ type: 'integer', example: 7 }, { type: 'integer', format: 'int64', minimum: 10 }), '10');
  t.equal(await idOf({ ...text, pattern: '^(?!x)x$' }, text, false), undefined);
});

/** Reviews of a book, which are read only, and notes, which are created. */
const nested = ({ paths, schemas }: Json) => {
  const parameters = [path('bookId', { type: 'integer', format: 'int64' }), path('reviewId', text)];
  schemas.Review = { type: 'object', required: ['id'], properties: { id: text, stars: { type: 'integer' } } };
  const [get, deleted] = [reply(record('Review')), none];
  paths['/books/{bookId}/reviews'] = {
    parameters: parameters.slice(0, 1),
    get: { operationId: 'listReviews', responses: { 200: reply({ type: 'array', items: record('Review') }) } },
  };
  paths['/books/{bookId}/reviews/{reviewId}'] = {
    parameters,
    get: { operationId: 'getReview', responses: { 200: get } },
    delete: { operationId: 'deleteReview', responses: { 204: deleted } },
  };
};

t.test('the first child has the id of the first parent, but the path accepts any id of a parent', async (t) => {
  const { rows, tests, collections } = await write(t, ({ paths, schemas, book }) => {
    readOnly({ paths });
    nested({ paths, schemas });
    book.properties.id = { ...book.properties.id, example: 7 };
    schemas.Vote = { type: 'object', required: ['id'], properties: { id: text } };
    paths['/books/{bookId}/reviews/{reviewId}/votes/{voteId}'] = {
      parameters: [...paths['/books/{bookId}/reviews/{reviewId}'].parameters, path('voteId', text)],
      get: { operationId: 'getVote', responses: { 200: reply(record('Vote')) } },
    };
    schemas.Review.properties.id = { ...text, example: 'best' };
  });
  t.match(rows('reviews'), [{ id: 'best', stars: 1, book_id: 7 }]);
  t.match(rows('votes'), [{ id: 'string', book_id: 7, review_id: 'best' }]);
  t.match(tests[1], "const record = { id: 'best' };");
  t.match(tests[1], 'await client.getReview({ params: { bookId: 7n, reviewId: record.id } })');
  t.match(collections[1]?.assumed, ['reviews: any bookId in the path is accepted, and has its own records']);
  for (const { files } of collections) for (const [, content] of files) t.notMatch(content, /REFERENCES|of: '/);
});

t.test("a first record has the id of its parent's first record only if its own path allows this id", async (t) => {
  const { rows } = await write(t, ({ paths, schemas, book }) => {
    readOnly({ paths });
    nested({ paths, schemas });
    book.properties.id = { ...text, example: 'seven' };
    paths['/books/{bookId}'].parameters = [path('bookId', text)];
  });
  t.match(rows(), [{ id: 'seven' }]);
  t.match(rows('reviews'), [{ book_id: 1 }]);
});

t.test("if its parent has no first record, a first record has the parent's id from the path's example", async (t) => {
  const { rows, collections, tests } = await write(t, nested);
  t.match(rows('reviews'), [{ id: 'string', stars: 1, book_id: 1 }]);
  t.match(collections[1]?.assumed, [
    'reviews: any bookId in the path is accepted, and has its own records',
    "reviews: the table begins with one record, the contract's example; no operation creates more",
  ]);
  t.match(tests[1], 'await client.getReview({ params: { bookId: 1n, reviewId: record.id } })');
});

t.test('below a record that no operation creates, clients create records with any id in the path', async (t) => {
  const made = await write(t, ({ paths, schemas }) => {
    readOnly({ paths });
    nested({ paths, schemas });
    paths['/books/{bookId}/reviews'].post = {
      operationId: 'createReview',
      requestBody: { required: true, ...json({ type: 'object', properties: { stars: { type: 'integer' } } }) },
      responses: { 201: reply(record('Review')), default: reply(record('Failure')) },
    };
    schemas.Cover = { type: 'object', required: ['color'], properties: { color: text } };
    paths['/books/{bookId}/cover'] = {
      parameters: [path('bookId', { type: 'integer', format: 'int64' })],
      put: {
        operationId: 'putCover',
        requestBody: { required: true, ...json(record('Cover')) },
        responses: { 200: reply(record('Cover')), 201: reply(record('Cover')) },
      },
      get: {
        operationId: 'getCover',
        responses: { 200: reply(record('Cover')), default: reply(record('Failure')) },
      },
    };
  });
  const { contract, collections, tests, reasons, rows } = made;
  t.strictSame([...reasons], []);
  t.equal(rows().length, 1);
  t.equal(collections.length, 3);
  for (const child of collections.slice(1)) {
    t.match(child.assumed, [/^\w+: any bookId in the path is accepted, and has its own /]);
    t.strictSame(rows(child.plan.table), []);
    for (const [, content] of child.files) t.notMatch(content, /REFERENCES|of: '/);
    for (const [id, handler] of child.handlers) t.notMatch(handler, /books\.(get|read)/, id);
  }
  t.match(tests[1], 'const created = await client.createReview({ params: { bookId: 1n }');
  t.match(writeFirstRequest(contract, collections), '/books/');
});

t.test('if no example fits a field, or no database can store it, `new` does not store the resource', async (t) => {
  for (const field of [
    { ...text, pattern: '^(?!x)x$' },
    { ...text, example: 'a\0b' },
  ]) {
    const { collections, reasons } = await write(t, ({ paths, book }) => {
      readOnly({ paths });
      book.properties.title = field;
    });
    t.equal(collections.length, 0);
    t.equal(reasons.get('getBook'), 'no operation creates its records');
  }
});

t.test("`new` also adds the contract's example to a table that is only listed and has no GET by id", async (t) => {
  const { rows } = await write(t, ({ paths }) => {
    readOnly({ paths });
    paths['/books/{bookId}'] = {
      parameters: paths['/books/{bookId}'].parameters,
      post: paths['/books/{bookId}'].delete,
    };
  });
  t.equal(rows().length, 1);
});

t.test('if `new` cannot write a create below /shelves/{shelf}, the records need no shelf', async (t) => {
  const { rows, tests, first } = await write(t, ({ paths }) => {
    const { post } = paths['/books'];
    delete paths['/books'];
    post.requestBody = { content: { 'text/plain': { schema: text } } };
    paths['/shelves/{shelf}/books'] = { parameters: [path('shelf', text)], post };
  });
  t.equal(first?.plan.base, '/books');
  t.match(rows(), [{ id: 1 }]);
  t.match(tests[0], 'await client.getBook({ params: { bookId: record.id } })');
});

t.test("the first record has each time that the store sets, even if the contract's example lacks it", async (t) => {
  const { rows } = await write(t, ({ paths, book }) => {
    readOnly({ paths });
    book.required = ['id', 'revision'];
    book.example = { id: 3, revision: 5 };
  });
  t.match(rows(), [{ id: 3, title: null, created_at: '2026-01-01T00:00:00.000Z', revision: 1 }]);
});

t.test('`new` adds a first record even if the schema of the record contains itself', async (t) => {
  const { rows } = await write(t, ({ paths, book }) => {
    readOnly({ paths });
    book.properties.parts = { type: 'array', items: record('Book') };
  });
  t.equal(rows().length, 1);
});

t.test("hostile texts in a contract's example are values in the first record, never SQL or code", async (t) => {
  const check = async (texts: string[]) => {
    const [a = 'a', b = 'b', c = 'c'] = texts;
    const made = await write(t, ({ paths, book }) => {
      readOnly({ paths });
      book.properties.id = { ...text, example: a };
      paths['/books/{bookId}'].parameters = [path('bookId', { ...text, example: b })];
      paths['/books'].get.parameters.push(query(c, text));
      book.properties.title = { ...text, example: b };
      book.properties.tags = { type: 'array', items: text, example: [c, { [a]: b }] };
      Object.defineProperty(book.properties, c, { value: { ...text, example: a }, enumerable: true });
    }).catch((error) => {
      if (error instanceof ContractError) return undefined;
      throw error;
    });
    for (const { files } of made?.collections ?? []) {
      const [, statement = ''] = files.get(`src/books/${EXAMPLE}`)?.split(/^(?=INSERT )/m) ?? [];
      const rest = statement.replace(/'(?:[^']|'')*'/g, '?');
      t.match(rest, /^INSERT INTO books \([a-z0-9_, ]+\)\nVALUES \([?\w,. -]+\);\n$/);
    }
    if (made?.first) t.equal(made.rows().length, 1);
    for (const source of made?.tests ?? []) {
      const { parseDiagnostics }: Json = ts.createSourceFile('x.ts', source as string, ts.ScriptTarget.Latest);
      t.strictSame(parseDiagnostics, []);
    }
  };
  for (const [, worst] of WORST) await check([worst, worst, worst]);
  await fc.assert(fc.asyncProperty(fc.array(HOSTILE, { minLength: 3, maxLength: 3 }), check), { numRuns: 40, seed: 7 });
});
