/** `new` writes collections for the resources of a contract, and says why others are not stored. */
import { cpSync, existsSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import fc from 'fast-check';
import { stringify } from 'lossless-json';
import t, { type Test } from 'tap';
import ts from 'typescript';
import { writeCollections } from '../../../src/contract-first/cli/scaffold/collection-files.ts';
import { writeService } from '../../../src/contract-first/cli/scaffold/write-service.ts';
import { loadContract } from '../../../src/contract-first/contract/read/load-contract.ts';
import { ContractError } from '../../../src/contract-first/engine/contract/contract.ts';
import type { Json } from '../../any-json.ts';
import { NODE_ARGS } from '../../program.ts';
import { HOSTILE, WORST } from '../generate/hostile-contract.ts';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url));
const text = { type: 'string' };
const json = (schema: Json) => ({ content: { 'application/json': { schema } } });
const reply = (schema: Json, others = {}) => ({ description: 'Done.', ...json(schema), ...others });
const record = (name: string) => ({ $ref: `#/components/schemas/${name}` });
const path = (name: string, schema: Json) => ({ name, in: 'path', required: true, schema });
const query = (name: string, schema: Json, others = {}) => ({ name, in: 'query', schema, ...others });
const none = { description: 'None.' };

/** A contract with the resource books, in these parts. */
function books(
  edit: (parts: { paths: Json; schemas: Json; book: Json; body: Json }) => void = () => {},
  name = 'books',
): Json {
  const int64 = { type: 'integer', format: 'int64' };
  const book: Json = {
    type: 'object',
    required: ['id', 'title', 'state', 'views', 'isOpen', 'tags', 'createdAt', 'updatedAt', 'revision'],
    properties: {
      ...{
        id: int64,
        title: text,
        state: { enum: ['new', 'old'], type: 'string' },
        views: int64,
        isOpen: { type: 'boolean' },
      },
      ...{
        tags: { type: 'array', items: text },
        note: text,
        order: { type: ['string', 'null'] },
        price: { type: 'number' },
      },
      ...{ createdAt: { ...text, format: 'date-time' }, updatedAt: { ...text, format: 'date-time' }, revision: int64 },
    },
  };
  const body: Json = {
    type: 'object',
    required: ['title'],
    properties: { title: text, note: text, price: { type: 'number' } },
  };
  const errors = { 404: reply(record('Failure')), default: reply(record('Failure')) };
  const requestBody = { required: true, ...json(record('NewBook')) };
  const paths: Json = {
    [`/${name}`]: {
      post: {
        operationId: 'createBook',
        requestBody,
        responses: {
          201: reply(record('Book'), { headers: { Location: { schema: text } } }),
          default: reply(record('Failure')),
        },
      },
      get: {
        operationId: 'listBooks',
        parameters: [
          query('limit', { type: 'integer', minimum: 1, maximum: 50, default: 20 }),
          query('page', { type: 'integer', minimum: 1 }),
          query('state', { type: 'string', enum: ['new', 'old'] }),
          query('sort', text),
        ],
        responses: {
          200: reply({
            type: 'object',
            required: ['items', 'total'],
            properties: {
              items: { type: 'array', items: record('Book') },
              total: { type: 'integer' },
              hasMore: { type: 'boolean' },
              totalPages: { type: 'integer' },
              page: { type: 'integer' },
              limit: { type: 'integer' },
            },
          }),
          ...errors,
        },
      },
    },
    [`/${name}/{bookId}`]: {
      parameters: [path('bookId', int64)],
      get: { operationId: 'getBook', responses: { 200: reply(record('Book')), ...errors } },
      patch: { operationId: 'changeBook', requestBody, responses: { 200: reply(record('Book')), ...errors } },
      put: { operationId: 'replaceBook', requestBody, responses: { 200: reply(record('Book')), ...errors } },
      delete: { operationId: 'deleteBook', responses: { 204: none, ...errors } },
    },
  };
  const schemas: Json = {
    Book: book,
    NewBook: body,
    Failure: { type: 'object', required: ['message'], properties: { message: text } },
  };
  edit({ paths, schemas, book, body });
  return { openapi: '3.1.0', info: { title: 'Books', version: '1.0.0' }, paths, components: { schemas } };
}

async function load(t: Test, contract: Json) {
  const file = join(t.testdir(), 'contract.json');
  writeFileSync(file, stringify(contract) as string);
  return loadContract(file);
}

const written = async (t: Test, contract: Json) => writeCollections(await load(t, contract));

