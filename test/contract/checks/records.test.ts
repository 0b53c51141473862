import t, { type Test } from 'tap';
import { checkOperations } from '../../../src/contract-first/contract/checks/checked-operations.ts';
import { reportUnstorableFields, toRecords } from '../../../src/contract-first/contract/checks/records.ts';
import { toErrorBody } from '../../../src/contract-first/engine/errors/error-body.ts';
import { buildChecks } from '../../../src/contract-first/engine/schema/checks.ts';
import type { Keywords } from '../../../src/contract-first/engine/schema/json.ts';
import type { Column } from '../../../src/contract-first/store/tables/description.ts';
import { domain } from '../../../src/generated/domain.ts';
import { load, operation, withPaths, wordsOf } from '../../added-operations.ts';
import { type Edit, edited } from '../../edited-contract.ts';

/** The warnings about a contract that can be served. */
const warningsOf = async (t: Test, yaml: string) =>
  wordsOf(checkOperations(await load(t, yaml), { toErrorBody, domain }));

/** The problems of a field with this schema that is stored in this column. */
function problemsOf(field: Keywords, column: Omit<Column, 'column'>): string[] {
  const problems: string[] = [];
  const description = { noun: 'a', schema: 'A', table: 'a', columns: { f: { column: 'f', ...column } }, errors: {} };
  const stored = { type: 'object', properties: { f: field } };
  reportUnstorableFields(
    { description: { ...description, migrations: new URL(import.meta.url) }, stored },
    buildChecks({ isJudged: true }),
    (problem) => problems.push(problem),
  );
  return problems;
}

t.test('if a field allows values that its column cannot store, the build fails and names the fix', (t) => {
  const string = { type: 'string' };
  const time = { ...string, format: 'date-time' };
  const int32 = { type: 'integer', format: 'int32' };
  const cases: [field: Keywords, type: Column['type'], words: RegExp][] = [
    [
      string,
      'time',
      /^schema A: field f: allows texts other than instants.*: give it format: date-time, or the column the type text$/,
    ],
    [{ ...string, format: 'date' }, 'time', /other than instants/],
    [{ ...string, format: 'time' }, 'time', /other than instants/],
    [{ ...string, pattern: '^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\dZ$' }, 'time', /other than instants/],
    [{ anyOf: [time, { const: 'x' }] }, 'time', /other than instants/],
    [
      { type: 'integer' },
      'int32',
      /^schema A: field f: allows numbers other than 32-bit integers.*give it type: integer and format: int32$/,
    ],
    [{ type: 'number', minimum: 0, maximum: 9 }, 'int32', /other than 32-bit integers/],
  ];
  for (const [field, type, words] of cases) t.match(problemsOf(field, { type }), [words]);
  const kept: [field: Keywords, column: Omit<Column, 'column'>][] = [
    [{ ...string, format: 'uuid' }, { type: 'uuid' }],
    [time, { type: 'time' }],
    [
      { ...time, type: ['string', 'null'] },
      { type: 'time', isNullable: true },
    ],
    [{ anyOf: [time, { type: 'null' }] }, { type: 'time', isNullable: true }],
    [int32, { type: 'int32' }],
    [{ type: 'integer', minimum: 1, maximum: 99 }, { type: 'int32' }],
    [string, { type: 'json' }],
    // A text with U+0000 never reaches the column: its request is answered with 400.
    [string, { type: 'text' }],
    [string, { type: 'uuid' }],
    [string, { type: 'uuid', set: 'id' }],
    [string, { type: 'time', set: 'created' }],
  ];
  for (const [field, column] of kept) t.same(problemsOf(field, column), []);
  t.end();
});

