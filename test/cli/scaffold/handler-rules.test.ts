/** The code that `new` writes is short, typed, and the same in every run. */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { stringify } from 'lossless-json';
import t from 'tap';
import { writeCollections } from '../../../src/contract-first/cli/scaffold/collection-files.ts';
import { writeTest } from '../../../src/contract-first/cli/scaffold/written-test.ts';
import { loadContract } from '../../../src/contract-first/contract/read/load-contract.ts';
import type { Json } from '../../any-json.ts';
import { books, json, path, record, taggedBooks, text } from './books-contract.ts';

const PETSTORE = fileURLToPath(new URL('../../../openapi/petstore.yaml', import.meta.url));
const OTHERS = fileURLToPath(new URL('../../other-contracts/', import.meta.url));

/**
 * A contract whose handlers need the most lines: several media types of bodies, ids in bodies, and parameters without
 * effect.
 */
const longest = books(({ paths, body, book }) => {
  const id = { ...text, format: 'uuid' };
  body.properties.id = book.properties.id = id;
  paths['/books/{bookId}'].parameters[0].schema = id;
  for (const operation of [paths['/books'].post, paths['/books/{bookId}'].put, paths['/books/{bookId}'].patch]) {
    operation.requestBody = { content: { ...json(record('NewBook')).content, 'application/x+json': { schema: text } } };
    operation.parameters = [{ name: 'X-Shelf', in: 'header', schema: text }];
  }
});

/** The same books under the id of a shelf, with conditions that must be sent. */
const tagged = taggedBooks(({ paths, body, book }) => {
  const id = { ...text, format: 'uuid' };
  body.properties.id = book.properties.id = id;
  for (const at of ['/books', '/books/{bookId}']) {
    const { parameters = [], ...item } = paths[at];
    const own = parameters.map((one: Json) => ({ ...one, schema: id }));
    paths[`/shelves/{shelf}${at}`] = { ...item, parameters: [path('shelf', text), ...own] };
    delete paths[at];
  }
  const { patch, put, delete: remove } = paths['/shelves/{shelf}/books/{bookId}'];
  for (const operation of [patch, put, remove]) {
    const [condition] = operation.parameters;
    const shelf = { name: 'X-Shelf', in: 'header', schema: text };
    operation.parameters = [{ ...condition, required: false }, shelf];
    operation.responses[428] = operation.responses.default;
  }
  for (const operation of [patch, put])
    operation.requestBody = { content: { ...json(record('NewBook')).content, 'application/x+json': { schema: text } } };
});

t.test(
  'each handler that `new` writes has at most 15 lines, neither `any` nor `as never`, and is the same in every run',
  async (t) => {
    const folder = t.testdir({
      'books.json': stringify(books()) as string,
      'longest.json': stringify(longest) as string,
      'tagged.json': stringify(tagged) as string,
    });
    const contracts = [
      PETSTORE,
      ...readdirSync(OTHERS).map((name) => join(OTHERS, name)),
      ...['books.json', 'longest.json', 'tagged.json'].map((name) => join(folder, name)),
    ];
    let count = 0;
    for (const file of contracts) {
      for (const isAssuming of [false, true]) {
        const write = async () => {
          const contract = await loadContract(file);
          const { collections, reasons } = writeCollections(contract, { isAssuming });
          const tests = collections.map((one) => writeTest(contract, one, collections));
          return { tests, reasons, collections };
        };
        const { collections, ...others } = await write();
        for (const { handlers, files } of collections) {
          for (const [id, source] of [...handlers, ...files]) {
            const code = source.replace(/'(?:[^'\\]|\\.)*'/g, "''");
            t.notMatch(code, /\bany\b|\bas never\b/, id);
          }
          for (const [id, source] of handlers) {
            const [, handler = ''] = source.split(/^(?=export default )/m);
            t.ok(handler.trimEnd().split('\n').length <= 15, `${id}: ${source}`);
            count++;
          }
        }
        const again = await write();
        t.strictSame(
          { ...others, collections: again.collections.map(({ files, handlers }) => [files, handlers]) },
          {
            ...again,
            collections: collections.map(({ files, handlers }) => [files, handlers]),
          },
        );
      }
    }
    t.ok(count > 20, 'handlers were written');
  },
);
