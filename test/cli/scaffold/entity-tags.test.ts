/** `new` writes handlers that honour `If-Match` and `If-None-Match`, by the revision of a record. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { stringify } from 'lossless-json';
import t, { type Test } from 'tap';
import { openSandbox } from '../../../src/contract-first/cli/sandbox/sandbox.ts';
import { writeCollections } from '../../../src/contract-first/cli/scaffold/collection-files.ts';
import { writeTest } from '../../../src/contract-first/cli/scaffold/written-test.ts';
import { loadContract } from '../../../src/contract-first/contract/read/load-contract.ts';
import type { Json } from '../../any-json.ts';
import { type books, none, record, reply, taggedBooks, text } from './books-contract.ts';

const header = (name: string, others = {}) => ({ name, in: 'header', schema: text, ...others });

type Edit = Parameters<typeof books>[0];

const save = (t: Test, contract: Json) => {
  const file = join(t.testdir(), 'contract.json');
  writeFileSync(file, stringify(contract) as string);
  return file;
};

async function written(t: Test, edit?: Edit, isAssuming = false) {
  const contract = await loadContract(save(t, taggedBooks(edit)));
  const { collections, reasons } = writeCollections(contract, { isAssuming });
  const [collection] = collections;
  return {
    reasons,
    domain: `${collection?.files.get('src/books/domain.ts')}`,
    handlerOf: (id: string) => `${collection?.handlers.get(id) ?? [...reasons]}`,
    unknown: (collection?.plan.unknown ?? []).map(({ id, when }) => `${id}: ${when}`),
    test: collection && writeTest(contract, collection, collections),
  };
}

t.test(
  '`sandbox` answers 304 to a GET with a current If-None-Match, and 412 to a change with an outdated If-Match',
  async (t) => {
    for (const edit of [undefined, ({ book }: Json) => withoutRevision(book)] as Edit[]) {
      const { origin, close } = await openSandbox(save(t, taggedBooks(edit)), { port: 0, hasKeys: false }, () => {});
      t.teardown(close);
      const send = async (method: string, path: string, headers: Record<string, string> = {}, body?: object) => {
        const sent = { method, headers: { ...headers, ...(body && { 'content-type': 'application/json' }) } };
        const {
          status,
          headers: got,
          ...others
        } = await fetch(origin + path, {
          ...sent,
          ...(body && { body: JSON.stringify(body) }),
        });
        return { status, tag: got.get('etag'), others };
      };
      const made = await send('POST', '/books', {}, { title: 'Emma' });
      t.match(made, { status: 201, tag: '"1"' });
      t.match(await send('GET', '/books/1'), { status: 200, tag: '"1"' });
      t.match(await send('GET', '/books/1', { 'if-none-match': 'W/"1"' }), { status: 304, tag: '"1"' });
      t.match(await send('PATCH', '/books/1', { 'if-match': '"1"' }, { title: 'Persuasion' }), {
        status: 200,
        tag: '"2"',
      });
      t.match(await send('GET', '/books/1', { 'if-none-match': '"1"' }), { status: 200, tag: '"2"' });
      t.match(await send('PATCH', '/books/1', { 'if-match': '"1"' }, { title: 'Sanditon' }), { status: 412 });
      t.match(await send('PUT', '/books/1', { 'if-match': '"1"' }, { title: 'Sanditon' }), { status: 412 });
      t.match(await send('PUT', '/books/1', {}, { title: 'Sanditon' }), { status: 400 }, 'If-Match is required here');
      t.match(await send('DELETE', '/books/1', { 'if-match': '"1"' }), { status: 412 });
      const { title } = (await (await fetch(`${origin}/books/1`)).json()) as { title: string };
      t.equal(title, 'Persuasion');
      t.match(await send('PUT', '/books/1', { 'if-match': '*' }, { title: 'Sanditon' }), { status: 200, tag: '"3"' });
      t.match(await send('PATCH', '/books/1', {}, { title: 'Emma' }), { status: 200, tag: '"4"' });
      t.match(await send('DELETE', '/books/1', { 'if-match': '"3", "4"' }), { status: 204 });
      t.match(await send('DELETE', '/books/1', { 'if-match': '"4"' }), { status: 404 });
    }
  },
);

function withoutRevision(book: Json): void {
  delete book.properties.revision;
  book.required = book.required.filter((name: string) => name !== 'revision');
}

t.test(
  "a handler that `new` writes compares If-Match with the record's revision, which may be in an internal column",
  async (t) => {
    const { handlerOf, domain, unknown } = await written(t);
    t.match(domain, "revision: { type: 'int64', set: 'revision' }");
    t.notMatch(domain, 'internal');
    t.strictSame(unknown, ['listBooks: the parameter sort is sent']);
    const LINES: Record<string, string[]> = {
      createBook: ['ETag: toTag(book.revision)', "Location: urlOf('getBook'"],
      getBook: ["if (isUnchanged(headers['If-None-Match'], book.revision)) return { status: 304, headers: { ETag:"],
      changeBook: [
        "{ if: ifMatch(headers['If-Match'] ?? '*') }",
        "if (isRefused(book) && book.refused === 'changed') return refuse('precondition_failed'",
      ],
      replaceBook: ["{ if: ifMatch(headers['If-Match']) }"],
      deleteBook: ["books.delete(params.bookId, { if: ifMatch(headers['If-Match'] ?? '*') })"],
    };
    for (const [id, lines] of Object.entries(LINES))
      for (const line of lines) t.ok(handlerOf(id).includes(line), `${line} in ${handlerOf(id)}`);
    const hidden = await written(t, ({ book, body }) => {
      withoutRevision(book);
      body.properties.revision = text;
    });
    t.match(
      hidden.domain,
      "revision: { type: 'text', isOptional: true },\n    storedRevision: { type: 'int64', set: 'revision' }",
    );
    t.match(hidden.handlerOf('changeBook'), "{ if: ifMatch(headers['If-Match'] ?? '*', 'storedRevision') }");
    const optional = await written(t, ({ book }) => {
      book.required = book.required.filter((name: string) => name !== 'revision');
    });
    t.match(optional.domain, "revision: { type: 'int64', isOptional: true }");
    t.match(optional.domain, "storedRevision: { type: 'int64', set: 'revision' }");
  },
);

t.test('if the contract declares 428, the handler that `new` writes answers 428 if If-Match is missing', async (t) => {
  const { handlerOf, test } = await written(t, ({ paths }) => {
    paths['/books/{bookId}'].patch.responses[428] = reply(record('Failure'));
  });
  t.match(
    handlerOf('changeBook'),
    "if (headers['If-Match'] === undefined) return refuse('precondition_required', 'Send If-Match.');",
  );
  t.match(handlerOf('changeBook'), "{ if: ifMatch(headers['If-Match']) }");
  t.match(test, "client.changeBook({ params: { bookId: record.id }, headers: { 'If-Match': '*' }, body: ");
});

t.test('a handler that `new` writes spells headers as the contract does, and sends only declared ones', async (t) => {
  const { handlerOf } = await written(t, ({ paths }) => {
    const { get, patch } = paths['/books/{bookId}'];
    get.parameters = [header('if-none-match')];
    get.responses[200].headers = { etag: { schema: text } };
    get.responses[304] = none;
    patch.responses[200] = reply(record('Book'));
    delete patch.responses[412];
    delete patch.responses.default;
  });
  t.match(handlerOf('getBook'), "if (isUnchanged(headers['if-none-match'], book.revision)) return { status: 304 };");
  t.match(handlerOf('getBook'), 'headers: { etag: toTag(book.revision) }');
  t.match(handlerOf('changeBook'), 'return { status: 200, body: book };');
  t.match(
    handlerOf('changeBook'),
    "if (isRefused(book) && book.refused === 'changed') throw new HttpError('precondition_failed'",
  );
});

t.test(
  '`new` writes a handler that answers 501 if an ETag or If-Match has an unusual schema or 304 is not declared',
  async (t) => {
    const { handlerOf, unknown, test } = await written(t, ({ paths }) => {
      const { get, patch, put, delete: remove } = paths['/books/{bookId}'];
      delete get.responses[304];
      patch.parameters = [header('If-Match', { schema: { type: 'integer' } })];
      put.parameters = [header('If-Match', { required: true, schema: { ...text, pattern: '^W/' } })];
      remove.responses[204] = { ...none, headers: { ETag: { required: true, schema: text } } };
    });
    t.strictSame(
      unknown.filter((one) => /getBook|changeBook/.test(one)),
      ['getBook: the parameter If-None-Match is sent', 'changeBook: the parameter If-Match is sent'],
    );
    t.match(handlerOf('replaceBook'), 'its parameter If-Match is not understood');
    t.match(handlerOf('deleteBook'), 'the header ETag of its reply comes from nowhere');
    t.notMatch(test, /304|412/);
    const others = await written(t, ({ paths }) => {
      const { get, patch } = paths['/books/{bookId}'];
      get.responses[304] = { ...none, headers: { 'X-Odd': { required: true, schema: text } } };
      patch.responses[200].headers = { ETag: { required: true, content: { 'text/plain': { schema: text } } } };
    });
    t.match(others.handlerOf('getBook'), 'the header X-Odd of its reply comes from nowhere');
    t.match(others.handlerOf('changeBook'), 'the header ETag of its reply comes from nowhere');
  },
);

t.test('even with `--assume`, `new` writes no handler that ignores a required If-Match', async (t) => {
  const { handlerOf } = await written(
    t,
    ({ paths }) => {
      paths['/books'].get.parameters.push(header('If-Match', { required: true }));
    },
    true,
  );
  t.match(handlerOf('listBooks'), 'its parameter If-Match is not understood');
});

t.test(
  'a handler that `new` writes reads a record before it changes or deletes it, if the path has a parent',
  async (t) => {
    const { handlerOf } = await written(t, ({ paths }) => {
      const { delete: remove } = paths['/books/{bookId}'];
      delete remove.responses[204];
      remove.responses[200] = reply(record('Book'));
    });
    t.match(handlerOf('deleteBook'), "if (book === undefined) return refuse('not_found'");
    t.match(
      handlerOf('deleteBook'),
      "if ((await books.delete(params.bookId, { if: ifMatch(headers['If-Match'] ?? '*') })) !== true) return refuse('precondition_failed'",
    );
    const inShelf = await written(t, ({ paths }) => {
      for (const from of ['/books', '/books/{bookId}']) {
        const { parameters = [], ...item } = paths[from];
        paths[`/shelves/{shelf}${from}`] = {
          ...item,
          parameters: [{ name: 'shelf', in: 'path', required: true, schema: text }, ...parameters],
        };
        delete paths[from];
      }
    });
    t.strictSame([...inShelf.reasons], []);
    for (const id of ['changeBook', 'replaceBook', 'deleteBook'])
      t.match(
        inShelf.handlerOf(id),
        /const (found|book) = await books\.read\(params\.bookId\);\n {2}if \(!\1 \|\| \1\.shelf !== params\.shelf\)/,
      );
    t.match(inShelf.handlerOf('changeBook'), "{ if: { shelf: params.shelf, ...ifMatch(headers['If-Match'] ?? '*') } }");
    t.match(inShelf.handlerOf('getBook'), 'if (!book || book.shelf !== params.shelf)');
  },
);

t.test('the test that `new` writes expects 412 for an outdated If-Match, and 304 for If-None-Match: *', async (t) => {
  const { test } = await written(t);
  for (const line of [
    "client.getBook({ params: { bookId: record.id }, headers: { 'If-None-Match': '*' } })",
    'assert.equal(unchanged.status, 304);',
    `headers: { 'If-Match': '\\"0\\"' }`,
    'assert.equal(outdatedChanged.status, 412);',
    'assert.equal(outdatedDeleted.status, 412);',
    "client.replaceBook({ params: { bookId: record.id }, headers: { 'If-Match': '*' }, body:",
  ])
    t.ok(`${test}`.includes(line), `${line} in ${test}`);
});
