/** `new` stores what a PUT creates: single objects, and records whose ids clients choose. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { stringify } from 'lossless-json';
import t, { type Test } from 'tap';
import { writeCollections } from '../../../src/contract-first/cli/scaffold/collection-files.ts';
import { writeTest } from '../../../src/contract-first/cli/scaffold/written-test.ts';
import { loadContract } from '../../../src/contract-first/contract/read/load-contract.ts';
import type { Json } from '../../any-json.ts';
import { books, json, none, path, record, reply, text } from './books-contract.ts';

const int64 = { type: 'integer', format: 'int64' };

async function write(t: Test, name: string, edit: Parameters<typeof books>[0], isAssuming = false) {
  const file = join(t.testdir(), 'contract.json');
  writeFileSync(file, stringify(books(edit)) as string);
  const contract = await loadContract(file);
  const { collections, reasons } = writeCollections(contract, { isAssuming });
  const found = collections.find((one) => one.name === name);
  const handler = (id: string) => `${found?.handlers.get(id)}`;
  const domain = `${found?.files.get(`src/${name}/domain.ts`)}`;
  return { reasons, found, handler, domain, test: found && writeTest(contract, found, collections) };
}

/** A single object at a path: settings with a required and an optional field. */
function settings(at: string, edit: (parts: { item: Json; own: Json; paths: Json }) => void = () => {}) {
  return ({ paths, schemas }: { paths: Json; schemas: Json }) => {
    const own: Json = { type: 'object', required: ['colour'], properties: { colour: text, size: int64 } };
    schemas.Settings = own;
    const requestBody = { required: true, ...json(record('Settings')) };
    const responses = { 200: reply(record('Settings')), 404: reply(record('Failure')) };
    const [, parameter] = /\{(\w+)\}/.exec(at) ?? [];
    const item: Json = {
      ...(parameter && { parameters: [path(parameter, int64)] }),
      get: { operationId: 'getSettings', responses },
      put: { operationId: 'setSettings', requestBody, responses },
      patch: { operationId: 'changeSettings', requestBody, responses },
      delete: { operationId: 'resetSettings', responses: { 204: none, 404: reply(record('Failure')) } },
    };
    paths[at] = item;
    edit({ item, own, paths });
  };
}

t.test('`new` stores the object at a path such as /settings as a single record, which a PUT creates', async (t) => {
  const { reasons, found, handler, domain, test } = await write(t, 'settings', settings('/settings'));
  t.strictSame([...reasons], []);
  t.match(domain, "internal: {\n    place: { type: 'text', is: 'id' },");
  t.match(handler('setSettings'), "const put = await settings.put('only', { ...body, place: 'only' });");
  t.match(handler('setSettings'), 'return { status: 200, body: put.record };');
  t.match(handler('getSettings'), "return answer(200, await settings.get('only'), { absent: 'not_found' });");
  t.match(handler('changeSettings'), "await settings.update('only', body)");
  t.match(handler('resetSettings'), "await settings.delete('only')");
  t.strictSame(found?.assumed, [
    'settings: all callers share one setting',
    'settings: setSettings creates the setting if it does not exist',
  ]);
  for (const line of ['a record of settings is created, found, changed, and deleted', 'client.getSettings();'])
    t.match(test, line);
  for (const [id, one] of found?.handlers ?? []) t.ok(one.split('\n').length <= 18, id);
});

