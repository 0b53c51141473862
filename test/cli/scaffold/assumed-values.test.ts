/**
 * With `--assume`, `new` fills a required field that no request sends with the contract's example, and marks it as
 * assumed.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { stringify } from 'lossless-json';
import t, { type Test } from 'tap';
import { writeCollections } from '../../../src/contract-first/cli/scaffold/collection-files.ts';
import { loadContract } from '../../../src/contract-first/contract/read/load-contract.ts';
import type { Json } from '../../any-json.ts';
import { books, json, query, record, text } from './books-contract.ts';

async function written(t: Test, edit: Parameters<typeof books>[0], isAssuming: boolean) {
  const file = join(t.testdir(), 'contract.json');
  writeFileSync(file, stringify(books(edit)) as string);
  return writeCollections(await loadContract(file), { isAssuming });
}

/** Adds required fields to the books that no request body contains. */
const withFields =
  (fields: Json): Parameters<typeof books>[0] =>
  ({ book }) => {
    Object.assign(book.properties, fields);
    book.required.push(...Object.keys(fields));
  };

t.test("with `--assume`, `new` sets a required field that no request sends to the contract's example", async (t) => {
  const int64 = { type: 'integer', format: 'int64' };
  const author = {
    type: 'object',
    properties: { id: int64, age: { type: 'integer' }, names: { type: 'array', items: text } },
  };
  const fields = {
    url: { ...text, format: 'uri', example: 'https://example.com/a' },
    author: { ...author, example: { id: 7, age: 40, names: ['Ada', null] } },
    place: { ...author, example: { id: 8, age: 50, names: ['Bo'] } },
    made: { ...text, minLength: 3 },
  };
  const { collections, reasons } = await written(t, withFields(fields), true);
  t.strictSame([...reasons], []);
  const [collection] = collections;
  const domain = collection?.files.get('src/books/domain.ts') ?? '';
  for (const line of [
    "url: { type: 'text', first: 'https://example.com/a' }, // assumed",
    "place: { type: 'json', first: { id: 8n, age: 50, names: ['Bo'] } }, // assumed",
    "author: { type: 'json', first: { id: 1n, age: 1, names: ['string'] } }, // assumed",
    "state: { type: 'text', first: 'new' }, // assumed",
    "title: { type: 'text' },\n",
  ])
    t.ok(domain.includes(line), `${line} in ${domain}`);
  t.match(collection?.assumed.join('\n'), 'books: url is "https://example.com/a" when a record is created');
  t.match(collection?.assumed.join('\n'), 'books: place is {"id":8,"age":50,"names":["Bo"]} when a record is created');
  const without = await written(t, withFields({ url: fields.url }), false);
  t.match([...without.reasons.values()][0], /Book\.url is required, and comes from nowhere/);
});

t.test('if an example breaks its schema, `new` sets the field to another value that fits', async (t) => {
  const code = { ...text, pattern: '^[A-Z]{3}$', example: 'abc' };
  const { collections } = await written(t, withFields({ code }), true);
  t.match(collections[0]?.files.get('src/books/domain.ts'), "code: { type: 'text', first: 'ABC' }, // assumed");
  const never = { ...text, format: 'email', maxLength: 2 };
  const { reasons } = await written(t, withFields({ code: never }), true);
  t.match([...reasons.values()][0], /Book\.code is required, and comes from nowhere/);
});

t.test("if a reply requires a field beside the record, `new --assume` sets it to the contract's example", async (t) => {
  const envelope =
    (note: Json): Parameters<typeof books>[0] =>
    ({ paths }) => {
      const properties = { data: record('Book'), note };
      Object.assign(
        paths['/books'].post.responses[201],
        json({ type: 'object', required: ['data', 'note'], properties }),
      );
    };
  const { collections } = await written(t, envelope({ ...text, example: 'Well done' }), true);
  t.match(collections[0]?.handlers.get('createBook'), "body: { data: book, note: 'Well done' /* assumed */ }");
  t.match(collections[0]?.assumed, [
    'books: state is "new" when a record is created',
    /views/,
    /isOpen/,
    /tags/,
    "createBook: note of its reply is the contract's example",
  ]);
  const { reasons } = await written(t, envelope({ ...text, example: 'Well done' }), false);
  t.match([...reasons.values()][0], /the field note of its reply comes from nowhere/);
});

