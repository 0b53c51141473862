/**
 * `new` finds records in any body, alone or in an envelope, with or without a named schema. Written handlers make ids
 * in the contract's form.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { stringify } from 'lossless-json';
import t, { type Test } from 'tap';
import { writeCollections } from '../../../src/contract-first/cli/scaffold/collection-files.ts';
import { loadContract } from '../../../src/contract-first/contract/read/load-contract.ts';
import type { Json } from '../../any-json.ts';
import { books, json, path, query, record, text } from './books-contract.ts';

type Edit = Parameters<typeof books>[0];

async function written(t: Test, edit: Edit) {
  const file = join(t.testdir(), 'contract.json');
  writeFileSync(file, stringify(books(edit)) as string);
  const { collections, reasons } = writeCollections(await loadContract(file));
  const [collection] = collections;
  const files = [...(collection?.files ?? []), ...(collection?.handlers ?? [])].map(([, source]) => source);
  return {
    reasons,
    all: collections,
    domain: collection?.files.get('src/books/domain.ts'),
    text: [...files, ...reasons.values()].join('\n'),
  };
}

const object = (properties: Json, required = Object.keys(properties)) => ({ type: 'object', required, properties });
const flag = { type: 'boolean' };
const integer = { type: 'integer' };
const all = { type: 'array', items: record('Book') };
/** Returns an edit that puts all replies with books into envelopes. */
const inEnvelope =
  (toSchema: (book: Json) => Json, toList = toSchema): Edit =>
  ({ paths }) => {
    const [own, item] = [paths['/books'], paths['/books/{bookId}']];
    for (const one of [
      own.post.responses[201],
      item.get.responses[200],
      item.patch.responses[200],
      item.put.responses[200],
    ])
      Object.assign(one, json(toSchema(record('Book'))));
    Object.assign(own.get.responses[200], json(toList(all)));
  };

t.test('`new` finds the record in a reply such as { "data": … }, and writes handlers that send it so', async (t) => {
  const CASES: [lines: string[], edit: Edit][] = [
    [
      ['body: { book: book }', 'body: { books: page.body.read() }'],
      inEnvelope(
        (book) => object({ book }),
        (books) => object({ books }),
      ),
    ],
    [
      ["body: { success: true, message: 'Done.', data: book }", 'data: { items: page.body.read(), total: page.total }'],
      inEnvelope(
        (data) => object({ success: flag, message: text, data }),
        (items) => object({ success: flag, message: text, data: object({ items, total: integer }) }),
      ),
    ],
    [
      ["code: 200, status: 'ok', kind: 'book', error: null, timestamp: new Date().toISOString(), result: book"],
      inEnvelope((result) =>
        object({
          code: integer,
          status: { ...text, enum: ['ok'] },
          kind: { const: 'book' },
          error: { type: ['string', 'null'] },
          timestamp: { ...text, format: 'date-time' },
          result,
        }),
      ),
    ],
    [
      ['data: page.body.read(), meta: { page: query.page ?? 1, total: page.total }'],
      inEnvelope(
        (data) => object({ data }),
        (data) => object({ data, meta: object({ page: integer, total: integer }) }),
      ),
    ],
    [
      ['body: { data: book }'],
      inEnvelope((data) => object({ data, links: object({ self: text }), note: text }, ['data'])),
    ],
    [
      ['the field links of its reply comes from nowhere'],
      inEnvelope((data) => object({ data, links: object({ self: text }) })),
    ],
    [
      ['the field kind of its reply comes from nowhere'],
      inEnvelope((data) => object({ data, kind: { ...text, enum: ['a', 'b'] } })),
    ],
    [['the field note of its reply comes from nowhere'], inEnvelope((data) => object({ data, note: text }))],
    [
      ['next: page.next ?? null'],
      ({ paths }) => {
        paths['/books'].get.parameters = [query('cursor', text)];
        Object.assign(
          paths['/books'].get.responses[200],
          json(object({ data: all, next: { type: ['string', 'null'] } })),
        );
      },
    ],
    [
      ['meta: { ...(page.next !== undefined && { next: page.next }) }'],
      ({ paths }) => {
        paths['/books'].get.parameters = [query('cursor', text)];
        Object.assign(
          paths['/books'].get.responses[200],
          json(object({ data: all, meta: object({ next: text }, []) })),
        );
      },
    ],
    [
      ['the field next of its reply comes from nowhere'],
      ({ paths }) => {
        paths['/books'].get.parameters = [query('cursor', text)];
        Object.assign(paths['/books'].get.responses[200], json(object({ data: all, next: text })));
      },
    ],
    [
      ["schema: 'Book'", 'body: book }'],
      inEnvelope((book) => (book.$ref ? { allOf: [book, { properties: { links: { type: 'object' } } }] } : book)),
    ],
    [
      ["schema: 'Book'", 'body: { data: page.body.read() }'],
      ({ paths, schemas }) => {
        schemas.Page = object({ data: { type: 'array', items: { type: 'object' } } });
        const page = { allOf: [record('Page'), { properties: { data: all } }] };
        Object.assign(paths['/books'].get.responses[200], json(page));
      },
    ],
  ];
  for (const [lines, edit] of CASES) {
    const { text } = await written(t, edit);
    for (const line of lines) t.ok(text.includes(line), `${line} in ${text}`);
  }
});

