/** `new` writes a test of each collection. */
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { stringify } from 'lossless-json';
import t, { type Test } from 'tap';
import { type WrittenCollection, writeCollections } from '../../../src/contract-first/cli/scaffold/collection-files.ts';
import { writeFirstRequest } from '../../../src/contract-first/cli/scaffold/first-create.ts';
import { writeTest } from '../../../src/contract-first/cli/scaffold/written-test.ts';
import { WrittenTests } from '../../../src/contract-first/cli/scaffold/written-tests.ts';
import { loadContract } from '../../../src/contract-first/contract/read/load-contract.ts';
import type { Json } from '../../any-json.ts';
import { NODE_ARGS } from '../../program.ts';
import { books, json, none, path, record, reply, text } from './books-contract.ts';

async function write(t: Test, edit?: Parameters<typeof books>[0]) {
  const file = join(t.testdir(), 'contract.json');
  writeFileSync(file, stringify(books(edit)) as string);
  const contract = await loadContract(file);
  const { collections } = writeCollections(contract);
  const [collection] = collections as [WrittenCollection];
  return { contract, collections, collection, written: writeTest(contract, collection, collections) };
}

t.test('the test that `new` writes creates a record, gets it, lists it, changes it and deletes it', async (t) => {
  const { written, contract, collection } = await write(t);
  for (const line of [
    "test('a record of books is created, found, listed, changed, replaced, and deleted', async (t) => {",
    "const created = await client.createBook({ body: { title: 'string' } });",
    'assert.ok(created.status === 201);',
    'const found = await client.getBook({ params: { bookId: record.id } });',
    'assert.deepEqual(found.body, record);',
    'assert.ok(listed.body?.items?.some((one) => one.id === record.id));',
    'assert.deepEqual(changedRecord.body, changed.body);',
    'assert.equal((await client.getBook({ params: { bookId: record.id } })).status, 404);',
  ])
    t.match(written, line);
  const keyed = { type: 'apiKey', in: 'header', name: 'X-Key' };
  const withKey = { ...books(), security: [{ keyed: [] }] };
  const file = join(t.testdir(), 'keyed.json');
  writeFileSync(
    file,
    stringify({ ...withKey, components: { ...withKey.components, securitySchemes: { keyed } } }) as string,
  );
  const first = /curl -i [\s\S]*'http:\/\/127\.0\.0\.1:3000\/books'$/.source;
  t.match(
    writeFirstRequest(await loadContract(file), [collection]),
    new RegExp(`start it with a key, and [^\\n]*\\n\\n {2}API_KEYS=first_\\w+ npm start\\n\\n {2}${first}`),
  );
  t.match(
    writeFirstRequest(contract, [collection]),
    new RegExp(`start it with npm start, and [^\\n]*\\n\\n {2}${first}`),
    'an operation without security needs no key',
  );
  t.equal(writeFirstRequest(contract, []), '');
});

t.test('the test that `new` writes calls only stored operations, with all required parameters', async (t) => {
  const only = await write(t, ({ paths, body, book }) => {
    const once = { name: 'Idempotency-Key', in: 'header', required: true, schema: { ...text, format: 'uuid' } };
    paths['/books'].post.parameters = [once];
    paths['/books'].post.responses[201] = reply({
      type: 'object',
      required: ['data'],
      properties: { data: record('Book') },
    });
    delete paths['/books'].get;
    const item = paths['/books/{bookId}'];
    item.parameters = [path('bookId', text)];
    item.get.responses = { 200: reply(record('Book')) };
    delete item.patch;
    const fields = { ...body.properties, id: book.properties.id };
    item.put.requestBody = {
      required: true,
      ...json({ type: 'object', required: ['id', 'title'], properties: fields }),
    };
    item.put.responses = { 204: none };
  });
  for (const line of [
    'created, found, replaced, and deleted',
    "headers: { 'Idempotency-Key': '123e4567-e89b-42d3-a456-426614174000' }",
    'const record = created.body?.data;',
    'params: { bookId: String(record.id) }',
    'id: record.id }',
  ])
    t.match(only.written, line);
  t.notMatch(only.written, '404');
  const fewest = await write(t, ({ paths }) => {
    const { get, parameters } = paths['/books/{bookId}'];
    paths['/books/{bookId}'] = { parameters, get: { ...get, operationId: 'get-book' } };
  });
  t.match(fewest.written, "await client['get-book']({ params");
  fewest.collection.handlers.delete('get-book');
  t.match(writeTest(fewest.contract, fewest.collection, fewest.collections), 'created and listed');
  fewest.collection.handlers.delete('createBook');
  t.equal(writeTest(fewest.contract, fewest.collection, fewest.collections), undefined);
  const gone = await write(t, ({ paths, book }) => {
    delete paths['/books/{bookId}'].get;
    book.properties.id = { ...text, format: 'uuid' };
    paths['/books/{bookId}'].parameters = [path('bookId', book.properties.id)];
    const wrapped = { type: 'object', required: ['da-ta'], properties: { 'da-ta': record('Book') } };
    paths['/books'].post.responses[201] = reply(wrapped);
  });
  t.match(gone.written, 'created, listed, changed, replaced, and deleted');
  t.match(gone.written, "const record = created.body?.['da-ta'];");
  const whole = await write(t, ({ paths, schemas, body, book }) => {
    paths['/books'].put = paths['/books/{bookId}'].put;
    delete paths['/books/{bookId}'].put;
    schemas.Changes = { ...body, properties: { ...body.properties, id: book.properties.id } };
    paths['/books'].put.requestBody = { required: true, ...json(record('Changes')) };
  });
  t.match(whole.written, "client.replaceBook({ body: { ...{ title: 'string' }, id: record.id } });");
});

