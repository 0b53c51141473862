/** `new` finds the operations of a resource at the usual deviations from `…/books` with `…/books/{bookId}`. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { stringify } from 'lossless-json';
import t, { type Test } from 'tap';
import { type WrittenCollection, writeCollections } from '../../../src/contract-first/cli/scaffold/collection-files.ts';
import { writeTest } from '../../../src/contract-first/cli/scaffold/written-test.ts';
import { loadContract } from '../../../src/contract-first/contract/read/load-contract.ts';
import type { Json } from '../../any-json.ts';
import { answering, books, json, none, path, query, record, reply, text } from './books-contract.ts';

const int64 = { type: 'integer', format: 'int64' };

async function write(t: Test, edit: Parameters<typeof books>[0]) {
  const file = join(t.testdir(), 'contract.json');
  writeFileSync(file, stringify(books(edit)) as string);
  const contract = await loadContract(file);
  const { collections, reasons } = writeCollections(contract);
  const [first] = collections as [WrittenCollection];
  const test = (one: WrittenCollection | undefined) => one && writeTest(contract, one, collections);
  return { collections, reasons, first, test };
}

/** Moves an operation to another path. */
function move(paths: Json, method: string, from: string, to: string, parameters: Json[] = []): void {
  paths[to] = { ...paths[to], ...(parameters.length > 0 && { parameters }), [method]: paths[from][method] };
  delete paths[from][method];
}

t.test('`new` treats the path /books/ like /books', async (t) => {
  const { first, reasons } = await write(t, ({ paths }) => {
    move(paths, 'get', '/books', '/books/');
    move(paths, 'delete', '/books/{bookId}', '/books/{id}/', [path('id', int64)]);
  });
  t.strictSame([...reasons], []);
  t.match(first.handlers.get('deleteBook'), 'await books.delete(params.id)');
});

t.test(
  '`new` finds the create and the list of a resource at paths such as /books/create, /books/all and /book',
  async (t) => {
    const verbs = await write(t, ({ paths }) => {
      move(paths, 'post', '/books', '/books/create');
      move(paths, 'get', '/books', '/books/all');
    });
    t.strictSame([...verbs.reasons], []);
    const singular = await write(t, ({ paths }) => {
      move(paths, 'post', '/books', '/book');
      paths['/loose/shelf'] = { post: { operationId: 'other', responses: { 201: none } } };
    });
    t.strictSame([...singular.reasons], [['other', 'no resource is at its path']]);
    t.match(singular.test(singular.first), 'created, found, listed, changed, replaced, and deleted');
    const unclear = await write(t, ({ paths, schemas }) => {
      delete paths['/books'].get;
      const list = (operationId: string) => ({
        get: { operationId, responses: { 200: reply({ type: 'array', items: record('Book') }) } },
      });
      Object.assign(paths, { '/books/all': list('all'), '/books/list': list('list'), '/book': list('one') });
      schemas.Book.required = schemas.Book.required.filter((name: string) => name !== 'updatedAt');
    });
    t.match([...unclear.reasons.keys()], ['all', 'list', 'one'], 'if two paths could be the list, neither is');
  },
);

