/** `new` keeps the records of each tenant apart, if a contract demands a header with the tenant. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { stringify } from 'lossless-json';
import t, { type Test } from 'tap';
import { openSandbox } from '../../../src/contract-first/cli/sandbox/sandbox.ts';
import { writeCollections } from '../../../src/contract-first/cli/scaffold/collection-files.ts';
import { writeTest } from '../../../src/contract-first/cli/scaffold/written-test.ts';
import { loadContract } from '../../../src/contract-first/contract/read/load-contract.ts';
import type { Json } from '../../any-json.ts';
import { books, json, path, record, reply, text } from './books-contract.ts';

const int64 = { type: 'integer', format: 'int64' };
const tenant = (others: Json = {}) => ({ name: 'X-Tenant-Id', in: 'header', required: true, schema: text, ...others });

/** Books, and their notes, for tenants. */
const booksOfTenants = (edit: Parameters<typeof books>[0] = () => {}, header: Json = tenant()): Json =>
  books((parts) => {
    const { paths, schemas } = parts;
    schemas.Note = { type: 'object', required: ['id', 'text'], properties: { id: int64, text } };
    const requestBody = { required: true, ...json({ type: 'object', required: ['text'], properties: { text } }) };
    const responses = { 200: reply(record('Note')), 404: reply(record('Failure')) };
    paths['/books/{bookId}/notes'] = {
      parameters: [path('bookId', int64)],
      post: { operationId: 'createNote', requestBody, responses },
      get: { operationId: 'listNotes', responses: { 200: reply({ type: 'array', items: record('Note') }) } },
    };
    paths['/books/{bookId}/notes/{noteId}'] = {
      parameters: [path('bookId', int64), path('noteId', int64)],
      get: { operationId: 'getNote', responses },
    };
    for (const item of Object.values<Json>(paths))
      for (const method of ['get', 'post', 'patch', 'put', 'delete'])
        if (item[method]) item[method].parameters = [...(item[method].parameters ?? []), structuredClone(header)];
    edit(parts);
  });

const save = (t: Test, contract: Json) => {
  const file = join(t.testdir(), 'contract.json');
  writeFileSync(file, stringify(contract) as string);
  return file;
};

async function written(t: Test, contract: Json, isAssuming = false) {
  const read = await loadContract(save(t, contract));
  const { collections, reasons } = writeCollections(read, { isAssuming });
  const handlers = new Map(collections.flatMap((one) => [...one.handlers]));
  return {
    reasons,
    collections,
    domain: `${collections[0]?.files.get('src/books/domain.ts')}`,
    handlerOf: (id: string) => handlers.get(id) ?? `501: ${reasons.get(id)}`,
    tests: collections.map((one) => writeTest(read, one, collections)),
  };
}

t.test('in `sandbox`, a tenant named in a header cannot see or change the records of another tenant', async (t) => {
  const { origin, close } = await openSandbox(save(t, booksOfTenants()), { port: 0, hasKeys: false }, () => {});
  t.teardown(close);
  const send = async (by: string | undefined, method: string, at: string, body?: object) => {
    const headers = {
      ...(by !== undefined && { 'x-tenant-id': by }),
      ...(body && { 'content-type': 'application/json' }),
    };
    const reply = await fetch(origin + at, { method, headers, ...(body && { body: JSON.stringify(body) }) });
    return { status: reply.status, body: JSON.parse((await reply.text()) || 'null') };
  };
  t.match(await send('a', 'POST', '/books', { title: 'Emma' }), { status: 201, body: { id: 1 } });
  t.match(await send('b', 'POST', '/books', { title: 'Sanditon' }), { status: 201, body: { id: 2 } });
  t.match(await send('a', 'GET', '/books'), { status: 200, body: { items: [{ id: 1 }], total: 1 } });
  t.match(await send('a', 'GET', '/books/1'), { status: 200, body: { title: 'Emma' } });
  const title = { title: 'Persuasion' };
  const STRANGE: [string, string, object?][] = [
    ['GET', '/books/1'],
    ['PATCH', '/books/1', title],
    ['PUT', '/books/1', title],
    ['DELETE', '/books/1'],
    ['POST', '/books/1/notes', { text: 'x' }],
  ];
  for (const [method, at, body] of STRANGE)
    t.equal((await send('b', method, at, body)).status, 404, `${method} ${at} of another tenant`);
  t.match(await send('a', 'POST', '/books/1/notes', { text: 'x' }), { status: 200, body: { id: 1 } });
  t.match(await send('a', 'GET', '/books/1/notes/1'), { status: 200 });
  t.match(await send('b', 'GET', '/books/1/notes/1'), { status: 404 });
  t.equal((await send('', 'GET', '/books')).status, 400, 'an empty tenant');
  t.equal((await send(undefined, 'GET', '/books')).status, 400, 'no tenant');
  t.equal((await send('a', 'DELETE', '/books/1')).status, 204);
});