t.test('the test that `new` writes compares only the fields that the reply to a change shows', async (t) => {
  const { written } = await write(t, ({ paths, schemas, book }) => {
    const { id, title } = book.properties;
    schemas.Part = { type: 'object', required: ['id', 'title'], properties: { id, title } };
    paths['/books'].post.responses[201] = reply(record('Part'));
  });
  t.match(written, 'assert.deepEqual({ ...found.body, ...record }, found.body);');
  t.match(written, 'assert.deepEqual(changedRecord.body, changed.body);');
});

t.test("if a record's path contains a parent, the test that `new` writes creates the parent first", async (t) => {
  const int64 = { type: 'integer', format: 'int64' };
  const withNotes = (edit: (parts: Json) => void = () => {}) =>
    write(t, (parts) => {
      const { paths, schemas } = parts;
      const properties = { id: int64, bookId: int64, text };
      schemas.Note = { type: 'object', required: ['id', 'bookId', 'text'], properties };
      schemas.NewNote = { type: 'object', required: ['bookId', 'text'], properties: { bookId: int64, text } };
      const once = { name: 'Idempotency-Key', in: 'header', required: true, schema: { ...text, format: 'uuid' } };
      paths['/books'].post.parameters = [once];
      const requestBody = { required: true, ...json(record('NewNote')) };
      const responses = { 201: reply(record('Note')) };
      const parameters = [path('bookId', text)];
      paths['/books/{bookId}/notes'] = {
        parameters,
        post: { operationId: 'createNote', parameters: [once], requestBody, responses },
      };
      paths['/books/{bookId}/notes/{noteId}'] = {
        parameters: [...parameters, path('noteId', int64)],
        get: { operationId: 'getNote', responses: { 200: reply(record('Note')) } },
      };
      edit(parts);
    });
  const { contract, collections } = await withNotes();
  const notes = collections.find(({ name }) => name === 'notes') as WrittenCollection;
  const written = writeTest(contract, notes, collections);
  for (const line of [
    "test('a record of notes is created and found', async (t) => {",
    "headers: { 'Idempotency-Key': '123e4567-e89b-42d3-a456-426614174000' },\n  body: { title: 'string' },",
    'const parent = parentCreated.body;',
    "headers: { 'Idempotency-Key': '123e4567-e89b-42d3-a456-426614174001' },\n  body: { ...{ bookId: 1n, text: 'string' }, bookId: parent.id },",
    'await client.getNote({ params: { bookId: String(parent.id), noteId: record.id } });',
  ])
    t.ok(written?.includes(line), `${line} in ${written}`);
  t.equal(writeFirstRequest(contract, [notes]), '', 'no first request is written, because it would need a parent');
  const hidden = await withNotes(({ paths }) => {
    paths['/books'].post.responses = { 201: none };
  });
  const [, other] = hidden.collections as [WrittenCollection, WrittenCollection];
  t.equal(writeTest(hidden.contract, other, hidden.collections), undefined);
  const scoped = await withNotes(({ paths }) => {
    for (const end of ['', '/{noteId}']) {
      const { parameters, ...item } = paths[`/books/{bookId}/notes${end}`];
      delete paths[`/books/{bookId}/notes${end}`];
      const owners = [path('rack', { type: 'integer' }), path('bookId', int64)];
      paths[`/racks/{rack}/{bookId}/notes${end}`] = { ...item, parameters: [...owners, ...parameters.slice(1)] };
    }
  });
  const [, apart] = scoped.collections as [WrittenCollection, WrittenCollection];
  const ofScopes = writeTest(scoped.contract, apart, scoped.collections);
  t.match(ofScopes, /params: \{ rack: \d+, bookId: \d+n \}/, 'the id of an unstored resource is a sample value');
  t.match(ofScopes, /body: \{ \.\.\.\{ bookId: 1n, text: 'string' \}, bookId: \d+n \}/);
  const deep = await withNotes(({ paths }) => {
    const marks = JSON.stringify([paths['/books/{bookId}/notes'], paths['/books/{bookId}/notes/{noteId}']]);
    const [own, item] = JSON.parse(marks.replaceAll('createNote', 'createMark').replaceAll('getNote', 'getMark'));
    const owners = [path('bookId', int64), path('noteId', int64)];
    paths['/books/{bookId}/notes'].parameters = owners.slice(0, 1);
    paths['/books/{bookId}/notes/{noteId}'].parameters = owners;
    paths['/books/{bookId}/notes/{noteId}/marks'] = { ...own, parameters: owners };
    paths['/books/{bookId}/notes/{noteId}/marks/{markId}'] = {
      ...item,
      parameters: [...owners, path('markId', int64)],
    };
  });
  const marks = deep.collections.find(({ name }) => name === 'marks') as WrittenCollection;
  t.equal(writeTest(deep.contract, marks, deep.collections), undefined, 'no test is written if a parent has a parent');
});