t.test("if a record's schema has no name, the domain.ts of `new` names the operation that returns it", async (t) => {
  const inline =
    (toSchema: (book: Json) => Json): Edit =>
    (parts) => {
      const own = structuredClone(parts.book);
      inEnvelope(
        () => toSchema(own),
        () => ({ type: 'array', items: own }),
      )?.(parts);
    };
  const plain = await written(
    t,
    inline((own) => own),
  );
  t.match(plain.domain, "schema: 'getBook()'");
  t.match(plain.domain, "satisfies Description<'getBook()'>");
  t.strictSame([...plain.reasons], []);
  const inData = await written(
    t,
    inline((data) => object({ data: object({ book: data }) })),
  );
  t.match(inData.domain, "schema: 'getBook().data.book'");
  const required = await written(
    t,
    inEnvelope((book) => (book.$ref ? { allOf: [book, object({ shelf: flag })] } : book)),
  );
  t.match(required.domain, "schema: 'getBook()'");
  const dotted = await written(t, ({ paths, book }) => {
    delete paths['/books'].post;
    Object.assign(paths['/books/{bookId}'].get.responses[200], json({ type: 'array', items: book }));
    for (const method of ['put', 'patch', 'delete']) delete paths['/books/{bookId}'][method];
    delete paths['/books'].get;
  });
  t.match([...dotted.reasons.values()], [/no reply has a record that can be stored/]);
});

t.test('a handler that `new` writes sends only the fields of the reply, even if the record has more', async (t) => {
  const { text: source } = await written(t, ({ paths, schemas }) => {
    schemas.Short = object({ id: { type: 'integer', format: 'int64' }, title: text, note: text }, ['id', 'title']);
    Object.assign(paths['/books'].post.responses[201], json(record('Short')));
    Object.assign(paths['/books'].get.responses[200], json({ type: 'array', items: record('Short') }));
  });
  t.match(source, 'body: { id: book.id, title: book.title, ...(book.note !== undefined && { note: book.note }) }');
  t.match(source, 'body: page.body.read().map((one) => ({ id: one.id, title: one.title');
});

t.test('`new` writes a create whose request body contains the record in a field', async (t) => {
  const { text: source } = await written(t, ({ paths, book }) => {
    book.properties.id = { ...text, pattern: '^bk_[0-9a-f]{24}$' };
    paths['/books/{bookId}'].parameters[0].schema = text;
    paths['/books'].post.requestBody = { required: true, ...json(object({ book: record('NewBook') })) };
  });
  t.match(source, "books.create({ ...body.book, id: 'bk_' + randomBytes(12).toString('hex').slice(0, 24) })");
  const { text: optional } = await written(t, ({ paths, body }) => {
    delete body.required;
    body.properties.title = { ...text, default: 'None' };
    paths['/books'].post.requestBody = { required: true, ...json(object({ data: record('NewBook') })) };
  });
  t.match(optional, 'books.create(body.data)');
});

t.test("if no request sends an id, the create that `new` writes makes one that fits the id's schema", async (t) => {
  const CASES: [id: Json, made: string][] = [
    [{ ...text, pattern: '^trf_' }, "'trf_' + randomUUID()"],
    [{ ...text, pattern: '^[0-9a-f]{24}$' }, "randomBytes(12).toString('hex').slice(0, 24)"],
    [{ ...text, format: 'objectid' }, "randomBytes(12).toString('hex').slice(0, 24)"],
    [{ ...text, pattern: '^[0-7][0-9A-HJKMNP-TV-Z]{25}$' }, '0123456789ABCDEFGHJKMNPQRSTVWXYZ'],
    [{ ...text, format: 'ulid' }, '0123456789ABCDEFGHJKMNPQRSTVWXYZ'],
    [{ ...text, pattern: '^ORD-[0-9]{6}$' }, "'ORD-' + String(randomInt(100000, 1000000))"],
    [{ ...text, pattern: '^[A-Z0-9]{8}$' }, ".toString('hex').slice(0, 8).toUpperCase()"],
    [{ ...text, maxLength: 12 }, "randomBytes(6).toString('hex').slice(0, 12)"],
    [integer, 'randomInt(1, 2 ** 31)'],
    [{ ...text, enum: ['a'] }, 'its ids have a form that cannot be made'],
    [{ ...text, format: 'email' }, 'its ids have a form that cannot be made'],
  ];
  for (const [id, made] of CASES) {
    const { text: source } = await written(t, ({ paths, book }) => {
      book.properties.id = id;
      paths['/books/{bookId}'].parameters[0].schema = id;
    });
    t.ok(source.includes(made), `${made} in ${source}`);
  }
});