t.test('`new` stores /books/{bookId}/settings once per book, and deletes the settings with the book', async (t) => {
  const below = '/books/{bookId}/settings';
  const { reasons, handler, domain, found, test } = await write(t, 'settings', settings(below));
  t.strictSame([...reasons], []);
  t.match(domain, "bookId: { type: 'int64', is: 'id', of: 'books', onDelete: 'delete' }");
  t.match(handler('setSettings'), 'settings.put(params.bookId, { ...body, bookId: params.bookId })');
  t.match(handler('setSettings'), "if (isRefused(put)) return refuse('not_found', 'There is no book with this id.');");
  t.match(found?.assumed, ['settings: setSettings creates the setting if it does not exist']);
  t.match(test, 'const parent = parentCreated.body;');
  t.match(test, 'client.getSettings({ params: { bookId: parent.id } })');
  const shown = await write(
    t,
    'settings',
    settings(below, ({ own }) => {
      own.properties['book-id'] = int64;
      own.required.push('book-id');
    }),
  );
  t.match(shown.domain, "'book-id': { column: 'book_id', type: 'int64', is: 'id', of: 'books', onDelete: 'delete' }");
  t.notMatch(shown.domain, 'internal');
  t.match(shown.handler('setSettings'), "if (body['book-id'] !== undefined && body['book-id'] !== params.bookId)");
});

t.test('`new` stores the object at /shops/{id}/settings once for each id, even if it stores no shops', async (t) => {
  const { handler, domain, found, test } = await write(
    t,
    'settings',
    settings('/shops/{id}/settings', ({ own, item }) => {
      own.properties.id = text;
      item.parameters[0].schema = text;
    }),
  );
  t.match(domain, "    id: { type: 'text', isOptional: true }");
  t.match(domain, "    idInPath: { type: 'text', is: 'id' }");
  t.match(handler('getSettings'), 'settings.get(params.id)');
  t.match(found?.assumed, [
    'settings: setSettings creates',
    'settings: any id in the path is accepted, and has its own',
  ]);
  t.match(test, "client.setSettings({ params: { id: 'string' }, body:");
  const deep = await write(
    t,
    'settings',
    settings('/shops/{id}/x/{y}/settings', ({ item }) => item.parameters.push(path('y', text))),
  );
  t.equal(deep.reasons.get('getSettings'), 'no resource is at its path');
});

t.test('if /settings has a POST but no PUT and the POST replies with the object, the POST sets it', async (t) => {
  const post = (isShown: boolean, hasPut = false) =>
    write(
      t,
      'settings',
      settings('/settings', ({ item }) => {
        item.post = { ...item.put, operationId: 'postSettings' };
        if (!isShown) item.post.responses = { 201: none };
        if (!hasPut) delete item.put;
      }),
    );
  t.match((await post(true)).handler('postSettings'), "await settings.put('only'");
  t.match((await post(false)).reasons.get('postSettings'), 'it may be an action: its reply is not a Settings');
  t.equal((await post(true, true)).reasons.get('postSettings'), 'no resource is at its path');
});

t.test('`new` stores an object that may belong to the caller, as at /my/account, only with `--assume`', async (t) => {
  const plain = await write(t, 'account', settings('/my/account'));
  t.equal(plain.reasons.get('setSettings'), 'each caller may have its own');
  const assumed = await write(t, 'account', settings('/my/account'), true);
  t.match(assumed.found?.assumed, ['account: all callers share one account']);
});

t.test('`new` does not store a single object that no GET shows, or whose PUT sends none of its fields', async (t) => {
  const reasonOf = async (edit: Parameters<typeof settings>[1], isAssuming = false) =>
    (await write(t, 'settings', settings('/settings', edit), isAssuming)).reasons.get('setSettings');
  t.match(
    await reasonOf(({ item }) => {
      item.get.parameters = [{ name: 'q', in: 'query', required: true, schema: text }];
    }),
    'nothing shows its records: its parameter q is not understood',
  );
  t.match(
    await reasonOf(({ item }) => {
      item.put.requestBody = { required: true, ...json({ type: 'object', properties: { days: int64 } }) };
    }, true),
    'no field of Settings is in the body of setSettings',
  );
  t.match(
    await reasonOf(({ item }) => {
      item.put.requestBody = { required: true, ...json({ type: 'object', properties: { size: int64 } }) };
    }),
    'Settings.colour is required, and comes from nowhere',
  );
  t.match(
    await reasonOf(({ item }) => {
      item.get.responses = { 200: reply({ type: 'array', items: record('Settings') }) };
    }),
    'no resource is at its path',
  );
});

