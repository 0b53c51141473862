import t, { type Test } from 'tap';
import type { Handlers } from '../../../src/contract-first/engine/routes/operations.ts';
import { buildCodecs } from '../../../src/contract-first/engine/routes/stored-records.ts';
import { domain } from '../../../src/generated/domain.ts';
import { load, problemsOf } from '../../added-operations.ts';
import type { Json } from '../../any-json.ts';
import { openUrl } from '../../database.ts';
import { type Edit, edited } from '../../edited-contract.ts';
import { handlersFor, startService, withRecordsOf } from '../../service.ts';

/** Returns the reply for two stored pets, one of which has a status. */
async function answersTo(t: Test, edit: Edit, url: string): Promise<{ status: number; text: string }> {
  const yaml = edited(edit);
  const { store, request } = await startService(t, { contract: await load(t, yaml), yaml });
  await store.records.create({ name: 'Ada', categoryId: 2n ** 63n - 1n, status: 'sold' });
  await store.records.create({ name: 'Rex', categoryId: 7n });
  return request(url);
}

const items = (listPets: { responses: Record<string, { content: Record<string, { schema: object }> }> }) =>
  listPets.responses['200']?.content['application/json'] as { schema: object };

t.test(
  "stored records are sent unchanged if the reply's schema allows everything that the schema of the records allows",
  async (t) => {
    const wider: Edit[] = [
      () => {},
      ({ Pet }) => (Pet.properties.name = { type: 'string', pattern: '^[^\\x00]*$' }),
      ({ Pet }) => (Pet.required = ['id', 'name']),
      ({ Pets }) => (Pets.items = {}),
    ];
    const text =
      '[{"id":1,"name":"Ada","categoryId":9223372036854775807,"status":"sold"},{"id":2,"name":"Rex","categoryId":7}]';
    for (const edit of wider) t.match(await answersTo(t, edit, '/v1/pets'), { status: 200, text });
  },
);

t.test('a reply contains every stored field of a record, even fields that its schema does not name', async (t) => {
  const text = '{"id":1,"name":"Ada","categoryId":9223372036854775807,"status":"sold"}';
  const unnamed: Edit[] = [
    ({ getPet }) => (items(getPet).schema = { type: 'object', properties: { name: { type: 'string' } } }),
    // A `oneOf` does not prove which stored fields a reply may contain.
    ({ getPet }) => (items(getPet).schema = { type: 'object', oneOf: [{ required: ['name'] }, { required: ['x'] }] }),
  ];
  for (const edit of unnamed) t.match(await answersTo(t, edit, '/v1/pets/1'), { status: 200, text });
});

t.test('a reply never contains a stored field that its schema forbids', async (t) => {
  const narrower: Edit[] = [
    ({ listPets }) => {
      const properties = { id: { type: 'integer', format: 'int64' }, name: { type: 'string' } };
      const closed = { type: 'object', additionalProperties: false, properties };
      items(listPets).schema = { type: 'array', items: closed };
    },
  ];
  const named: Edit = ({ Pet, listPets }) => {
    const narrowed = { allOf: [Pet, { properties: { name: { enum: ['Ada'] } } }] };
    items(listPets).schema = { type: 'array', items: narrowed };
  };
  for (const edit of [...narrower, named]) t.match(await answersTo(t, edit, '/v1/pets'), { status: 500 });
  const nameAlone: Edit = ({ getPet }) => {
    const properties = { name: { type: 'string' } };
    items(getPet).schema = { type: 'object', additionalProperties: false, required: ['name'], properties };
  };
  t.match(await answersTo(t, nameAlone, '/v1/pets/1'), { status: 500 });
  t.match(await answersTo(t, named, '/v1/pets?limit=1'), { status: 200, text: /9223372036854775807/ });
});

t.test(
  'if the contract allows a page that would break the schema of its list, the start fails and names the reply',
  async (t) => {
    const listed = 'operation listPets: response 200';
    const after = 'operation listPets: parameter after';
    const edits: [edit: Edit, problem: string][] = [
      [({ Pets }) => (Pets.maxItems = 99), `${listed}: its maxItems is 99, and parameter limit may be 100`],
      [({ Pets }) => (Pets.minItems = 1), `${listed}: its minItems is 1, and a page may be empty`],
      [({ after }) => (after.schema.default = 'Rex'), `${after}: a cursor is given out by the server: no default`],
      [
        ({ paths }) => {
          paths['/pets'] = { put: paths['/pets'].get, post: paths['/pets'].post };
        },
        `${after}: the link to a next page is requested with GET, not PUT`,
      ],
    ];
    for (const [edit, problem] of edits) t.strictSame(await problemsOf(t, edited(edit)), [problem]);
    t.strictSame(
      await problemsOf(
        t,
        edited(({ Pets }) => (Pets.maxItems = 100)),
      ),
      [],
    );
    // A pattern missing from the contract is not a problem: a text that the database cannot store is a 400 for its
    // request.
    t.strictSame(
      await problemsOf(
        t,
        edited(({ PetName }) => delete PetName.pattern),
      ),
      [],
    );
    const elsewhere: Edit = ({ schemas }) => (schemas.Pet = { type: 'object' });
    t.strictSame(await problemsOf(t, edited(elsewhere)), []);
  },
);

t.test('the store rejects a record that breaks its schema, even if a handler creates it', async (t) => {
  const edits: Edit[] = [
    ({ PetName }) => (PetName.maxLength = 2),
    ({ CategoryId }) => (CategoryId.maximum = 6),
    ({ Pet }) => Pet.required.push('status'),
  ];
  for (const edit of edits) {
    const yaml = edited(edit);
    const contract = await load(t, yaml);
    const store = openUrl('sqlite::memory:', {}, buildCodecs(withRecordsOf(contract), domain));
    const createPet = async ({ body, pets, idempotency }: Json) => ({
      ...{ status: 201, headers: { Location: '/v1/pets/1' } },
      body: await pets.create({ ...body, name: 'Rex', categoryId: 7n }, { idempotency }),
    });
    const handlers = { ...handlersFor(contract), createPet } as Handlers;
    const { request } = await startService(t, { contract, yaml, store, handlers });
    const headers = { 'idempotency-key': 'one' };
    for (const options of [{}, { headers }]) {
      const { status } = await request('/v1/pets', {
        method: 'POST',
        body: { name: 'Al', categoryId: 5 },
        ...options,
      });
      t.equal(status, 500);
    }
    t.match(await request('/v1/pets'), { text: '[]' });
  }
});