t.test('if a request body has a field that no column stores and no reply returns, the build warns', async (t) => {
  const content = (schema: object) => ({ 'application/json': { schema } });
  const pets = { type: 'array', items: { $ref: '#/components/schemas/Pet' } };
  const news = { type: 'array', items: { $ref: '#/components/schemas/NewPet' } };
  const batch = operation('createPets', {
    requestBody: { required: true, content: content(news) },
    responses: { '200': { content: content(pets) } },
  });
  const withColour = (colour: object, edit: Edit = () => {}) =>
    withPaths({ '/pet-batches': { post: batch } }, (parts) => {
      parts.NewPet.properties.colour = colour;
      edit(parts);
    });
  const advice = 'give the record this field, or the field writeOnly: true if the handler alone needs it';
  const words = `its body.colour: no column of pets keeps it, and the reply does not have it: ${advice}`;
  t.strictSame(await warningsOf(t, withColour({ type: 'string' })), [
    `operation createPet: ${words}`,
    `operation createPets: ${words}`,
  ]);
  t.strictSame(await warningsOf(t, withColour({ type: 'string', writeOnly: true })), []);
  t.strictSame(await warningsOf(t, withColour({ type: 'string', readOnly: true })), []);
  const asXml: Edit = ({ createPet }) => {
    const { content } = createPet.responses['201'];
    createPet.responses['201'].content = { 'application/xml': content['application/json'] };
  };
  t.strictSame(await warningsOf(t, withColour({ type: 'string' }, asXml)), [
    `operation createPet: ${words}`,
    `operation createPets: ${words}`,
  ]);
  const others: Edit[] = [
    ({ Pet }) => (Pet.properties.colour = { type: 'string' }),
    ({ Pet }) => {
      delete Pet.properties.status;
    },
  ];
  for (const edit of others) t.strictSame(await warningsOf(t, withColour({ type: 'string' }, edit)), []);
  // The handler reads a JSON Patch, which is a list of changes, or another media type, whose fields are not those of a
  // record.
  const [PATCH, OTHER] = ['application/json-patch+json', 'application/vnd.pets.move+json'];
  const string = { type: 'string' };
  const changes = { type: 'array', items: { type: 'object', properties: { op: string, path: string, value: {} } } };
  const move = { type: 'object', properties: { shelf: string } };
  const inType =
    (type: string, schema: object): Edit =>
    ({ body }) =>
      (body.content[type] = { schema });
  t.strictSame(await warningsOf(t, edited(inType(PATCH, changes))), []);
  t.strictSame(await warningsOf(t, edited(inType(OTHER, move))), []);
  const mixed = { type: 'object', properties: { name: { $ref: '#/components/schemas/PetName' }, shelf: string } };
  t.match(await warningsOf(t, edited(inType(OTHER, mixed))), [/^operation createPet: its body.shelf: no column/]);
  const none: Edit = ({ createPet }) => delete createPet.requestBody;
  const form = { type: 'object', properties: { picture: { type: 'string', format: 'binary' } } };
  const upload: Edit = ({ body }) => {
    body['x-max-bytes'] = 9;
    body.content = { 'multipart/form-data': { schema: form } };
  };
  t.strictSame(await warningsOf(t, edited(upload)), []);
  t.strictSame(await warningsOf(t, edited(none)), []);
});

t.test("domain.ts may name an operation's success reply, or a field of it, as the schema of records", async (t) => {
  const data = { type: 'object', properties: { id: { type: 'string' } } };
  const schema = { type: 'object', properties: { data } };
  const responses = { '200': { content: { 'application/json': { schema } } } };
  const contract = await load(t, withPaths({ '/shops': { get: operation('get-shop', { responses }) } }));
  const shownAt = (name: string) => toRecords(contract, { own: { ...domain.pets, schema: name } }).own?.shown;
  t.match(shownAt('Pet'), { properties: { name: {} } });
  t.strictSame(shownAt('get-shop()'), schema);
  t.strictSame(shownAt('get-shop().data'), data);
  t.strictSame(shownAt('get-shop().data.id'), data.properties.id);
  for (const absent of ['get-shop().lost', 'get-shop().lost.id', 'lost()', 'Lost']) t.equal(shownAt(absent), undefined);
});
