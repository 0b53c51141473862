import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import t, { type Test } from 'tap';
import { parse, stringify } from 'yaml';
import { loadContract } from '../../src/contract/load-contract.ts';
import { handlers as ours } from '../../src/generated/handlers.ts';
import { JsonText } from '../../src/json/json-text.ts';
import { type Service, startService } from '../service.ts';
import { type Handle, NEW_HANDLERS, withNewOperations } from './new-operations.ts';
import { CONTRACT, readOperations } from './operations.ts';
import type { Property } from './property.ts';
import { refusalsOf } from './refusals.ts';
import { requestProperties } from './request-properties.ts';

/** The contract with the new operations. */
const GROWN = stringify(withNewOperations(parse(CONTRACT)), { aliasDuplicateObjects: false });
const NEW_IDS = Object.keys(NEW_HANDLERS);

/** The new operations, served by these handlers from the contract that has them. */
async function startGrown(t: Test, handlers: Record<string, Handle> = {}): Promise<Service> {
  const yaml = GROWN;
  const file = join(t.testdir(), 'petstore.yaml');
  writeFileSync(file, yaml);
  const contract = await loadContract(file);
  const all = { ...ours, ...NEW_HANDLERS, ...handlers };
  return startService(t, { contract, handlers: all, yaml, keepAlive: true });
}

function propertiesOf(service: Service): Property[] {
  const added = readOperations(GROWN).filter(({ id }) => NEW_IDS.includes(id));
  return requestProperties(service, added);
}

/** The first failure among the properties of an operation. */
async function findFailure(properties: Property[], id: string): Promise<string | undefined> {
  for (const property of properties.filter(({ name }) => name.startsWith(id))) {
    const failure = await property.run({ seed: 1, runs: 10 });
    if (failure !== undefined) return failure;
  }
}

t.test('an operation that is new in the contract is covered, every keyword of it, with no new test code', async (t) => {
  const properties = propertiesOf(await startGrown(t));
  for (const id of NEW_IDS) t.equal(await findFailure(properties, id), undefined);
  const names = properties.map(({ name }) => name);
  for (const rule of [
    'arrangeShelf accepts what the contract allows',
    'arrangeShelf refuses path.code pattern',
    'arrangeShelf refuses query.on required',
    'arrangeShelf refuses query.tilt exclusiveMaximum',
    'arrangeShelf refuses query.unit const',
    'arrangeShelf refuses query.sides required',
    'arrangeShelf refuses query.sides minItems',
    'arrangeShelf refuses query.sides uniqueItems',
    'arrangeShelf refuses query.sides items maxLength',
    'arrangeShelf refuses query.boxes maxItems',
    'arrangeShelf refuses query.boxes items type',
    'arrangeShelf refuses query.boxes repeated',
    'arrangeShelf refuses header.X-Days items format',
    'arrangeShelf refuses header.If-Match required',
    'arrangeShelf refuses header.If-Match pattern',
    'arrangeShelf refuses header.If-Match repeated',
    'arrangeShelf refuses header.X-Revision minimum',
    'arrangeShelf refuses header.X-Reason maxLength',
    'arrangeShelf refuses header.X-Quiet type',
    'arrangeShelf refuses body.boxes.items.size exclusiveMinimum',
    'arrangeShelf refuses body.boxes minItems',
    'change-shelf as application/json refuses body.size required',
    'change-shelf as application/merge-patch+json refuses body.size minimum',
    'arrangeShelf asks for a key',
    'greet refuses body minLength',
    'addPicture as image/png refuses body x-max-bytes',
    'addPicture as image/png refuses body compressed',
    'addPicture as multipart/form-data refuses body.petId minimum',
    'addPicture as multipart/form-data refuses body.picture required',
    'addPicture as multipart/form-data refuses body.picture repeated',
    'addPicture as multipart/form-data refuses body.tags items pattern',
    'addPicture as multipart/form-data refuses body unknown field',
    'packBox refuses body.id readOnly',
    'packBox refuses body.inside.items.mail format',
    'packBox refuses body.content.oneOf.0.radius minimum',
    'packBox refuses body.content.oneOf.1.kind enum',
    'packBox refuses body.content.oneOf.1.parts.items.oneOf.0.radius required',
    'packBox refuses body.owner type',
    'packBox refuses body.owner minLength',
    'packBox refuses body.color enum',
    'packBox refuses body.mail format',
    'packBox refuses body.counts.* maximum',
    'packBox refuses body.size.oneOf.0 minimum',
    'packBox refuses body.maker.anyOf.0.name maxLength',
    'sendParcel refuses body.label minLength',
    'sendParcel refuses body.label maxLength',
    'sendParcel refuses body.weight required',
    'sendParcel refuses body.color not',
    'sendParcel refuses body.marks minProperties',
    'sendParcel refuses body.measures minProperties',
    'sendParcel refuses body.then.phone required',
    'sendParcel refuses body.then.weight maximum',
    'sendParcel refuses body.else.note required',
    'sendParcel refuses body.else.note maxLength',
    'sendParcel refuses body not',
  ]) {
    t.ok(names.includes(rule), rule);
  }
  t.notOk(names.includes('greet asks for a key'));
});

