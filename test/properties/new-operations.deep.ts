import t from 'tap';
import { parse, stringify } from 'yaml';
import { JsonText } from '../../src/contract-first/json/json-text.ts';
import { startService } from '../service.ts';
import { findFailure, type Handle, propertiesOf, startGrown } from './new-operations.ts';
import { CONTRACT, readOperations } from './operations.ts';
import { refusalsOf } from './refusals.ts';
import { requestProperties } from './request-properties.ts';

t.test(
  'the property tests detect a handler that breaks its contract, and print the command that repeats the failure',
  async (t) => {
    const cases: [string, Handle, RegExp][] = [
      [
        'the property tests detect a reply without a required field',
        () => ({ status: 200, body: JsonText.of('{}') }),
        /the reply is 500, not 2xx/,
      ],
      [
        'the property tests detect an undeclared header',
        ({ params }) => ({ status: 200, body: { code: params.code }, headers: { 'X-Shelf': '1' } }),
        /header x-shelf is not documented/,
      ],
      [
        'the property tests detect an undeclared status',
        () => ({ status: 202, body: JsonText.of('{"code":"A"}') }),
        /the reply is 500, not 2xx/,
      ],
      [
        'the property tests detect an error body with a wrong status',
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
        t.match(
          failure,
          /^SEED=1 CASE=\d+ PROPERTY='arrangeShelf accepts what the contract allows' npm run test:deep$/m,
        );
      });
    }
  },
);

/**
 * Returns the contract with changed rules for the name of a pet or the limit of a page, while the server keeps its own
 * rules.
 */
function edited({ name = {}, limit = {} }: { name?: object; limit?: object }): string {
  const contract = parse(CONTRACT);
  Object.assign(contract.components.schemas.PetName, name);
  Object.assign(contract.paths['/pets'].get.parameters[0].schema, limit);
  return stringify(contract);
}

t.test('the property tests detect a server that accepts more or less than the contract allows', async (t) => {
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

t.test(
  'if no generator of the property tests can break a rule of the contract, the tests fail and name the rule',
  async (t) => {
    const inName = 'createPet body.name';
    const cases: [yaml: string, rule: string, place: string, file: string][] = [
      [edited({ name: { contentEncoding: 'base64' } }), 'contentEncoding', inName, 'json-breaks.ts'],
      [edited({ limit: { multipleOf: 5 } }), 'multipleOf', 'listPets query.limit', 'scalars.ts'],
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
      message:
        /^no way is known to keep .*\bnot of createPet body\.name; add one to test\/properties\/alternatives\.ts$/,
    });
  },
);