t.test('`new` stores a field that is in requests but not in replies in a column that no reply shows', async (t) => {
  const { collections, reasons } = await written(
    t,
    ({ body }) => {
      Object.assign(body.properties, { coupon: text, 'seat-ids': { type: 'array', items: text } });
      body.required.push('coupon');
    },
    false,
  );
  t.strictSame([...reasons], []);
  const domain = collections[0]?.files.get('src/books/domain.ts') ?? '';
  t.match(
    domain,
    "internal: {\n    coupon: { type: 'text' },\n    'seat-ids': { column: 'seat_ids', type: 'json', isOptional: true },\n  },",
  );
  t.match(domain, "satisfies Description<'Book', 'coupon' | 'seat-ids'>");
  t.match(collections[0]?.files.get('src/books/migrations/sqlite/0001-books.sql'), /coupon TEXT NOT NULL/);
});

t.test('`new` stores fields such as secretRef or password_changed_at, because they contain no secret', async (t) => {
  const fields = { secretRef: { type: 'object' }, password_changed_at: text };
  const { collections } = await written(t, ({ book }) => Object.assign(book.properties, fields), false);
  t.match(collections[0]?.files.get('src/books/domain.ts'), "secretRef: { type: 'json', isOptional: true }");
  t.match(collections[0]?.files.get('src/books/domain.ts'), "password_changed_at: { type: 'text', isOptional: true }");
});

t.test(
  '`new` never stores a password: it drops the field, or writes no handlers if a reply contains the field',
  async (t) => {
    const { collections } = await written(t, ({ body }) => Object.assign(body.properties, { password: text }), false);
    t.match(collections[0]?.handlers.get('createBook'), 'const { password: _, ...stored } = body;');
    t.match(collections[0]?.handlers.get('createBook'), 'await books.create(stored');
    t.notMatch(collections[0]?.files.get('src/books/domain.ts'), 'password');
    t.equal(collections[0]?.assumed.at(-1), 'books: password of the body is not stored');
    const shown = await written(t, ({ book }) => Object.assign(book.properties, { password: text }), false);
    t.match([...shown.reasons.values()][0], /Book\.password must not be stored as it is/);
    const flag = await written(
      t,
      ({ book }) => Object.assign(book.properties, { hasPassword: { type: 'boolean' } }),
      false,
    );
    t.equal(flag.reasons.size, 0);
  },
);

t.test(
  '`new` ignores parameters such as X-Request-ID; with `--assume`, it ignores every required parameter that it does not know',
  async (t) => {
    const header = (name: string) => ({ name, in: 'header', required: true, schema: text });
    const edit: Parameters<typeof books>[0] = ({ paths }) => {
      paths['/books'].parameters = [header('X-Request-ID'), query('api_version', text), query('auth', text)];
      paths['/books/{bookId}'].parameters.push(header('X-Colour'));
    };
    const plain = await written(t, edit, false);
    t.match(plain.collections[0]?.assumed.join('\n'), 'books: the parameter X-Request-ID has no effect');
    t.match(plain.collections[0]?.assumed.join('\n'), 'books: the parameter api_version has no effect');
    t.match(plain.reasons.get('getBook'), /its parameter X-Colour is not understood/);
    const assuming = await written(t, edit, true);
    t.strictSame([...assuming.reasons], []);
    t.match(assuming.collections[0]?.assumed.join('\n'), 'books: the parameter X-Colour has no effect');
  },
);
