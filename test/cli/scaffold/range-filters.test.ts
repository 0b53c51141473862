/** `new` writes range filters only if the name and the type of a parameter are unambiguous. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { stringify } from 'lossless-json';
import t, { type Test } from 'tap';
import { writeCollections } from '../../../src/contract-first/cli/scaffold/collection-files.ts';
import { loadContract } from '../../../src/contract-first/contract/read/load-contract.ts';
import type { Json } from '../../any-json.ts';
import { books, query, record, reply, text } from './books-contract.ts';

const time = { ...text, format: 'date-time' };
const date = { ...text, format: 'date' };
const int64 = { type: 'integer', format: 'int64' };
const number = { type: 'number' };

/** Writes the service of a contract whose list has these parameters. Returns the list's handler and the other files. */
async function listWith(t: Test, parameters: Json[], edit: Parameters<typeof books>[0] = () => {}) {
  const contract = books((parts) => {
    const { get } = parts.paths['/books'];
    Object.assign(get, { parameters, responses: { 200: reply({ type: 'array', items: record('Book') }) } });
    edit(parts);
  });
  const file = join(t.testdir(), 'contract.json');
  writeFileSync(file, stringify(contract) as string);
  const [found] = writeCollections(await loadContract(file)).collections;
  return { handler: `${found?.handlers.get('listBooks')}`, domain: `${found?.files.get('src/books/domain.ts')}` };
}

t.test('`new` turns a query parameter such as minPrice or createdAfter into a range filter on its field', async (t) => {
  const { handler, domain } = await listWith(t, [
    query('createdAfter', time),
    query('created_before', time),
    query('updatedAtFrom', time),
    query('minPrice', number),
    query('price[lte]', number),
    query('views_gt', int64),
  ]);
  for (const line of [
    'createdAt: { above: query.createdAfter, below: query.created_before }',
    'updatedAt: { from: query.updatedAtFrom }',
    "price: { from: query.minPrice, upTo: query['price[lte]'] }",
    'views: { above: query.views_gt }',
  ])
    t.ok(handler.includes(line), `${line} in ${handler}`);
  t.match(domain, "lists: { range: ['createdAt', 'updatedAt', 'price', 'views'], skip: 100000 }");
  t.notMatch(handler, 'is not implemented yet');
});

t.test("`new` turns the query parameters from and to into a range filter on a record's only time field", async (t) => {
  const onlyTime = ({ book, body }: { book: Json; body: Json }) => {
    for (const name of ['createdAt', 'updatedAt']) delete book.properties[name];
    book.required = book.required.filter((name: string) => name in book.properties);
    book.properties.printedAt = body.properties.printedAt = time;
  };
  const { handler, domain } = await listWith(t, [query('from', time), query('to', time)], onlyTime);
  t.match(handler, 'printedAt: { from: query.from, upTo: query.to }');
  t.match(domain, "printedAt: { type: 'time', isOptional: true }");

  const ofDates = await listWith(t, [query('dateFrom', date), query('limit', { type: 'integer' })], (parts) => {
    onlyTime(parts);
    parts.book.properties.printedAt = parts.body.properties.printedAt = date;
  });
  t.match(ofDates.handler, 'limit: query.limit ?? 20, skip: 0, printedAt: { from: query.dateFrom }');
});

t.test(
  'a list handler that `new` writes combines a range filter with a cursor, so that no page skips a record',
  async (t) => {
    const { handler } = await listWith(t, [
      query('after', text, { 'x-opaque': true, schema: { ...text, maxLength: 99 } }),
      query('minPrice', number),
    ]);
    t.match(handler, 'after: query.after, price: { from: query.minPrice }');
  },
);

t.test(
  'if the field, bound or type of a range parameter is unclear, the list handler that `new` writes answers 501',
  async (t) => {
    const CASES: Json[][] = [
      [query('from', time)],
      [query('since', text)],
      [query('minTitle', text)],
      [query('minPrice', int64)],
      [query('minPrice', { ...number, default: 0 })],
      [query('minMaxPrice', number)],
      [query('minOrder', text)],
      [query('minState', { ...text, enum: ['new'] })],
      [query('createdTo', date)],
      [query('minWeight', number)],
      [query('minPrice', number), query('priceFrom', number)],
      [query('price', number), query('maxPrice', number)],
      [query('after', time)],
    ];
    for (const parameters of CASES) {
      const { handler } = await listWith(t, parameters);
      t.match(
        handler,
        /throw new HttpError\('not_implemented', '.* is not implemented yet/,
        JSON.stringify(parameters),
      );
      t.notMatch(handler, /\{ (from|upTo|above|below): /);
    }
    const named = await listWith(t, [query('maxPrice', number)], ({ book }) => {
      book.properties.maxPrice = number;
    });
    t.match(named.handler, 'maxPrice: query.maxPrice');
  },
);
