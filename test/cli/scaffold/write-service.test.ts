/** `new` compiles the code that it has written, and removes the files that do not compile. */
import { spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { stringify } from 'lossless-json';
import t from 'tap';
import { writeService } from '../../../src/contract-first/cli/scaffold/write-service.ts';
import { loadContract } from '../../../src/contract-first/contract/read/load-contract.ts';
import type { Json } from '../../any-json.ts';
import { NODE_ARGS } from '../../program.ts';
import { books, json, path, query, record, reply, text } from './books-contract.ts';

const TEST = [...NODE_ARGS, '--test'];
const ROOT = fileURLToPath(new URL('../../..', import.meta.url));

/**
 * A contract of books, shelves and notes. The bodies of books allow more than the records, and their update does not
 * compile. No operation of shelves compiles. Notes belong to a shelf.
 */
function contractOfTwo() {
  const { paths, components, ...others } = books(({ paths, book, body }) => {
    const changes = { type: 'object', properties: { titles: text, price: { type: 'number' } } };
    paths['/books/{bookId}'].patch.requestBody = { required: true, ...json(changes) };
    Object.assign(body.properties, {
      title: { type: ['string', 'null'] },
      state: text,
      tags: { type: 'array', items: { type: ['string', 'null'] } },
    });
    book.properties.tags.items = { ...text, enum: ['a', 'b'] };
  });
  const wrong = books(({ body }) => {
    body.properties.tags = { type: 'array', items: { type: 'number' } };
  }, 'shelves');
  const shelves = JSON.parse((stringify(wrong) as string).replaceAll('Book', 'Shelf').replaceAll('bookId', 'shelfId'));
  const id = { type: 'integer', format: 'int64' };
  const Note = { type: 'object', required: ['id', 'text'], properties: { id, text } };
  const requestBody = { required: true, ...json({ type: 'object', required: ['text'], properties: { text } }) };
  const notes = {
    '/shelves/{shelfId}/notes': {
      parameters: [path('shelfId', id)],
      post: { operationId: 'createNote', requestBody, responses: { 201: reply(record('Note')) } },
    },
    '/shelves/{shelfId}/notes/{noteId}': {
      parameters: [path('shelfId', id), path('noteId', id)],
      get: { operationId: 'getNote', responses: { 200: reply(record('Note')) } },
    },
  };
  const schemas = { ...components.schemas, ...shelves.components.schemas, Note };
  paths['/books'].post.responses[409] = reply({ type: 'object', required: ['message'], properties: { message: text } });
  return { ...others, paths: { ...paths, ...shelves.paths, ...notes }, components: { schemas } };
}

t.test('`new` keeps the files that compile, removes the others and prints why', { timeout: 300_000 }, async (t) => {
  const folder = t.testdir({ openapi: {}, src: {}, test: {}, handlers: {} });
  const here = process.cwd();
  t.teardown(() => process.chdir(here));
  symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
  cpSync(join(ROOT, 'tsconfig.json'), join(folder, 'tsconfig.json'));
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ name: 'books', version: '1.0.0', type: 'module' }));
  writeFileSync(join(folder, 'openapi/books.json'), stringify(contractOfTwo()) as string);
  process.chdir(folder);
  const write = (file: string, content: string) => {
    mkdirSync(join(folder, file, '..'), { recursive: true });
    if (existsSync(file)) return false;
    writeFileSync(file, content);
    return true;
  };
  const run = async (generate: string[], hasCollections = true) =>
    (
      await writeService(await loadContract('openapi/books.json'), { write, generate, test: TEST, hasCollections })
    ).table.join('\n');
  const errors = 'export const toErrorBody = ({ message }: { message: string }) => ({ message });\n';
  writeFileSync('src/errors.ts', errors);
  const own =
    "import { handle, notImplemented } from 'contract-first';\nexport default handle('getBook', notImplemented);\n";
  writeFileSync('handlers/getBook.ts', own);
  const table = await run([...NODE_ARGS, join(ROOT, 'src/contract-first/cli/main.ts'), 'generate']);
  t.match(table, /^getBook .* left as it is: handlers\/getBook\.ts is there already$/m);
  t.match(table, /^changeBook .* 501: it does not compile: /m);
  t.match(table, /^missing: listBooks answers 501 if the parameter sort is sent$/m);
  t.match(table, /^createShelf .* 501: its records cannot be created: Argument of type/m);
  t.match(table, /^getShelf .* 501: its records cannot be created: Argument of type/m);
  t.match(
    table,
    /^1 handler is left as before\.\n4 of 13 operations are stored; the others answer 501\.\nassumed: books: /m,
  );
  t.match(table, /^getNote .* 501: its parent shelves is not stored$/m);
  t.notOk(existsSync('src/shelves') || existsSync('src/notes'));
  t.equal(readFileSync('handlers/getBook.ts', 'utf8'), own);
  t.match(readFileSync('handlers/createShelf.ts', 'utf8'), /^\/\/ Not stored: /m);

  t.match(table, /^createBook .* stored in src\/books; it never answers 409$/m);
  t.match(table, /^deleteBook .* stored in src\/books$/m);
  t.notMatch(table, /^no test of books/m);
  const test = readFileSync('test/books.test.ts', 'utf8');
  t.match(test, "test('a record of books is created, listed, replaced, and deleted'");
  t.match(test, 'await client.createBook({ body: { title: ');
  t.notOk(existsSync('test/shelves.test.ts'));
  const { status, stdout } = spawnSync(process.execPath, [...TEST, 'test/books.test.ts'], {
    encoding: 'utf8',
  });
  t.equal(status, 0, stdout);

  const readFiles = () =>
    ['src/books', 'handlers', 'test'].flatMap((folder) =>
      readdirSync(folder, { recursive: true, encoding: 'utf8', withFileTypes: true })
        .filter((one) => one.isFile())
        .map((one) => [one.path, one.name, readFileSync(join(one.path, one.name), 'utf8')]),
    );
  const before = readFiles();
  const again = await run(['--eval', '']);
  t.match(again, /^createBook .* left as it is: handlers\/createBook\.ts is there already$/m);
  t.match(again, /^14 handlers are left as before\.\nleft as it is: src\/books is there already\n/m);
  t.notMatch(again, ' 501');
  t.strictSame(readFiles(), before, 'a second run changes nothing');
  t.equal(await run(['--eval', ''], false), '');
});

