/**
 * If a request body allows values that the record does not, `new` still stores the operation, and such values are a
 * 400.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { stringify } from 'lossless-json';
import t, { type Test } from 'tap';
import { writeCollections } from '../../../src/contract-first/cli/scaffold/collection-files.ts';
import { checkOperations } from '../../../src/contract-first/contract/checks/checked-operations.ts';
import { loadContract } from '../../../src/contract-first/contract/read/load-contract.ts';
import type { AnyDomain } from '../../../src/contract-first/store/tables/description.ts';
import { books, json, record, text } from './books-contract.ts';

async function written(t: Test, edit: Parameters<typeof books>[0]) {
  const file = join(t.testdir(), 'contract.json');
  writeFileSync(file, stringify(books(edit)) as string);
  const contract = await loadContract(file);
  const { collections, reasons } = writeCollections(contract);
  const [collection] = collections;
  const { description, files } = collection as NonNullable<typeof collection>;
  const toErrorBody = (({ message }: { message: string }) => ({ message })) as never;
  const check = (domain: AnyDomain) => checkOperations(contract, { toErrorBody, domain });
  return { description, check, reasons, domain: files.get('src/books/domain.ts') ?? '' };
}

t.test(
  '`new` makes a service answer 400 to a body that its record cannot store, if the contract allows such bodies',
  async (t) => {
    const { description, check, domain } = await written(t, ({ book }) => {
      book.properties.title = { ...text, maxLength: 9 };
    });
    t.match(domain, '\n  unfit: 400,\n');
    const { unfit, ...others } = description;
    t.equal(unfit, 400);
    t.throws(() => check({ books: others }), { message: /its body\.title: .* is let in, and not stored/ });
    t.strictSame(check({ books: description }), []);
    t.notMatch((await written(t, () => {})).domain, 'unfit');
  },
);

t.test(
  'services of `new` answer 400 to a null that the record does not allow; a body of another type gets no handler',
  async (t) => {
    const nullable = await written(t, ({ body }) => {
      body.properties.title = { type: ['string', 'null'] };
    });
    t.match(nullable.domain, 'unfit: 400');
    t.strictSame(nullable.check({ books: nullable.description }), []);
    const removed = await written(t, ({ paths, body, schemas }) => {
      schemas.Changes = { ...body, properties: { ...body.properties, note: { type: ['string', 'null'] } } };
      paths['/books/{bookId}'].patch.requestBody = { required: true, ...json(record('Changes')) };
    });
    t.notMatch(removed.domain, 'unfit', 'in a change, null removes a field');
    for (const [field, type, words] of [
      ['price', text, 'its body has price as string, and Book as number'],
      ['views', { type: 'integer' }, 'its body has views as number, and Book as int64'],
    ] as const) {
      const { reasons } = await written(t, ({ paths, body, schemas }) => {
        schemas.Changes = { ...body, properties: { [field]: type } };
        paths['/books/{bookId}'].patch.requestBody = { required: true, ...json(record('Changes')) };
      });
      t.strictSame([...reasons], [['changeBook', words]]);
    }
  },
);

t.test('`new` also makes a service answer 400 to a body that contains an unfit record in a field', async (t) => {
  const { domain } = await written(t, ({ book, paths }) => {
    book.properties.title = { ...text, maxLength: 9 };
    const own = { type: 'object', required: ['book'], properties: { book: record('NewBook') } };
    paths['/books'].post.requestBody = { required: true, ...json(own) };
    for (const method of ['put', 'patch']) delete paths['/books/{bookId}'][method];
  });
  t.match(domain, 'unfit: 400');
});