t.test('an answer without a body is sent without a body and a content type', async (t) => {
  const { request } = await startGrown(t);
  const { status, text, headers } = await request('/v1/shelves/A/boxes', { method: 'DELETE' });
  t.strictSame({ status, text }, { status: 204, text: '' });
  t.strictSame(Object.keys(headers).sort(), ['connection', 'date', 'keep-alive', 'x-request-id']);
});

t.test('a handler that breaks its own contract is found, with a line that shows it again', async (t) => {
  const cases: [string, Handle, RegExp][] = [
    [
      'a field that is not declared',
      () => ({ status: 200, body: JsonText.of('{"code":"A","color":"red"}') }),
      /must NOT have additional properties/,
    ],
    ['a field that is missing', () => ({ status: 200, body: JsonText.of('{}') }), /must have required property 'code'/],
    [
      'a header that is not declared',
      ({ params }) => ({ status: 200, body: { code: params.code }, headers: { 'X-Shelf': '1' } }),
      /header x-shelf is not documented/,
    ],
    [
      'a status that is not declared',
      () => ({ status: 202, body: JsonText.of('{"code":"A"}') }),
      /status 202 is not documented/,
    ],
    [
      'a failure of its own',
      () => ({ status: 404, body: { code: 'x', message: '', status: 400 } }),
      /body.status is 400/,
    ],
  ];
  for (const [what, handle, problem] of cases) {
    await t.test(what, async (t) => {
      const service = await startGrown(t, { arrangeShelf: handle });
      const failure = await findFailure(propertiesOf(service), 'arrangeShelf');
      t.match(failure, problem);
      t.match(failure, /^curl -i .* -X PUT 'http:\/\/127\.0\.0\.1:3000\/v1\/shelves\/[A-Z]+\?/m);
      t.match(failure, /^SEED=1 CASE=\d+ PROPERTY='arrangeShelf accepts what the contract allows' npm run test:deep$/m);
    });
  }
});

/** The contract with another schema of a pet's name, or of the limit of a page, and that of the server as it is. */
function edited({ name = {}, limit = {} }: { name?: object; limit?: object }): string {
  const contract = parse(CONTRACT);
  Object.assign(contract.components.schemas.PetName, name);
  Object.assign(contract.paths['/pets'].get.parameters[0].schema, limit);
  return stringify(contract);
}

t.test('a server that takes more or less than the contract allows is found', async (t) => {
  const service = await startService(t, { keepAlive: true });
  const cases: [yaml: string, id: string, failure: RegExp][] = [
    [edited({ limit: { maximum: 50 } }), 'listPets', /^listPets refuses query\.limit maximum: .* 200, not 400/],
    [edited({ name: { maxLength: 9 } }), 'createPet', /^createPet refuses body\.name maxLength: .* 201, not 400/],
    [edited({ name: { minLength: 0 } }), 'createPet', /^createPet accepts .* 400, not 2xx: .*body\.name must have/],
  ];
  for (const [yaml, id, expected] of cases) {
    t.match(await findFailure(requestProperties(service, readOperations(yaml)), id), expected);
  }
});

const NO_BOUNDS = { format: undefined, minimum: undefined, maximum: undefined, default: undefined };

t.test('a rule of the contract that no generator can break is reported, with its place', async (t) => {
  const inName = 'createPet body.name';
  const inLimit = 'listPets query.limit';
  const cases: [yaml: string, rule: string, place: string, file: string][] = [
    [edited({ name: { contentEncoding: 'base64' } }), 'contentEncoding', inName, 'json-breaks.ts'],
    [edited({ limit: { multipleOf: 5 } }), 'multipleOf', inLimit, 'scalars.ts'],
    [
      edited({ limit: { ...NO_BOUNDS, type: 'array', items: { type: 'integer' }, contains: { const: 1 } } }),
      'contains of an array in a parameter',
      inLimit,
      'list-values.ts',
    ],
    [edited({ limit: { format: 'float' } }), 'format float of a number', inLimit, 'numbers.ts'],
    [edited({ name: { format: 'hostname' } }), 'format hostname of a string', inName, 'formats.ts'],
    [edited({ name: { type: ['string', 'integer'] } }), 'type ["string","integer"]', inName, 'scalars.ts'],
    [edited({ name: { type: 'object', maxProperties: 1 } }), 'maxProperties', inName, 'json-breaks.ts'],
    [edited({ name: { allOf: [{ pattern: 'a' }, { pattern: 'b' }] } }), 'two different pattern', inName, 'joined.ts'],
    [
      edited({ name: { type: 'array', items: { type: 'array', items: { type: 'object', dependentRequired: {} } } } }),
      'dependentRequired',
      `${inName}.items.items`,
      'json-breaks.ts',
    ],
  ];
  for (const [yaml, rule, place, file] of cases) {
    const message = `no way is known to break ${rule} of ${place}; add one to test/properties/${file}`;
    t.throws(() => readOperations(yaml).flatMap(refusalsOf), { message });
  }
  t.throws(() => readOperations(edited({ name: { not: { type: 'string' } } })).flatMap(refusalsOf), {
    message: /^no way is known to keep .*\bnot of createPet body\.name; add one to test\/properties\/alternatives\.ts$/,
  });
});