t.test('each handler that `new` writes reads and changes only records of the tenant in the header', async (t) => {
  for (const isAssuming of [false, true]) {
    const { handlerOf, domain, reasons, collections, tests } = await written(t, booksOfTenants(), isAssuming);
    t.strictSame([...reasons], []);
    t.match(domain, "tenant: { type: 'text', set: 'tenant' }");
    t.match(collections[0]?.assumed.at(-1), 'books: any X-Tenant-Id in a header is accepted, and has its own records');
    for (const [id, call] of Object.entries({
      createBook: 'create',
      getBook: 'get',
      listBooks: 'list',
      changeBook: 'update',
    }))
      t.match(handlerOf(id), `books.of(headers['X-Tenant-Id']).${call}(`);
    t.match(
      handlerOf('getBook'),
      "if (headers['X-Tenant-Id'] === '') return refuse('bad_request', 'The header X-Tenant-Id is empty.');",
    );
    t.match(handlerOf('listNotes'), "if (!(await books.of(headers['X-Tenant-Id']).get(params.bookId)))");
    t.match(tests.join(), "client.createBook({ headers: { 'X-Tenant-Id': 'string' }, body: ");
  }
});

t.test('if a record has a field with the name of the tenant header, the field contains the tenant', async (t) => {
  const withField = ({ book }: Json) => {
    book.properties.tenantId = text;
    book.required.push('tenantId');
  };
  const long = tenant({ schema: { ...text, minLength: 3 } });
  const { domain, handlerOf } = await written(t, booksOfTenants(withField, long));
  t.match(domain, "tenantId: { type: 'text', set: 'tenant' }");
  t.notMatch(domain, 'internal');
  t.notMatch(handlerOf('getBook'), 'is empty');
  const given = await written(
    t,
    booksOfTenants(({ book, body }) => {
      withField({ book });
      body.properties.tenantId = body.properties.tenant = text;
      body.required.push('tenantId');
    }),
  );
  t.match(given.domain, "tenantId: { type: 'text' }");
  t.match(given.domain, "tenantInHeader: { type: 'text', set: 'tenant' }");
});

t.test('even with `--assume`, `new` writes no handler for an operation that lacks the tenant header', async (t) => {
  const { handlerOf } = await written(
    t,
    booksOfTenants(({ paths }) => {
      paths['/books/{bookId}'].get.parameters = [];
      paths['/books/{bookId}'].put.parameters[0].required = false;
      paths['/books/{bookId}'].patch.parameters[0].schema = { type: 'integer' };
    }),
    true,
  );
  for (const id of ['getBook', 'replaceBook', 'changeBook'])
    t.match(handlerOf(id), 'its records belong to the tenant in X-Tenant-Id, which it does not demand as a text');
  t.match(handlerOf('deleteBook'), 'books.of(');
  const create = await written(
    t,
    booksOfTenants(({ paths }) => {
      paths['/books'].post.parameters = [];
      paths['/books/{bookId}'].delete.parameters[0].schema = { type: 'integer' };
    }),
    true,
  );
  for (const id of ['getBook', 'listBooks', 'deleteBook'])
    t.match(create.handlerOf(id), 'its parameter X-Tenant-Id is not understood');
  t.match(create.handlerOf('createNote'), 'notes.of(headers', 'its parent has no tenants');
});

t.test('`new` writes no create for a child record if it lacks the tenant header of its parent', async (t) => {
  for (const header of [undefined, tenant({ name: 'X-Team-Id' })]) {
    const { handlerOf } = await written(
      t,
      booksOfTenants(({ paths }) => {
        for (const at of ['/books/{bookId}/notes', '/books/{bookId}/notes/{noteId}'])
          for (const method of ['get', 'post'])
            if (paths[at][method]) paths[at][method].parameters = header ? [header] : [];
      }),
    );
    t.match(handlerOf('createNote'), 'its parent books belongs to the tenant in X-Tenant-Id');
  }
});