t.test(
  "`new` treats a POST to a record's path as a change of the record only if body and reply contain the record",
  async (t) => {
    const { first, reasons } = await write(t, ({ paths }) => {
      move(paths, 'patch', '/books/{bookId}', '/moved');
      paths['/books/{bookId}'].post = paths['/moved'].patch;
      delete paths['/moved'];
    });
    t.strictSame([...reasons], []);
    t.match(first.handlers.get('changeBook'), 'await books.update(params.bookId, body)');
    const post = (edit: (operation: Json) => void) =>
      write(t, ({ paths }) => {
        const { requestBody, responses } = paths['/books/{bookId}'].patch;
        paths['/books/{bookId}'].post = { operationId: 'postBook', requestBody, responses };
        edit(paths['/books/{bookId}'].post);
      });
    const twice = await post(() => {});
    t.equal(twice.reasons.get('postBook'), 'another operation does the same');
    const reasonOf = async (edit: (operation: Json) => void, isAlone = true) => {
      const found = await write(t, ({ paths }) => {
        const { patch } = paths['/books/{bookId}'];
        if (isAlone) delete paths['/books/{bookId}'].patch;
        paths['/books/{bookId}'].post = { ...patch, operationId: 'postBook' };
        edit(paths['/books/{bookId}'].post);
      });
      return found.reasons.get('postBook');
    };
    t.equal(await reasonOf((one) => delete one.requestBody), 'no resource is at its path');
    t.match(
      await reasonOf((one) => {
        one.requestBody = { required: true, ...json({ type: 'object', properties: { days: int64 } }) };
      }),
      'it may be an action: its body has days, and Book does not',
    );
    t.match(
      await reasonOf((one) => {
        one.requestBody = {
          required: true,
          content: { 'application/x-www-form-urlencoded': { schema: record('NewBook') } },
        };
      }),
      'its body is not JSON',
    );
    for (const schema of [
      { type: 'array', items: record('Book') },
      { type: 'object', properties: { days: int64 } },
    ])
      t.match(
        await reasonOf((one) => {
          one.responses = { 200: reply(schema) };
        }),
        'it may be an action: its reply is not a Book',
      );
  },
);

/** Books with notes that have their own path: `/books/{bookId}/notes` and `/notes/{id}`. */
function notes(edit: (paths: Json) => void = () => {}): Parameters<typeof books>[0] {
  return ({ paths, schemas }) => {
    schemas.Note = { type: 'object', required: ['id', 'text'], properties: { id: int64, text } };
    const requestBody = {
      required: true,
      ...json({ type: 'object', required: ['text'], properties: { text } }),
    };
    const one = answering('Note');
    paths['/books/{bookId}/notes'] = {
      parameters: [path('bookId', int64)],
      get: { operationId: 'listNotes', responses: { 200: reply({ type: 'array', items: record('Note') }) } },
      post: one('createNote', { requestBody }),
    };
    paths['/notes/{id}'] = {
      parameters: [path('id', int64)],
      get: one('getNote'),
      patch: one('changeNote', { requestBody }),
      delete: { operationId: 'deleteNote', responses: { 204: none } },
    };
    edit(paths);
  };
}

t.test(
  '`new` writes the handler of /notes/{id} even if the create and list of notes are at /books/{bookId}/notes',
  async (t) => {
    const { collections, reasons, test } = await write(t, notes());
    t.strictSame([...reasons], []);
    const found = collections.find(({ name }) => name === 'notes');
    t.match(found?.files.get('src/notes/domain.ts'), "bookId: { type: 'int64', of: 'books', onDelete: 'delete' }");
    const LINES: Record<string, string> = {
      createNote: 'notes.create({ ...body, bookId: params.bookId })',
      listNotes: 'notes.list({ limit: 10000, bookId: params.bookId })',
      getNote: 'await notes.get(params.id)',
      changeNote: 'await notes.update(params.id, body)',
      deleteNote: 'await notes.delete(params.id)',
    };
    for (const [id, line] of Object.entries(LINES)) t.match(found?.handlers.get(id), line);
    t.match(test(found), 'client.createNote({ params: { bookId: parent.id }, ');
    t.match(test(found), 'client.getNote({ params: { id: record.id } })');
  },
);

