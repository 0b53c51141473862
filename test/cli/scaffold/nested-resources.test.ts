/** `new` stores records with a parent in their path, and keeps those of different parents apart. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { stringify } from 'lossless-json';
import t, { type Test } from 'tap';
import { writeCollections } from '../../../src/contract-first/cli/scaffold/collection-files.ts';
import { loadContract } from '../../../src/contract-first/contract/read/load-contract.ts';
import type { Json } from '../../any-json.ts';
import { books, json, none, path, record, reply, text } from './books-contract.ts';

const int64 = { type: 'integer', format: 'int64' };

/** Books with notes: `/books/{bookId}/notes/{noteId}`. */
function notes(edit: (parts: { paths: Json; note: Json; body: Json; schemas: Json }) => void = () => {}): Json {
  return books(({ paths, schemas }) => {
    const note: Json = {
      type: 'object',
      required: ['id', 'text'],
      properties: { id: int64, text, tags: { type: 'array', items: text } },
    };
    const body: Json = { type: 'object', required: ['text'], properties: { text, tags: note.properties.tags } };
    Object.assign(schemas, { Note: note, NewNote: body });
    const requestBody = { required: true, ...json(record('NewNote')) };
    const one = (operationId: string, others = {}) => ({
      operationId,
      ...others,
      responses: { 200: reply(record('Note')), default: reply(record('Failure')) },
    });
    paths['/books/{bookId}/notes'] = {
      parameters: [path('bookId', int64)],
      get: { ...one('listNotes'), responses: { 200: reply({ type: 'array', items: record('Note') }) } },
      post: {
        ...one('createNote', { requestBody }),
        responses: { 201: reply(record('Note'), { headers: { Location: { schema: text } } }) },
      },
    };
    paths['/books/{bookId}/notes/{noteId}'] = {
      parameters: [path('bookId', int64), path('noteId', int64)],
      get: one('getNote'),
      patch: one('changeNote', { requestBody }),
      put: one('replaceNote', { requestBody }),
      delete: { operationId: 'deleteNote', responses: { 204: none } },
    };
    edit({ paths, note, body, schemas });
  });
}

async function written(t: Test, contract: Json) {
  const file = join(t.testdir(), 'contract.json');
  writeFileSync(file, stringify(contract) as string);
  const { collections, reasons } = writeCollections(await loadContract(file));
  const found = collections.find(({ name }) => name === 'notes');
  return { found, reasons, domain: `${found?.files.get('src/notes/domain.ts')}` };
}

t.test('a record refers to the parent in its path, and is deleted with it', async (t) => {
  const { found, domain } = await written(t, notes());
  t.equal(found?.plan.parent?.name, 'books');
  t.match(domain, "bookId: { type: 'int64', of: 'books', onDelete: 'delete' }");
  t.match(domain, "lists: { always: ['bookId'] }");
  t.match(domain, "Description<'Note', 'bookId'>");
  t.match(found?.files.get('src/notes/migrations/sqlite/0001-notes.sql'), /REFERENCES books \(id\) ON DELETE CASCADE/);
});

t.test('each operation of a record checks that the record belongs to the parent in the path', async (t) => {
  const { found } = await written(t, notes());
  const LINES: Record<string, string[]> = {
    listNotes: ['!(await books.get(params.bookId))', 'notes.list({ limit: 10000, bookId: params.bookId })'],
    createNote: [
      'notes.create({ ...body, bookId: params.bookId })',
      'if (isRefused(note)) throw',
      "urlOf('getNote', { bookId: params.bookId, noteId: note.id })",
    ],
    getNote: ['await notes.read(params.noteId)', '!note || note.bookId !== params.bookId'],
    changeNote: ['{ if: { bookId: params.bookId } }', "note.refused === 'changed'"],
    replaceNote: ['notes.replace(params.noteId, { ...body, bookId: params.bookId }, { if: { bookId'],
    deleteNote: ['(await notes.delete(params.noteId, { if: { bookId: params.bookId } })) !== true'],
  };
  for (const [id, lines] of Object.entries(LINES))
    for (const line of lines) t.ok(found?.handlers.get(id)?.includes(line), `${line} in ${found?.handlers.get(id)}`);
});

