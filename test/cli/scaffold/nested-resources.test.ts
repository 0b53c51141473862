/** `new` stores records below a parent's path, and separates the records of different parents. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { stringify } from 'lossless-json';
import t, { type Test } from 'tap';
import { writeCollections } from '../../../src/contract-first/cli/scaffold/collection-files.ts';
import { loadContract } from '../../../src/contract-first/contract/read/load-contract.ts';
import type { Json } from '../../any-json.ts';
import { answering, books, json, none, path, record, reply, text } from './books-contract.ts';

const int64 = { type: 'integer', format: 'int64' };

/** Returns a contract of books with notes at `/books/{bookId}/notes/{noteId}`. */
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
    const one = answering('Note');
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
  return { found, reasons, all: collections, domain: `${found?.files.get('src/notes/domain.ts')}` };
}

t.test("if a record's path begins with a parent's, `new` lets the store delete it with its parent", async (t) => {
  const { found, domain } = await written(t, notes());
  t.equal(found?.plan.parent?.name, 'books');
  t.match(domain, "bookId: { type: 'int64', of: 'books', onDelete: 'delete' }");
  t.match(domain, "lists: { always: ['bookId'] }");
  t.match(domain, "Description<'Note', 'bookId'>");
  t.match(found?.files.get('src/notes/migrations/sqlite/0001-notes.sql'), /REFERENCES books \(id\) ON DELETE CASCADE/);
});

t.test('each handler that `new` writes checks that the record belongs to the parent in the path', async (t) => {
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

t.test("if a record has a field with its parent's id, the handlers answer 400 to a body with another id", async (t) => {
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

t.test(
  "`new` handles a parent's id that is a text in the path but a number in the parent, and that shares a field's name",
  async (t) => {
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
  },
);

t.test('a PUT handler that `new` writes takes the id of the record and of its parent from the path', async (t) => {
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

t.test('a PUT handler that `new` writes ignores an id in the body, and accepts a UUID of a parent', async (t) => {
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

/** Moves the notes to another path. */
function move(paths: Json, from: string, to: string, parameters: Json[]): void {
  for (const end of ['', '/{noteId}']) {
    const item = paths[from + end];
    delete paths[from + end];
    const [own] = item.parameters.slice(-1);
    paths[to + end] = { ...item, parameters: [...parameters, ...(end ? [own] : [])] };
  }
}

t.test('if a path begins with the id of an unstored resource, each such id has its own records', async (t) => {
  const { found, domain, reasons } = await written(
    t,
    notes(({ paths }) =>
      move(paths, '/books/{bookId}/notes', '/shelves/{shelf}/racks/{rack-no}/notes', [
        path('shelf', text),
        path('rack-no', int64),
      ]),
    ),
  );
  t.strictSame([...reasons], []);
  t.match(domain, "shelf: { type: 'text' },\n    rackNo: { type: 'int64' }");
  t.match(domain, "lists: { always: ['shelf', 'rackNo'] }");
  const LINES: Record<string, string> = {
    listNotes: 'notes.list({ limit: 10000, shelf: params.shelf, rackNo: params.rack_no })',
    createNote: 'notes.create({ ...body, shelf: params.shelf, rackNo: params.rack_no })',
    getNote: 'if (!note || note.shelf !== params.shelf || note.rackNo !== params.rack_no)',
    changeNote: '{ if: { shelf: params.shelf, rackNo: params.rack_no } }',
    deleteNote: '{ if: { shelf: params.shelf, rackNo: params.rack_no } }',
  };
  for (const [id, line] of Object.entries(LINES)) t.match(found?.handlers.get(id), line);
  t.match(found?.assumed, ['notes: any shelf in the path is accepted, and has its own records']);
});

t.test('a handler that `new` writes sets a required field from the path parameter with the same name', async (t) => {
  const { found, domain, reasons } = await written(
    t,
    notes(({ paths, note, body }) => {
      Object.assign(note.properties, { shelf_id: text, createdAt: { ...text, format: 'date-time' } });
      note.required.push('shelf_id');
      body.properties['rack-no'] = text;
      move(paths, '/books/{bookId}/notes', '/shelves/{shelfId}/{rack-no}/notes', [
        path('shelfId', text),
        path('rack-no', text),
      ]);
    }),
  );
  t.strictSame([...reasons], []);
  t.match(found?.handlers.get('createNote'), 'shelf_id: params.shelfId, rackNo: params.rack_no }');
  t.match(domain, "shelf_id: { type: 'text' }");
  const taken = await written(
    t,
    notes(({ paths, body }) => {
      body.properties.shelf = text;
      move(paths, '/books/{bookId}/notes', '/shelves/{shelf}/notes', [path('shelf', text)]);
    }),
  );
  t.match(taken.domain, "shelfInPath: { type: 'text' }");
  const unnamed = await written(
    t,
    notes(({ paths }) => move(paths, '/books/{bookId}/notes', '/shelves/{_}/notes', [path('_', text)])),
  );
  t.match(unnamed.domain, "inPath: { type: 'text' }");
});

t.test('if no operation creates a parent, the handlers that `new` writes accept any id of a parent', async (t) => {
  const { found } = await written(
    t,
    notes(({ paths }) => delete paths['/books'].post),
  );
  t.match(found?.assumed, ['notes: any bookId in the path is accepted, and has its own records']);
});

t.test('if a parent has a parent itself, the handlers that `new` writes check both ids in the path', async (t) => {
  const { reasons, all } = await written(
    t,
    notes(({ paths, schemas }) => {
      schemas.Mark = schemas.Note;
      const marks = JSON.parse(
        JSON.stringify(paths['/books/{bookId}/notes'])
          .replaceAll('Notes', 'Marks')
          .replaceAll('NewNote', 'OldNote')
          .replaceAll('Note', 'Mark')
          .replaceAll('OldMark', 'NewNote'),
      );
      const mark = JSON.parse(
        JSON.stringify(paths['/books/{bookId}/notes/{noteId}'])
          .replaceAll('NewNote', 'OldNote')
          .replaceAll('Note', 'Mark')
          .replaceAll('OldMark', 'NewNote'),
      );
      const owners = [path('bookId', int64), path('noteId', int64)];
      paths['/books/{bookId}/notes/{noteId}/marks'] = { ...marks, parameters: owners };
      paths['/books/{bookId}/notes/{noteId}/marks/{markId}'] = {
        ...mark,
        parameters: [...owners, path('markId', int64)],
      };
    }),
  );
  t.strictSame([...reasons], []);
  const marks = all.find(({ name }) => name === 'marks');
  for (const id of ['createMark', 'listMarks']) {
    t.match(marks?.handlers.get(id), 'const parent = await notes.read(params.noteId);');
    t.match(marks?.handlers.get(id), 'if (!parent || parent.bookId !== params.bookId)');
  }
  t.match(marks?.handlers.get('getMark'), '!mark || mark.noteId !== params.noteId || mark.bookId !== params.bookId');
});

t.test('`new` does not store a resource if an id in its path has different types in two operations', async (t) => {
  const { reasons } = await written(
    t,
    notes(({ paths }) => {
      move(paths, '/books/{bookId}/notes', '/shelves/{shelf}/notes', [path('shelf', text)]);
      paths['/shelves/{shelf}/notes/{noteId}'].parameters[0] = path('shelf', int64);
    }),
  );
  t.match([...reasons.values()].join('\n'), '{shelf} in its path has another type than elsewhere');
});