t.test('the last line that `new` prints counts the operations that store records', async (t) => {
  const folder = t.testdir({ openapi: {}, src: {} });
  const here = process.cwd();
  t.teardown(() => process.chdir(here));
  process.chdir(folder);
  const write = () => true;
  const countIn = async (contract: Json, name: string) => {
    writeFileSync(join(folder, name), stringify(contract) as string);
    const writing = { write, generate: ['--eval', ''], test: TEST, hasCollections: true };
    const { table } = await writeService(await loadContract(join(folder, name)), writing);
    return table.find((line) => / stored(:|;|\.)/.test(line));
  };
  t.equal(await countIn(books(), 'all.json'), 'All 6 operations are stored.');
  const one = books(({ paths }) => {
    const { get } = paths['/books/{bookId}'];
    paths['/books/{bookId}'] = { get, parameters: [path('bookId', { type: 'integer', format: 'int64' })] };
    get.parameters = [query('shelf', text, { required: true })];
    delete paths['/books'].get;
  });
  t.equal(await countIn(one, 'one.json'), '1 of 2 operations is stored; the other one answers 501.');
  delete one.paths['/books'];
  t.equal(await countIn(one, 'none.json'), 'No operation is stored: each answers 501.');
});

t.test('`new` prints a condition once if several operations or collections have it', async (t) => {
  const folder = t.testdir({ openapi: {}, src: {} });
  const here = process.cwd();
  t.teardown(() => process.chdir(here));
  process.chdir(folder);
  const alt = query('alt', text);
  const contract = books(({ paths }) => {
    for (const item of Object.values<Json>(paths)) item.parameters = [...(item.parameters ?? []), alt];
  });
  writeFileSync('openapi/books.json', stringify(contract) as string);
  const writing = { write: () => true, generate: ['--eval', ''], test: TEST, hasCollections: true };
  const { table } = await writeService(await loadContract('openapi/books.json'), writing);
  const missing = table.filter((line) => line.startsWith('missing: '));
  t.strictSame(missing, [
    'missing: 501 if the parameter alt is sent (getBook, replaceBook and 4 more)',
    'missing: listBooks answers 501 if the parameter sort is sent',
  ]);
});

