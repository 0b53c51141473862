import { writeFileSync } from 'node:fs';
import t, { type Test } from 'tap';
import { loadContract } from '../../../src/contract-first/contract/read/load-contract.ts';
import { ContractError } from '../../../src/contract-first/engine/contract/contract.ts';
import { buildCodecs, checkStoredRecords } from '../../../src/contract-first/engine/routes/stored-records.ts';
import { domain } from '../../../src/generated/domain.ts';
import { openUrl } from '../../database.ts';
import { type Edit, edited } from '../../edited-contract.ts';
import { readOurs, withRecordsOf } from '../../service.ts';

async function loadEdited(folder: string, edit: Edit) {
  const file = `${folder}/petstore.yaml`;
  writeFileSync(file, edited(edit));
  return loadContract(file);
}

async function openWithPets(t: Test) {
  const store = openUrl('sqlite::memory:');
  t.teardown(() => store.close());
  await store.records.create({ name: 'Ada', categoryId: 7n });
  await store.records.create({ name: 'Bartholomew', categoryId: 0n, status: 'sold' });
  await store.records.create({ name: '🐕🐕🐕', categoryId: 2n ** 63n - 1n, status: 'sold' });
  return store;
}

t.test('stored pets fit the contract that was used to store them', async (t) => {
  await t.resolves(checkStoredRecords(withRecordsOf(await readOurs()), domain, await openWithPets(t)));
});

t.test('if stored pets do not fit a changed contract, the start fails and prints how many do not fit', async (t) => {
  const store = await openWithPets(t);
  const edits: [edit: Edit, reported: string][] = [
    [
      ({ PetStatus }) => PetStatus.enum.splice(2, 1, 'gone'),
      '2 (pet 2: status must be one of available, pending, gone)',
    ],
    [({ PetName }) => (PetName.maxLength = 3), '1 (pet 2: name must have at most 3 characters)'],
    [({ CategoryId }) => (CategoryId.minimum = 1), '1 (pet 2: categoryId must be at least 1)'],
    [({ Pet }) => Pet.required.push('status'), '1 (pet 1: status is missing)'],
    [({ Pet }) => Object.assign(Pet, { maxProperties: 3 }), '2 (pet 2:  must have at most 3 fields)'],
  ];
  for (const [edit, reported] of edits) {
    const contract = await loadEdited(t.testdir(), edit);
    const problem = `stored pets that do not fit its schema Pet: ${reported}; correct them, or undo the edit of the contract`;
    await t.rejects(checkStoredRecords(withRecordsOf(contract), domain, store), new ContractError([problem]));
  }
});

t.test(
  'the store reads single records and lists with the schema of the records, even if the schema has no numbers',
  async (t) => {
    const edit: Edit = ({ schemas }) => {
      schemas.Tag = { type: 'object', properties: { name: { type: 'string' } } };
    };
    const tags = { ...domain.pets, schema: 'Tag' };
    const all = { ...domain, tags };
    const codecs = buildCodecs(withRecordsOf(await loadEdited(t.testdir(), edit), all), all);
    for (const [codec, text, record] of [
      [codecs.pets, '{"id":9007199254740993}', { __proto__: null, id: 9007199254740993n }],
      [codecs.tags, '{"name":"Big"}', { __proto__: null, name: 'Big' }],
    ] as const) {
      t.strictSame(codec.read(text), record);
      t.strictSame(codec.read(`[${text},${text}]`), [record, record]);
    }
    const { pets } = buildCodecs({ records: {} }, domain);
    t.equal(
      pets.check({ id: 'any' }),
      undefined,
      'a collection whose schema the contract lacks checks nothing, because it is never used',
    );
  },
);
