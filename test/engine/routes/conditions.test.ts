/** Conditional requests and merge patches over HTTP, with the functions that handlers use for them. */
import t, { type Test } from 'tap';
import { ifMatch, isRefused, isUnchanged, toTag } from '../../../src/contract-first/engine/index.ts';
import { buildCodecs } from '../../../src/contract-first/engine/routes/stored-records.ts';
import { domain } from '../../../src/generated/domain.ts';
import { load, operation, serve, withPaths } from '../../added-operations.ts';
import type { Json } from '../../any-json.ts';
import { openUrl } from '../../database.ts';
import { withRecordsOf } from '../../service.ts';

const HEADERS = { ETag: { description: 'The revision.', schema: { type: 'string' } } };
const PET = { headers: HEADERS, content: { 'application/json': { schema: { $ref: '#/components/schemas/Pet' } } } };
const CHANGES = {
  type: 'object',
  additionalProperties: false,
  properties: {
    name: { $ref: '#/components/schemas/PetName', default: 'Nobody' },
    status: { type: ['string', 'null'], default: 'sold' },
    categoryId: { type: 'integer', format: 'int64', default: 7 },
  },
};
const header = (name: string) => ({ name, in: 'header', schema: { type: 'string' } });

const YAML = withPaths({
  '/animals/{petId}': {
    parameters: [{ name: 'petId', in: 'path', required: true, schema: { type: 'integer', format: 'int64' } }],
    get: operation('getAnimal', {
      parameters: [header('If-None-Match')],
      responses: { '200': PET, '304': { headers: HEADERS } },
    }),
    patch: operation('patchAnimal', {
      parameters: [header('If-Match')],
      requestBody: {
        required: true,
        content: { 'application/merge-patch+json': { schema: CHANGES }, 'application/json': { schema: CHANGES } },
      },
      responses: { '200': PET },
    }),
  },
});

const problem = (status: number) => ({ status, body: { code: 'invalid_request', message: 'No.', status } });

/** These animals use categoryId as their revision. */
async function serveAnimals(t: Test) {
  const contract = await load(t, YAML);
  const store = openUrl('sqlite::memory:', {}, buildCodecs(withRecordsOf(contract), domain));
  const { id } = await store.records.create({ name: 'Rex', categoryId: 5n, status: 'available' });
  const getAnimal = async ({ params, headers, pets }: Json) => {
    const pet = (await pets.get(params.petId)).read();
    const ETag = toTag(pet.categoryId);
    if (isUnchanged(headers['If-None-Match'], pet.categoryId)) return { status: 304, headers: { ETag } };
    return { status: 200, body: pet, headers: { ETag } };
  };
  const patchAnimal = async ({ params, headers, body, pets }: Json) => {
    if (headers['If-Match'] === undefined) return problem(428);
    const pet = await pets.update(params.petId, body, { if: ifMatch(headers['If-Match'], 'categoryId') });
    if (pet === undefined) return problem(404);
    if (isRefused(pet)) return problem(412);
    return { status: 200, body: pet, headers: { ETag: toTag((pet as Json).categoryId) } };
  };
  const { request } = await serve(t, YAML, { getAnimal, patchAnimal }, { store });
  const patch = (body: Json, headers: Record<string, string> = {}, petId = id) =>
    request(`/v1/animals/${petId}`, { method: 'PATCH', body, headers });
  return { get: (headers = {}) => request(`/v1/animals/${id}`, { headers }), patch };
}

t.test("if the client already has the current record, it gets a 304 with the record's entity tag", async (t) => {
  const { get } = await serveAnimals(t);
  t.match(await get(), { status: 200, headers: { etag: '"5"' }, body: { name: 'Rex' } });
  for (const tags of ['"5"', 'W/"5"', '"4", "5"', 'W/"a,b" , "5"', '*'])
    t.match(await get({ 'if-none-match': tags }), { status: 304, headers: { etag: '"5"' }, text: '' }, tags);
  for (const tags of ['"4"', '5', '"05"', '"5.0"', '"x"'])
    t.match(await get({ 'if-none-match': tags }), { status: 200 }, tags);
});

t.test('the server makes a PATCH only if its If-Match contains the strong entity tag of the record', async (t) => {
  const { patch } = await serveAnimals(t);
  t.match(await patch({ name: 'Max' }), { status: 428 });
  for (const tags of ['"4"', 'W/"5"', '"4", W/"5"', '5', ''])
    t.match(await patch({ name: 'Max' }, { 'if-match': tags }), { status: 412 }, tags);
  t.match(await patch({ categoryId: 6 }, { 'if-match': '"4", "5"' }), { status: 200, headers: { etag: '"6"' } });
  t.match(await patch({ name: 'Max' }, { 'if-match': '*' }), { status: 200, body: { name: 'Max', categoryId: 6 } });
  t.match(await patch({ name: 'Max' }, { 'if-match': '*' }, 99n), { status: 404 });
});

t.test('a PATCH distinguishes an absent field from null, and fills in no default for an absent field', async (t) => {
  const { patch } = await serveAnimals(t);
  const merge = { 'if-match': '*', 'content-type': 'application/merge-patch+json' };
  t.match(await patch({ name: 'Max' }, merge), { text: /"name":"Max","categoryId":5,"status":"available"/ });
  t.match(await patch({ status: null }, merge), { text: /"name":"Max","categoryId":5}/ });
  t.match(await patch({}, { 'if-match': '*' }), { text: /"name":"Max","categoryId":5}/ });
});

t.test("a handler can use the strong tags of If-Match as a condition on the record's revision", (t) => {
  t.strictSame(ifMatch('"1", W/"2", "3"'), { revision: [1n, 3n] });
  t.strictSame(ifMatch(' * '), {});
  t.end();
});

t.test(
  'of a very long If-Match list, the server uses only the first tags, and answers 200 or 412 instead of 500',
  async (t) => {
    const { patch } = await serveAnimals(t);
    const others = Array.from({ length: 2000 }, (_, index) => `"${index + 100}"`).join();
    t.match(await patch({ name: 'Max' }, { 'If-Match': others }), { status: 412 });
    t.match(await patch({ name: 'Max' }, { 'If-Match': `${others},"5"` }), { status: 412 });
    t.match(await patch({ name: 'Max' }, { 'If-Match': `"5",${others}` }), { status: 200, body: { name: 'Max' } });
    t.match(await patch({ name: 'Moritz' }, { 'If-Match': `${'"6",'.repeat(2000)}"5"` }), { status: 200 });
  },
);