t.test('`new` does not store records whose create and list have different parents, or with two creates', async (t) => {
  const shelf = [path('shelf', int64)];
  const other = await write(
    t,
    notes((paths) => move(paths, 'get', '/books/{bookId}/notes', '/shelves/{shelf}/notes', shelf)),
  );
  t.equal(other.reasons.get('listNotes'), 'its path has other ids than elsewhere');
  const without = await write(
    t,
    notes((paths) => {
      paths['/notes'] = { post: paths['/books/{bookId}/notes'].post };
      delete paths['/books/{bookId}/notes'].post;
    }),
  );
  t.equal(without.reasons.get('listNotes'), 'its path has other ids than elsewhere');
  const two = await write(
    t,
    notes((paths) => {
      const { post } = paths['/books/{bookId}/notes'];
      paths['/shelves/{shelf}/notes'] = { parameters: shelf, post: { ...post, operationId: 'createOther' } };
    }),
  );
  t.equal(two.reasons.get('getNote'), 'no operation creates its records');
  const far = await write(
    t,
    notes((paths) => {
      paths['/of/{x}/the/notes/{id}'] = {
        parameters: [path('x', text), path('id', int64)],
        get: { ...paths['/notes/{id}'].get, operationId: 'getFar' },
      };
    }),
  );
  t.equal(far.reasons.get('getFar'), 'no operation creates its records');
});

/** Only a list and a create of notes, of a book or of all books. */
function remarks(edit: (parts: { paths: Json; note: Json; body: Json }) => void = () => {}, at = '/remarks') {
  return ({ paths, schemas }: { paths: Json; schemas: Json }) => {
    const note: Json = { type: 'object', required: ['text'], properties: { text } };
    const body: Json = { type: 'object', required: ['text'], properties: { text, recordId: text } };
    schemas.Remark = note;
    paths[at] = {
      ...(at.includes('{') && { parameters: [path('bookId', int64)] }),
      get: { operationId: 'listRemarks', responses: { 200: reply({ type: 'array', items: record('Remark') }) } },
      post: {
        operationId: 'addRemark',
        requestBody: { required: true, ...json(body) },
        responses: { 201: reply(record('Remark')) },
      },
    };
    edit({ paths, note, body });
  };
}

t.test(
  '`new` stores records with only a create and a list, and adds an internal id if the contract has none',
  async (t) => {
    const { collections, reasons, test } = await write(t, remarks());
    t.strictSame([...reasons], []);
    const found = collections.find(({ name }) => name === 'remarks');
    t.match(found?.files.get('src/remarks/domain.ts'), "recordIdOfStore: { type: 'int64', set: 'id' }");
    t.match(found?.handlers.get('addRemark'), 'await remarks.create(body)');
    t.match(found?.handlers.get('listRemarks'), 'await remarks.list({ limit: 10000 })');
    t.match(test(found), 'a record of remarks is created and listed');
    t.match(test(found), 'assert.deepEqual(listed.body, [record]);');
    const inside = await write(
      t,
      remarks(({ note }) => {
        note.properties.id = int64;
        note.required.push('id');
      }, '/books/{bookId}/remarks'),
    );
    const own = inside.collections.find(({ name }) => name === 'remarks');
    t.match(own?.files.get('src/remarks/domain.ts'), "    id: { type: 'int64', set: 'id' }");
    t.match(own?.handlers.get('listRemarks'), 'remarks.list({ limit: 10000, bookId: params.bookId })');
    t.match(inside.test(own), 'one.id === record.id');
  },
);

t.test('`new` does not store records that no operation lists, or whose create contains no field of them', async (t) => {
  const reasonsOf = async (edit: Parameters<typeof remarks>[0]) => (await write(t, remarks(edit))).reasons;
  const unlisted = await reasonsOf(({ paths }) => {
    paths['/remarks'].get.parameters = [{ ...query('q', text), required: true }];
  });
  t.equal(unlisted.get('addRemark'), 'nothing shows its records: its parameter q is not understood');
  const other = await reasonsOf(({ body }) => {
    body.properties = { days: int64 };
    delete body.required;
  });
  t.equal(other.get('addRemark'), 'no field of Remark is in the body of addRemark');
  const alone = await reasonsOf(({ paths }) => delete paths['/remarks'].get);
  t.equal(alone.get('addRemark'), 'no resource is at its path');
});