t.test(
  'if the path declares an integer id as a text, handlers of `new` answer 404 to a text that is not an integer',
  async (t) => {
    const { text: source, reasons } = await written(t, ({ paths }) => {
      paths['/books/{bookId}'].parameters[0].schema = text;
    });
    t.strictSame([...reasons.keys()], []);
    t.match(source, "const id = parseInt64(params.bookId);\n  if (id === undefined) return refuse('not_found',");
    t.match(source, "urlOf('getBook', { bookId: String(book.id) })");
  },
);

t.test('if an id is a text in the path and a number in the record, handlers of `new` convert it', async (t) => {
  const number = await written(t, ({ book, paths }) => {
    book.properties.id = { type: 'integer' };
    paths['/books/{bookId}'].parameters = [path('bookId', text)];
  });
  t.match(number.text, 'const id = Number(params.bookId);\n  if (!Number.isSafeInteger(id))');
  const uuid = await written(t, ({ book, paths }) => {
    book.properties.id = text;
    paths['/books/{bookId}'].parameters = [path('bookId', { type: 'integer' })];
  });
  t.match(uuid.text, 'books.get(String(params.bookId))');
});

t.test(
  '`new` finds a record in a reply of any media type, and its id number by the path parameter bookNumber',
  async (t) => {
    const { domain } = await written(t, ({ book, paths }) => {
      book.properties.number = text;
      book.required = ['number', 'title'];
      delete book.properties.id;
      paths['/books/{bookNumber}'] = paths['/books/{bookId}'];
      delete paths['/books/{bookId}'];
      paths['/books/{bookNumber}'].parameters = [path('bookNumber', text)];
      for (const item of [paths['/books'], paths['/books/{bookNumber}']])
        for (const method of ['get', 'post', 'patch', 'put'])
          for (const one of Object.values(item[method]?.responses ?? {}) as Json[])
            if (one.content) one.content = { '*/*': one.content['application/json'] };
    });
    t.match(domain, "number: { type: 'text', set: 'id' }");
  },
);

t.test('`new` finds no record in a reply whose allOf has a schema without fields and one with a field', async (t) => {
  const { reasons } = await written(t, ({ paths, schemas }) => {
    schemas.Empty = { type: 'object' };
    paths['/books/{bookId}'].get.responses[200] = {
      description: 'A part.',
      ...json({ allOf: [record('Empty'), { type: 'object', properties: { title: text } }] }),
    };
  });
  t.match(reasons.get('getBook'), 'its reply is not a Book');
});

t.test('if the reply to a change has no record, the handler that `new` writes answers success: true', async (t) => {
  const { text: made } = await written(t, ({ paths }) => {
    const done = object({ success: flag, message: text });
    paths['/books/{bookId}'].patch.responses[200] = { description: 'Done.', ...json(done) };
    const deleted = object({ id: { type: 'integer', format: 'int64' }, deleted: flag });
    paths['/books/{bookId}'].delete.responses = { 200: { description: 'Done.', ...json(deleted) } };
  });
  t.match(made, "body: { success: true, message: 'Done.' }");
  t.match(made, 'body: { id: book.id, deleted: true }');
});

t.test('`new` stores two resources with the same name or the same record schema in separate tables', async (t) => {
  const { text: made, all } = await written(t, ({ paths }) => {
    const others = JSON.parse(
      JSON.stringify(paths['/books']).replaceAll('Books"', 'MyBooks"').replaceAll('createBook"', 'createMyBook"'),
    );
    paths['/me/books'] = others;
    paths['/me/books/{bookId}'] = {
      parameters: paths['/books/{bookId}'].parameters,
      get: { ...paths['/books/{bookId}'].get, operationId: 'getMyBook' },
    };
  });
  t.strictSame(
    all.map(({ name }) => name),
    ['books', 'meBooks'],
  );
  t.match(made, 'books.get(params.bookId)');
});

t.test("if a record's id is a slug, the create that `new` writes makes it from the title", async (t) => {
  const withSlug = (slug: Json) =>
    written(t, ({ paths, book }) => {
      const { id: _id, ...others } = book.properties;
      book.properties = { slug, ...others };
      book.required[0] = 'slug';
      paths['/books/{bookSlug}'] = { ...paths['/books/{bookId}'], parameters: [path('bookSlug', text)] };
      delete paths['/books/{bookId}'];
    });
  const source = await withSlug(text);
  t.match(
    source.text,
    "body.title.toLowerCase().replace(/[^a-z0-9]+/g, '-').slice(0, 80), randomUUID().slice(0, 8)].join('-')",
  );
  t.match((await withSlug({ ...text, pattern: '^[0-9a-f]{24}$' })).text, 'slug: randomBytes(12)');
});