t.test('`new` tries all tests with one server, and only those that fail there again alone', async (t) => {
  const { contract, collection } = await write(t);
  const here = process.cwd();
  t.teardown(() => process.chdir(here));
  process.chdir(t.testdir({ test: {} }));
  const named = ['books', 'shelves', 'notes'].map((name) => ({ ...collection, name }));
  const tests = new WrittenTests(contract, () => true);
  for (const one of named) tests.add(one);
  const note = "import { appendFileSync } from 'node:fs';\nimport { test } from 'node:test';\n";
  const runTests = async (books: string, shelves: string) => {
    for (const [name, body] of Object.entries({ books, shelves, notes: '' }))
      writeFileSync(`test/${name}.test.ts`, `${note}test('x', () => { appendFileSync('runs', '${name} '); ${body} });`);
    writeFileSync('runs', '');
    await tests.run([...NODE_ARGS, '--test']);
    return readFileSync('runs', 'utf8');
  };
  const unlessAlone = "if (!process.argv[1]) throw new Error('odd');";
  t.equal(await runTests('', ''), 'books shelves notes ');
  t.equal(await runTests(unlessAlone, ''), 'books shelves notes books ');
  t.strictSame(tests.reasons, [], 'a test that passes alone stays');
  const early = 'if (!process.argv[1]) process.exit(1);';
  t.match(
    await runTests('', early),
    /^books shelves (?=.*books)(?=.*shelves)(?=.*notes)/,
    'all run if the process ends',
  );
  t.strictSame(tests.reasons, []);
  t.equal(await runTests('', "throw new Error('odd');"), 'books shelves notes shelves ');
  t.strictSame([tests.reasons, existsSync('test/shelves.test.ts')], [["no test of shelves: 'odd'"], false]);
});

t.test('if a test that `new` has written fails or does not compile, `new` removes the test', async (t) => {
  const { contract, collection } = await write(t);
  const here = process.cwd();
  t.teardown(() => process.chdir(here));
  process.chdir(t.testdir({ test: {} }));
  const failing = "import { test } from 'node:test';\ntest('x', () => { throw new Error('odd\\nthing'); });";
  const tests = new WrittenTests(contract, (file) => {
    writeFileSync(file, failing);
    return true;
  });
  await tests.run([...NODE_ARGS, '--test']);
  tests.add(collection);
  writeFileSync('test/books.test.ts', "import { test } from 'node:test';\ntest('x', () => {});");
  await tests.run([...NODE_ARGS, '--test']);
  t.ok(tests.has(collection), 'a test that passes stays');
  writeFileSync('test/books.test.ts', failing);
  t.notOk(tests.takeBack(collection, new Map()));
  await tests.run([...NODE_ARGS, '--test']);
  t.strictSame([tests.reasons, existsSync('test/books.test.ts')], [['no test of books: odd thing'], false]);
  tests.add(collection);
  t.ok(tests.takeBack(collection, new Map([['test/books.test.ts', 'a type']])));
  t.notOk(tests.takeBack(collection, new Map([['test/books.test.ts', 'a type']])));
  t.strictSame(tests.reasons, ['no test of books: a type']);
  tests.rewrite(collection);
  tests.remove(collection);
  t.strictSame(tests.reasons, [], 'a collection that is not stored needs no test');
  collection.handlers.delete('createBook');
  tests.add(collection);
  t.match(tests.reasons, [/a create does not show the record, or its parent$/]);
  collection.handlers.set('createBook', '');
  const others = new WrittenTests(contract, () => false);
  others.add(collection);
  t.notOk(others.has(collection), 'no test is written in place of an existing one');
});