t.test(
  'if a list needs more than the record, only the list answers 501, and `generate` succeeds',
  { timeout: 300_000 },
  async (t) => {
    const folder = t.testdir({ openapi: {}, src: {} });
    const here = process.cwd();
    t.teardown(() => process.chdir(here));
    symlinkSync(join(ROOT, 'node_modules'), join(folder, 'node_modules'));
    cpSync(join(ROOT, 'tsconfig.json'), join(folder, 'tsconfig.json'));
    writeFileSync(join(folder, 'package.json'), JSON.stringify({ name: 'books', version: '1.0.0', type: 'module' }));
    const contract = books(({ paths }) => {
      const items = { allOf: [record('Book'), { type: 'object', required: ['note'] }] };
      paths['/books'].get.parameters = [];
      paths['/books'].get.responses[200] = reply({ type: 'array', items });
      for (const item of Object.values<Json>(paths))
        for (const { responses } of Object.values<Json>(item)) if (responses) delete responses.default;
    });
    writeFileSync(join(folder, 'openapi/books.json'), stringify(contract) as string);
    process.chdir(folder);
    writeFileSync('src/errors.ts', 'export const toErrorBody = ({ message }: { message: string }) => ({ message });\n');
    const write = (file: string, content: string) => {
      mkdirSync(join(folder, file, '..'), { recursive: true });
      if (existsSync(file)) return false;
      writeFileSync(file, content);
      return true;
    };
    const generate = [...NODE_ARGS, join(ROOT, 'src/contract-first/cli/main.ts'), 'generate'];
    const writing = { write, generate, test: TEST, hasCollections: true };
    const { table, failure } = await writeService(await loadContract('openapi/books.json'), writing);
    t.equal(failure, undefined);
    t.match(table.join('\n'), /^listBooks .* 501: a stored record may not fit its reply: .*note is missing$/m);
    t.match(table.join('\n'), /^getBook .* stored in src\/books/m);
    const { status, stderr } = spawnSync(process.execPath, generate, { encoding: 'utf8' });
    t.equal(status, 0, stderr);
    t.match(stderr, /^warning: .*operation listBooks: response 200: body: .* may be stored/m);
  },
);

t.test('if `generate` rejects a contract, `new` drops only the collection that the error names', async (t) => {
  const folder = t.testdir({ openapi: {}, src: {} });
  const here = process.cwd();
  t.teardown(() => process.chdir(here));
  writeFileSync(join(folder, 'openapi/books.json'), stringify(contractOfTwo()) as string);
  process.chdir(folder);
  const write = (file: string, content: string) => {
    mkdirSync(join(folder, file, '..'), { recursive: true });
    writeFileSync(file, content);
    return true;
  };
  const reject =
    "const { existsSync } = require('node:fs'); console.error('note: a\\n' + (existsSync('src/shelves') ? 'operation listShelfs: odd' : 'it is full')); process.exit(1);";
  const contract = await loadContract('openapi/books.json');
  const written = await writeService(contract, {
    write,
    generate: ['--eval', reject],
    test: TEST,
    hasCollections: true,
  });
  const table = written.table.join('\n');
  t.match(table, /^getShelf .* 501: generate fails for its collection: operation listShelfs: odd$/m);
  t.match(table, /^getNote .* 501: its parent shelves is not stored$/m);
  t.match(table, /^getBook .* 501: generate fails for its collection: it is full$/m);
  t.strictSame(
    [written.failure, written.tested],
    ['it is full', []],
    'the failure is reported even without a collection, but without the notes',
  );
});