t.test('a resource gets a description, its migrations, and a handler for each operation', async (t) => {
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

t.test('a handler follows the ways of its contract: pages, ids, bodies and envelopes', async (t) => {
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
      ['books.all({ most: 10000, state: query.state })', 'body: page }'],
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

t.test('what is not stored has its reason', async (t) => {
  const CASES: [reason: RegExp, edit: Parameters<typeof books>[0]][] = [
    [
      /^Book\.author is required, and comes from nowhere$|created: Book\.author/,
      ({ book }) => {
        book.properties.author = text;
        book.required.push('author');
      },
    ],
    [
      /its body\.coupon is in no reply/,
      ({ body }) => {
        body.properties.coupon = text;
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
        book.properties.id = { ...text, pattern: '^b[0-9]+$' };
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
      /no resource is at its path/,
      ({ paths }) => {
        paths['/sign-in'] = { post: { operationId: 'signIn', responses: { 204: none } } };
      },
    ],
    [
      /its path has the id of a parent/,
      ({ paths }) => {
        paths['/shops/{shopId}/books/{bookId}'] = {
          parameters: [path('shopId', text), path('bookId', text)],
          get: { operationId: 'getShopBook', responses: { 200: reply(record('Book')) } },
        };
      },
    ],
    [
      /another resource stores Book/,
      ({ paths }) => {
        paths['/novels/{novelId}'] = {
          parameters: [path('novelId', text)],
          get: { operationId: 'getNovel', responses: { 200: reply(record('Book')) } },
        };
      },
    ],
    [
      /no reply has a record that is a schema/,
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

t.test('names and texts of the contract stay names and texts in what is written', async (t) => {
  const check = async (texts: string[]) => {
    const [a = 'a', b = 'b', c = 'c'] = texts;
    const contract = books(
      ({ book, body, schemas }) => {
        Object.defineProperty(book.properties, a, { value: { ...text, enum: [b, c] }, enumerable: true });
        Object.defineProperty(body.properties, a, { value: { ...text, enum: [b, c], default: c }, enumerable: true });
        book.properties.hostile = { ...text, default: b, description: c };
        schemas.Failure.description = a;
      },
      `${encodeURIComponent(c.toWellFormed().replace(/[{}*?%]/g, ''))}s`,
    );
    const made = await written(t, contract).catch((error) => {
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

t.test(
  'what was written compiles and generates, and what does not is taken back with its reason',
  { timeout: 300_000 },
  async (t) => {
    const folder = t.testdir({ openapi: {}, src: {}, test: {} });
    const here = process.cwd();
    t.teardown(() => process.chdir(here));
    symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
    cpSync(join(ROOT, 'tsconfig.json'), join(folder, 'tsconfig.json'));
    writeFileSync(join(folder, 'package.json'), JSON.stringify({ name: 'books', version: '1.0.0', type: 'module' }));
    const contract = books(({ paths, body }) => {
      body.properties.title = { type: 'number' };
      paths['/books/{bookId}'].patch.requestBody = {
        required: true,
        ...json({ type: 'object', properties: { price: text } }),
      };
      paths['/books/{bookId}'].put.requestBody = {
        ...json({ type: 'object', properties: { price: { type: 'number' } } }),
      };
    });
    writeFileSync(join(folder, 'openapi/books.json'), stringify(contract) as string);
    process.chdir(folder);
    const write = (file: string, content: string) => {
      mkdirSync(join(folder, file, '..'), { recursive: true });
      if (existsSync(file)) return false;
      writeFileSync(file, content);
      return true;
    };
    const generate = [...NODE_ARGS, join(ROOT, 'src/contract-first/cli/main.ts'), 'generate'];
    const run = async (hasCollections = true) =>
      writeService(await loadContract(join(folder, 'openapi/books.json')), { write, generate, hasCollections });
    const refused = (await run()).join('\n');
    t.match(refused, /^createBook .* 501: /m);
    t.match(refused, /^0 of 6 operations are stored; the others answer 501\.$/m);
    t.notOk(existsSync('src/books'));
    t.match(readFileSync('handlers/createBook.ts', 'utf8'), /^\/\/ Not stored: /m);

    for (const name of ['handlers', 'src/generated', 'openapi/books.json']) rmSync(name, { recursive: true });
    const right = books(({ paths }) => {
      paths['/books/{bookId}'].patch.requestBody = {
        required: true,
        ...json({ type: 'object', properties: { price: text } }),
      };
    });
    writeFileSync(join(folder, 'openapi/books.json'), stringify(right) as string);
    const errors = 'export const toErrorBody = ({ message }: { message: string }) => ({ message });\n';
    writeFileSync('src/errors.ts', errors);
    const table = (await run()).join('\n');
    t.match(table, /^createBook .* stored in src\/books$/m);
    t.match(table, /^changeBook .* 501: it does not compile: /m);
    t.match(table, /^5 of 6 operations are stored; the others answer 501\.\nassumed: books: /m);
    const again = (await run()).join('\n');
    t.match(again, /^createBook .* 501: src\/books is there already$/m);
    t.strictSame(await run(false), []);
  },
);