/** Books that only a PUT creates. */
function putBooks(edit: (put: Json, parts: { paths: Json; book: Json }) => void) {
  return ({ paths, book }: { paths: Json; book: Json }) => {
    delete paths['/books'].post;
    for (const method of ['patch', 'delete']) delete paths['/books/{bookId}'][method];
    book.required = ['id', 'title'];
    const { put } = paths['/books/{bookId}'];
    put.responses = { 200: reply(record('Book')), 201: reply(record('Book')) };
    edit(put, { paths, book });
  };
}

t.test('`new` writes the handler of a PUT even if the schemas of its 200 and 201 contain integers', async (t) => {
  const inline = (most: number) => ({
    type: 'object',
    required: ['id', 'title'],
    properties: { id: { ...int64, maximum: most }, title: text },
  });
  const statusOf = async (most: number) => {
    const change = putBooks((put, { book }) => {
      book.properties = { id: { ...int64, maximum: 9 }, title: text };
      put.responses = { 200: reply(inline(9)), 201: reply(inline(most)) };
    });
    return (await write(t, 'books', change)).handler('replaceBook');
  };
  t.match(await statusOf(9), 'status: put.isNew ? 201 : 200');
  t.match(await statusOf(8), 'status: 200');
});

t.test('if a PUT declares 201, the handler that `new` writes creates records with ids of clients', async (t) => {
  const { reasons, handler, domain, found, test } = await write(
    t,
    'books',
    putBooks(() => {}),
  );
  t.strictSame([...reasons], []);
  t.match(domain, "id: { type: 'int64', is: 'id' }");
  t.match(handler('replaceBook'), 'books.put(params.bookId, { ...body, id: params.bookId })');
  t.match(handler('replaceBook'), 'return { status: put.isNew ? 201 : 200, body: put.record };');
  t.strictSame(found?.assumed, []);
  t.match(test, 'client.replaceBook({ params: { bookId: 1n }, body:');
  t.match(test, 'client.getBook({ params: { bookId: 1n } })');
  const given = await write(
    t,
    'books',
    putBooks((put, { book }) => {
      put.requestBody = { required: true, ...json(record('Book')) };
      book.properties = { id: int64, title: text };
    }),
  );
  t.match(given.test, "body: { ...{ id: 1n, title: 'string' }, id: 1n }");
  const silent = await write(
    t,
    'books',
    putBooks((put) => {
      put.responses = { 201: none };
    }),
  );
  t.match(silent.handler('replaceBook'), 'return { status: 201 };');
  t.match(silent.test, 'const record = shown.body;');
});

t.test('if a PUT with a body does not declare 201, `new` lets it create records only with `--assume`', async (t) => {
  const quiet = (put: Json) => {
    put.responses = { 200: reply(record('Book')) };
  };
  const plain = await write(t, 'books', putBooks(quiet));
  t.equal(plain.reasons.get('replaceBook'), 'no operation creates its records');
  const assumed = await write(t, 'books', putBooks(quiet), true);
  t.match(assumed.found?.assumed, ['books: replaceBook creates the book if it does not exist']);
  const empty = await write(
    t,
    'books',
    putBooks((put, { book }) => {
      quiet(put);
      delete put.requestBody;
      book.required = ['id'];
    }),
  );
  t.match(empty.handler('replaceBook'), 'books.put(params.bookId, { id: params.bookId })');
  t.match(empty.test, 'client.replaceBook({ params: { bookId: 1n } });');
  const missing = await write(
    t,
    'books',
    putBooks((put) => {
      quiet(put);
      put.responses[404] = reply(record('Failure'));
    }),
    true,
  );
  t.notMatch(missing.handler('replaceBook'), '.put(');
});
