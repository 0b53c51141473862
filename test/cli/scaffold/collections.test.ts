/** `new` writes collections for the resources of a contract, and gives a reason for those that it does not store. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { stringify } from 'lossless-json';
import t, { type Test } from 'tap';
import ts from 'typescript';
import { writeCollections } from '../../../src/contract-first/cli/scaffold/collection-files.ts';
import { loadContract } from '../../../src/contract-first/contract/read/load-contract.ts';
import { ContractError } from '../../../src/contract-first/engine/contract/contract.ts';
import type { Json } from '../../any-json.ts';
import { HOSTILE, WORST } from '../generate/hostile-contract.ts';
import { books, json, none, path, query, record, reply, text } from './books-contract.ts';

async function load(t: Test, contract: Json) {
  const file = join(t.testdir(), 'contract.json');
  writeFileSync(file, stringify(contract) as string);
  return loadContract(file);
}

const written = async (t: Test, contract: Json, isAssuming = false) =>
  writeCollections(await load(t, contract), { isAssuming });

t.test('for a resource, `new` writes a domain.ts, migrations, and a handler for each operation', async (t) => {
  const { collections, reasons } = await written(t, books());
  t.strictSame([collections.length, [...reasons]], [1, []]);
  const { files, handlers, assumed } = collections[0] as (typeof collections)[0];
  const domain = files.get('src/books/domain.ts');
  for (const line of [
    "id: { type: 'int64', set: 'id' }",
    "createdAt: { type: 'time', set: 'created' }",
    "revision: { type: 'int64', set: 'revision' }",
    "views: { type: 'int64', first: 0n }",
    "order: { column: 'order_value', type: 'json', isOptional: true, isNullable: true }",
  ])
    t.match(domain, line);
  t.match(files.get('src/books/migrations/sqlite/0001-books.sql'), /^CREATE TABLE books \(\n/);
  t.match(files.get('src/books/migrations/postgres/0001-books.sql'), /^CREATE TABLE books \(\n/);
  t.match(assumed, ['books: state is "new" when a record is created', 'books: views is 0 when a record is created']);
  t.match(handlers.get('createBook'), "headers: { Location: urlOf('getBook', { bookId: book.id }) }");
  t.match(handlers.get('listBooks'), "if (query.sort !== undefined) throw new HttpError('not_implemented'");
  for (const [id, handler] of handlers) t.ok(handler.split('\n').length <= 18, id);
});

t.test('`new` gives each column the type and the default of its field in the contract', async (t) => {
  const { collections } = await written(
    t,
    books(({ book, body }) => {
      const int32 = { type: 'integer', format: 'int32' };
      Object.assign(book.properties, { 'a-b': text, a_b: text, any: {}, needed: {}, size: int32 });
      Object.assign(book.properties, { choice: { oneOf: [text, int32] }, seen: { type: 'number' }, likes: int32 });
      Object.assign(book.properties, { shelf: { ...text, default: 'a' }, ended: { type: ['string', 'null'] } });
      Object.assign(body.properties, { shelf: text, isOpen: { type: 'boolean' }, id: book.properties.id });
      book.properties.title = { ...text, default: '' };
      body.properties.state = { ...book.properties.state, default: 'old' };
      book.required.push('ended', 'likes', 'needed');
      delete body.required;
    }, 'params'),
  );
  const domain = collections[0]?.files.get('src/paramsRecords/domain.ts');
  for (const line of [
    "'a-b': { column: 'a_b', type: 'text', isOptional: true }",
    "a_b: { column: 'a_b_2', type: 'text', isOptional: true }",
    "any: { column: 'any_value', type: 'json', isOptional: true, isNullable: true }",
    "needed: { type: 'json', first: null, isNullable: true }",
    "size: { type: 'int32', isOptional: true }",
    "choice: { type: 'json', isOptional: true }",
    "shelf: { type: 'text', first: 'a' }",
    "ended: { type: 'text', first: null, isNullable: true }",
    "likes: { type: 'int32', first: 0 }",
    "isOpen: { type: 'boolean', first: false }",
  ])
    t.match(domain, line);
});

t.test('the handlers that `new` writes send pages, ids and envelopes as the contract declares them', async (t) => {
  const int32 = { type: 'integer', format: 'int32' };
  const int64 = { type: 'integer', format: 'int64' };
  const list = (parameters: Json[], schema: Json) => ({
    operationId: 'listBooks',
    parameters,
    responses: { 200: reply(schema) },
  });
  const all = { type: 'array', items: record('Book') };
  const inData = (one: Json) => ({ type: 'object', properties: { data: one } });
  const CASES: [id: string, lines: string[], edit: Parameters<typeof books>[0]][] = [
    [
      'listBooks',
      ['books.list({ limit: 10000, state: query.state })', 'body: page.body }'],
      ({ paths }) => {
        paths['/books'].get = list(
          [query('state', { enum: ['new'], type: 'string' }), query('title', text), query('isOpen', text)],
          all,
        );
      },
    ],
    [
      'listBooks',
      ['limit: Number(query.size ?? 20)', 'skip: query.offset ?? 0', 'body: page.body }'],
      ({ paths }) => {
        paths['/books'].get = list(
          [query('size', int64), query('offset', int32), query('isOpen', { type: 'boolean' })],
          all,
        );
      },
    ],
    [
      'listBooks',
      ['after: query.cursor', 'if (!page) throw new HttpError', 'nextCursor: page.next'],
      ({ paths }) => {
        paths['/books'].get = list([query('cursor', text)], {
          type: 'object',
          properties: { data: all, nextCursor: text },
        });
      },
    ],
    [
      'listBooks',
      ['...(page.next !== undefined && { next: page.next })'],
      ({ paths }) => {
        paths['/books'].get = list([query('from-here', { ...text, maxLength: 9 }, { 'x-opaque': true })], all);
      },
    ],
    [
      'listBooks',
      ['skip: (query.pageIndex ?? 0) * 20', 'page.next !== undefined', 'offset'],
      ({ paths }) => {
        paths['/books'].get = list([query('pageIndex', int32), query('offset-by', int32)], {
          type: 'object',
          properties: { data: all, hasNext: { type: 'boolean' }, total: int64, count: text },
        });
      },
    ],
    [
      'listBooks',
      ['offset: query.offset ?? 0', 'count: true'],
      ({ paths }) => {
        paths['/books'].get = list([query('offset', int32)], {
          type: 'object',
          required: ['offset', 'total'],
          properties: { data: all, offset: int32, total: int32 },
        });
      },
    ],
    ['getBook', ["return answer(200, await books.get(params.bookId), { absent: 'not_found' });"], () => {}],
    ['deleteBook', ["return answer(204, await books.delete(params.bookId), { absent: 'not_found' });"], () => {}],
    [
      'getBook',
      ["if (book === undefined) throw new HttpError('not_found', 'There is no book with this id.');"],
      ({ paths }) => {
        for (const status of ['404', 'default']) delete paths['/books/{bookId}'].get.responses[status];
      },
    ],
    [
      'deleteBook',
      ["if (!(await books.delete(params.bookId))) throw new HttpError('not_found'", 'return { status: 204 };'],
      ({ paths }) => {
        paths['/books/{bookId}'].delete.responses = { 204: none };
      },
    ],
    [
      'getBook',
      ['await books.read(params.bookId)', 'data: book'],
      ({ paths }) => {
        paths['/books/{bookId}'].get.responses[200] = reply(inData(record('Book')));
      },
    ],
    [
      'getBook',
      ['BigInt(params.bookId)'],
      ({ paths }) => {
        paths['/books/{bookId}'].parameters[0].schema = { type: 'integer' };
      },
    ],
    [
      'getBook',
      ['params.book_id'],
      ({ paths }) => {
        paths['/books/{book-id}'] = paths['/books/{bookId}'];
        delete paths['/books/{bookId}'];
        paths['/books/{book-id}'].parameters[0].name = 'book-id';
      },
    ],
    [
      'deleteBook',
      ['await books.read(params.bookId)', '!(await books.delete(params.bookId))'],
      ({ paths }) => {
        paths['/books/{bookId}'].delete.responses = { 200: reply(record('Book')) };
      },
    ],
    [
      'createBook',
      ['BigInt(randomInt(1, 2 ** 47))', 'isRefused(book)'],
      ({ body }) => {
        body.properties.id = int64;
      },
    ],
    [
      'createBook',
      ['body.id ?? randomInt(1, 2 ** 31)'],
      ({ book, body, paths }) => {
        body.properties.id = book.properties.id = { type: 'integer' };
        paths['/books/{bookId}'].parameters[0].schema = { type: 'integer' };
      },
    ],
    [
      'createBook',
      ['body.id ?? randomUUID()'],
      ({ book, body, paths }) => {
        const uuid = { ...text, format: 'uuid' };
        body.properties.id = book.properties.id = uuid;
        paths['/books/{bookId}'].parameters[0].schema = uuid;
      },
    ],
    [
      'createBook',
      ['contentType !==', 'if (body === undefined)', '{ idempotency }'],
      ({ paths }) => {
        const { post } = paths['/books'];
        post.requestBody.content['application/vnd.x+json'] = { schema: record('NewBook') };
        delete post.requestBody.required;
        post.parameters = [
          { name: 'Idempotency-Key', in: 'header', schema: text },
          { name: 'X-Shelf', in: 'header', schema: { ...text, default: 'a' } },
        ];
      },
    ],
    [
      'replaceBook',
      ['{ ...body, id: params.bookId }', 'body.id !== params.bookId'],
      ({ body }) => {
        body.properties.id = int64;
        body.required.push('id');
      },
    ],
    [
      'replaceBook',
      ['await books.replace(body.id,', 'body.id === undefined'],
      ({ paths, book, body }) => {
        body.properties.id = book.properties.id;
        const { put } = paths['/books/{bookId}'];
        paths['/books'].put = put;
        delete paths['/books/{bookId}'].put;
      },
    ],
    [
      'replaceBook',
      ['await books.replace(params.bookId, { ...body, id: params.bookId })'],
      ({ paths, body, schemas }) => {
        body.properties.id = int64;
        schemas.OtherBook = { ...body, properties: { title: text, note: text, price: { type: 'number' } } };
        paths['/books/{bookId}'].put.requestBody = { required: true, ...json(record('OtherBook')) };
      },
    ],
    [
      'createBook',
      ['{ ...body, id: randomInt(1, 2 ** 31) }'],
      ({ book, paths }) => {
        book.properties.id = { type: 'integer' };
        delete paths['/books'].post.responses[201].headers;
        paths['/books/{bookId}'].parameters[0].schema = { type: 'integer' };
      },
    ],
    [
      'createBook',
      ["urlOf('getBook', { bookId: book['book-id'] })"],
      ({ book }) => {
        const { id, ...others } = book.properties;
        book.properties = { 'book-id': id, ...others };
        book.required[0] = 'book-id';
      },
    ],
    [
      'createBook',
      ['{ status: 201, body: book }'],
      ({ paths }) => {
        delete paths['/books/{bookId}'].get;
      },
    ],
    [
      'createBook',
      ['isRefused(book)'],
      ({ book, body, paths }) => {
        const { id: _, ...others } = book.properties;
        book.properties = { slug: { ...text, pattern: '^[a-z]+$' }, ...others };
        book.required[0] = 'slug';
        body.properties.slug = book.properties.slug;
        body.required.push('slug');
        paths['/books/{bookSlug}'] = { ...paths['/books/{bookId}'], parameters: [path('bookSlug', text)] };
        delete paths['/books/{bookId}'];
      },
    ],
    [
      'listBooks',
      ['books.list({ limit: 10000 })'],
      ({ paths, schemas }) => {
        schemas.Books = all;
        paths['/books'].get = list([query('limit', { type: 'boolean' })], record('Books'));
      },
    ],
    [
      'listBooks',
      ['count: true', 'body: { data: page.body.read(), total: page.total }'],
      ({ paths }) => {
        paths['/books'].get = list([], {
          type: 'object',
          properties: { data: all, total: int32, current: int32 },
        });
      },
    ],
    [
      'changeBook',
      ['const { id: _, ...changes } = body;'],
      ({ body }) => {
        body.properties.id = int64;
      },
    ],
  ];
  for (const [id, lines, edit] of CASES) {
    const { collections, reasons } = await written(t, books(edit));
    const handler = collections[0]?.handlers.get(id) ?? `${[...reasons]}`;
    for (const line of lines) t.ok(handler.includes(line) || line === 'offset', `${line} in ${handler}`);
  }
});

t.test('an error message in a handler that `new` writes names the record with a or an, as in "an hour"', async (t) => {
  for (const [name, noun] of [
    ['items', 'an item'],
    ['users', 'a user'],
    ['hours', 'an hour'],
  ] as const) {
    const contract = books(({ body, book, paths }) => {
      body.properties.id = book.properties.id;
      body.required.push('id');
      paths[`/${name}/{bookId}`].put.responses[200] = reply(text);
    }, name);
    const { collections, reasons } = await written(t, contract);
    t.match(collections[0]?.handlers.get('createBook'), `There is ${noun} with this id.`);
    t.equal(reasons.get('replaceBook'), 'its reply is not a Book');
  }
});

t.test('`new` prints a reason for each resource that it does not store', async (t) => {
  const CASES: [reason: RegExp, edit: Parameters<typeof books>[0]][] = [
    [
      /^Book\.author is required, and comes from nowhere$|created: Book\.author/,
      ({ book }) => {
        book.properties.author = text;
        book.required.push('author');
      },
    ],
    [
      /Book may have any other fields/,
      ({ book }) => {
        book.additionalProperties = true;
      },
    ],
    [
      /Book\.password must not be stored/,
      ({ book }) => {
        book.properties.password = text;
      },
    ],
    [
      /Book\.pin is in no reply/,
      ({ book }) => {
        book.properties.pin = { ...text, writeOnly: true };
      },
    ],
    [
      /no field of Book is the id/,
      ({ book }) => {
        delete book.properties.id;
        book.required.shift();
      },
    ],
    [
      /no operation creates its records/,
      ({ paths }) => {
        delete paths['/books'].post;
      },
    ],
    [
      /the type of its id is not supported/,
      ({ book }) => {
        book.properties.id = { type: 'boolean' };
      },
    ],
    [
      /its ids have a form that cannot be made/,
      ({ book }) => {
        book.properties.id = { ...text, pattern: '^b[g-z]+$' };
      },
    ],
    [
      /its parameter shelf is not understood/,
      ({ paths }) => {
        paths['/books'].post.parameters = [query('shelf', text, { required: true })];
      },
    ],
    [
      /the default of its parameter shelf is not understood/,
      ({ paths }) => {
        paths['/books'].post.parameters = [query('shelf', { type: 'array', items: text, default: [] })];
      },
    ],
    [
      /its body is not JSON/,
      ({ paths }) => {
        paths['/books'].post.requestBody.content = { 'text/plain': { schema: text } };
      },
    ],
    [
      /its reply is not a Book/,
      ({ paths }) => {
        paths['/books'].post.responses[201] = reply(text);
      },
    ],
    [
      /the header X-Total of its reply comes from nowhere/,
      ({ paths }) => {
        paths['/books'].get.responses[200].headers = { 'X-Total': { required: true, schema: text } };
      },
    ],
    [
      /the header X-Total of its reply comes from nowhere/,
      ({ paths }) => {
        paths['/books/{bookId}'].get.responses[200].headers = { 'X-Total': { required: true, schema: text } };
      },
    ],
    [
      /its header Location leads nowhere/,
      ({ paths }) => {
        paths['/books'].post.responses[201].headers.Location.required = true;
        delete paths['/books/{bookId}'].get;
      },
    ],
    [
      /it declares no success/,
      ({ paths }) => {
        delete paths['/books/{bookId}'].delete.responses[204];
      },
    ],
    [
      /it has no body/,
      ({ paths }) => {
        delete paths['/books/{bookId}'].patch.requestBody;
      },
    ],
    [
      /its reply is not a Book/,
      ({ paths }) => {
        const many = Object.fromEntries(['a', 'b', 'c', 'd', 'e', 'f'].map((name) => [name, text]));
        paths['/books/{bookId}'].patch.responses[200] = reply({ type: 'object', properties: many });
      },
    ],
    [
      /the type of \{shelf\} is not supported/,
      ({ paths }) => {
        for (const end of ['', '/{bookId}']) {
          paths[`/shelves/{shelf}/books${end}`] = paths[`/books${end}`];
          const item = paths[`/books${end}`];
          item.parameters = [path('shelf', { type: 'boolean' }), ...(item.parameters ?? [])];
          delete paths[`/books${end}`];
        }
      },
    ],
    [
      /the id in its path has another type than Book\.id/,
      ({ paths }) => {
        paths['/books/{bookId}'].parameters[0].schema = { type: 'boolean' };
      },
    ],
    [
      /the id of the record is neither in its path nor in its body/,
      ({ paths }) => {
        paths['/books'].put = { ...paths['/books/{bookId}'].put, requestBody: { required: true, ...json(true) } };
        delete paths['/books/{bookId}'].put;
      },
    ],
    [
      /its reply is not a list of Book/,
      ({ paths }) => {
        paths['/books'].get.responses[200] = reply(record('Book'));
      },
    ],
    [
      /the field current of its reply comes from nowhere/,
      ({ paths }) => {
        const { schema } = paths['/books'].get.responses[200].content['application/json'];
        schema.properties.current = { type: 'integer' };
        schema.required.push('current');
      },
    ],
    [
      /no field of its reply has the next cursor/,
      ({ paths }) => {
        paths['/books'].get.parameters = [query('cursor', text)];
        paths['/books'].get.responses[200] = reply({ type: 'array', items: record('Book') });
      },
    ],
    [
      /its reply is not a Book/,
      ({ paths }) => {
        paths['/books/{bookId}'].get.responses[200] = { description: 'A text.', content: { 'text/plain': {} } };
      },
    ],
    [
      /its reply is not a Book/,
      ({ paths }) => {
        paths['/books/{bookId}'].get.responses[200] = { description: 'Anything.', content: { 'application/json': {} } };
      },
    ],
    [
      /no reply has a record that can be stored/,
      ({ book }) => {
        book.oneOf = [{ required: ['title'] }];
      },
    ],
    [
      /the type of its id is not supported/,
      ({ book, body }) => {
        book.properties.id = body.properties.id = { type: ['integer', 'string'] };
        delete body.required;
      },
    ],
    [
      /no resource is at its path/,
      ({ paths }) => {
        paths['/sign-in'] = { post: { operationId: 'signIn', responses: { 204: none } } };
      },
    ],
    [
      /another resource is named books/,
      ({ paths }) => {
        paths['/books/{shopId}/books/{bookId}'] = paths['/{shopId}/books/{bookId}'] = {
          parameters: [path('shopId', text), path('bookId', text)],
          get: { operationId: 'getShopBook', responses: { 200: reply(record('Book')) } },
        };
        paths['/{shopId}/books/{bookId}'] = JSON.parse(
          JSON.stringify(paths['/{shopId}/books/{bookId}']).replace('getShopBook', 'getOther'),
        );
      },
    ],
    [
      /no reply has a record that can be stored/,
      ({ paths }) => {
        paths['/words/{word}'] = {
          parameters: [path('word', text)],
          get: { operationId: 'getWord', responses: { 200: reply(text) } },
        };
      },
    ],
  ];
  for (const [reason, edit] of CASES) {
    const { reasons } = await written(t, books(edit));
    t.match([...reasons.values()].join('\n'), reason);
  }
});

t.test('the files that `new` writes contain hostile names and texts of a contract only as texts', async (t) => {
  const check = async (texts: string[]) => {
    const [a = 'a', b = 'b', c = 'c'] = texts;
    const contract = books(
      ({ paths, book, body, schemas }) => {
        const [list] = Object.values(paths) as Json[];
        const names = new Set([a, `min${b}`, `${c}From`]);
        for (const name of names) list.get.parameters.push(query(name, { type: 'number' }));
        const item = Object.keys(paths).find((one) => one.endsWith('{bookId}')) as string;
        const own = {
          type: 'object',
          properties: { id: text, [`book ${a} id`]: text, bookId: { ...text, default: b } },
        };
        paths[`${item}/notes`] = {
          parameters: [path('bookId', book.properties.id)],
          post: { operationId: 'createNote', requestBody: json(own), responses: { 201: reply(own) } },
        };
        paths[`${item}/notes/{noteId}`] = {
          parameters: [path('bookId', book.properties.id), path('noteId', text)],
          get: { operationId: 'getNote', responses: { 200: reply({ ...own, required: ['id'] }) } },
          delete: { operationId: 'deleteNote', responses: { 204: none } },
        };
        Object.defineProperty(book.properties, b, { value: { type: 'number' }, enumerable: true, configurable: true });
        Object.defineProperty(book.properties, a, { value: { ...text, enum: [b, c] }, enumerable: true });
        Object.defineProperty(body.properties, a, { value: { ...text, enum: [b, c], default: c }, enumerable: true });
        book.properties.assumed = { ...text, example: a };
        book.required.push('assumed');
        body.properties.unseen = { ...text, default: b };
        book.properties.hostile = { ...text, default: b, description: c };
        schemas.Failure.description = a;
      },
      `${encodeURIComponent(c.toWellFormed().replace(/[{}*?%]/g, ''))}s`,
    );
    const made = await written(t, contract, true).catch((error) => {
      if (error instanceof ContractError) return undefined;
      throw error;
    });
    for (const { files, handlers } of made?.collections ?? []) {
      for (const [file, source] of [...files, ...handlers]) {
        if (file.endsWith('.sql')) {
          if (!/^CREATE TABLE [a-z_0-9]+ \([^']*\)( STRICT)?;\n(CREATE INDEX [\w ,(\n)]+;\n)*$/.test(source))
            throw new Error(source);
          continue;
        }
        const { statements, parseDiagnostics }: Json = ts.createSourceFile('x.ts', source, ts.ScriptTarget.Latest);
        const kinds = statements.map(({ kind }: Json) => ts.SyntaxKind[kind]);
        if (parseDiagnostics.length > 0 || kinds.slice(0, -1).some((kind: string) => kind !== 'ImportDeclaration'))
          throw new Error(source);
      }
    }
  };
  for (const [, worst] of WORST) await check([worst, worst, worst]);
  await fc.assert(fc.asyncProperty(fc.array(HOSTILE, { minLength: 3, maxLength: 3 }), check), { numRuns: 60, seed: 7 });
});