t.test("a field with the parent's id becomes the reference; a body with another id is a 400", async (t) => {
  const { found, domain } = await written(
    t,
    notes(({ note, body, paths }) => {
      note.properties['book-id'] = body.properties['book-id'] = int64;
      note.required.push('book-id');
      paths['/books/{bookId}/notes/{noteId}'].delete.responses = { 200: reply(record('Note')) };
    }),
  );
  t.match(domain, "'book-id': { column: 'book_id', type: 'int64', of: 'books', onDelete: 'delete' }");
  t.notMatch(domain, 'internal');
  const other = "body['book-id'] !== undefined && body['book-id'] !== params.bookId";
  t.match(found?.handlers.get('createNote'), other);
  t.match(found?.handlers.get('changeNote'), other);
  t.match(found?.handlers.get('deleteNote'), "!note || note['book-id'] !== params.bookId || !(await notes.delete(");
});

t.test("the parent's id may be a text in the path, or have the name of another field", async (t) => {
  const { found, domain } = await written(
    t,
    notes(({ note, paths }) => {
      Object.assign(note.properties, { bookId: text });
      for (const at of ['/books/{bookId}/notes', '/books/{bookId}/notes/{noteId}'])
        paths[at].parameters[0] = path('bookId', text);
    }),
  );
  t.match(domain, "bookIdInPath: { type: 'int64', of: 'books', onDelete: 'delete' }");
  t.match(found?.handlers.get('getNote'), 'const parentId = parseInt64(params.bookId);');
  t.match(found?.handlers.get('getNote'), 'There is no book with this id.');
});

t.test("replacing a record stores its own id and the parent's id", async (t) => {
  const { found } = await written(
    t,
    notes(({ note, body, paths }) => {
      note.properties.id = body.properties.id = { ...text, format: 'uuid' };
      paths['/books/{bookId}/notes/{noteId}'].parameters[1] = path('noteId', { ...text, format: 'uuid' });
    }),
  );
  t.match(found?.handlers.get('createNote'), '{ ...body, id: body.id ?? randomUUID(), bookId: params.bookId }');
  t.match(found?.handlers.get('createNote'), "isRefused(note) && note.refused === 'no_such_books'");
  t.match(found?.handlers.get('replaceNote'), '{ ...body, id: params.noteId, bookId: params.bookId }');
});

t.test('a body may contain the id that the store sets, and a parent may have a UUID', async (t) => {
  const { found, domain } = await written(
    t,
    notes(({ note, body, paths, schemas }) => {
      const uuid = { ...text, format: 'uuid' };
      schemas.Book.properties.id = uuid;
      note.properties.bookId = uuid;
      note.required.push('bookId');
      schemas.OtherNote = { ...body, properties: { ...body.properties, id: int64 } };
      for (const at of Object.keys(paths))
        if (paths[at].parameters) paths[at].parameters[0] = path('bookId', { ...text, format: 'uuid' });
      paths['/books/{bookId}/notes/{noteId}'].put.requestBody = { required: true, ...json(record('OtherNote')) };
    }),
  );
  t.match(domain, "bookId: { type: 'uuid', of: 'books', onDelete: 'delete' }");
  t.match(found?.handlers.get('replaceNote'), 'notes.replace(params.noteId, { ...changes, bookId: params.bookId }, {');
});

t.test('if the parents are not stored, a reason tells why their records are not stored either', async (t) => {
  const CASES: [reason: string, edit: Parameters<typeof notes>[0]][] = [
    ['its parent books is not stored', ({ paths }) => delete paths['/books'].post],
    [
      'its parent /shelves/{bookId} is not stored',
      ({ paths }) => {
        for (const end of ['', '/{noteId}']) {
          paths[`/shelves/{bookId}/notes${end}`] = paths[`/books/{bookId}/notes${end}`];
          delete paths[`/books/{bookId}/notes${end}`];
        }
      },
    ],
    [
      'its path has the ids of several parents',
      ({ paths }) => {
        paths['/books/{bookId}/notes/{noteId}/marks/{markId}'] = {
          parameters: ['bookId', 'noteId', 'markId'].map((name) => path(name, text)),
          get: { operationId: 'getMark', responses: { 200: reply(record('Note')) } },
        };
      },
    ],
  ];
  for (const [reason, edit] of CASES) {
    const { reasons } = await written(t, notes(edit));
    t.match([...reasons.values()].join('\n'), reason);
  }
});
