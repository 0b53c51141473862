import t from 'tap';
import { findBrokenLinks } from '../../../src/contract-first/contract/checks/links.ts';
import { load, wordsOf } from '../../added-operations.ts';
import { type Edit, edited, rename } from '../../edited-contract.ts';

/** For each mistake: the title of its test, the problem that createPet has, and the edit that makes the mistake. */
const BROKEN: [sentence: string, problem: string, edit: Edit][] = [
  [
    'a link to an operation that does not exist',
    'response 201: link self: there is no operation getAnimal',
    ({ created, paths }) => {
      created.links.self.operationId = 'getAnimal';
      paths['/others'] = { get: { operationId: 'other' } };
    },
  ],
  [
    'a link whose operationRef leads to no operation',
    'response 201: link self: there is no operation #/paths/~1pets/put',
    ({ created: { links } }) => {
      rename(links.self, 'operationId', 'operationRef');
      links.self.operationRef = '#/paths/~1pets/put';
    },
  ],
  [
    'a link with a parameter that its operation does not declare',
    'response 201: link self: operation getPet has no parameter query.petId',
    ({ created }) => rename(created.links.self.parameters, 'petId', 'query.petId'),
  ],
  [
    'a link to a field that the reply does not have',
    'response 201: link self: the body of the response has no petId',
    ({ created }) => (created.links.self.parameters.petId = '$response.body#/petId'),
  ],
  [
    'a Location header whose schema requires a host',
    'response 201: header Location cannot be the path of an operation, such as /v1/pets',
    ({ created }) => (created.headers.Location.schema.format = 'uri'),
  ],
];

t.test('the lint accepts a link with an operationRef and without parameters', async (t) => {
  const yaml = edited(({ created: { links } }) => {
    links.self = { operationRef: '#/paths/~1pets/get' };
  });
  t.strictSame(wordsOf(findBrokenLinks(await load(t, yaml))), []);
});

for (const [sentence, problem, edit] of BROKEN) {
  t.test(`the lint reports ${sentence}`, async (t) => {
    t.strictSame(wordsOf(findBrokenLinks(await load(t, edited(edit)))), [`operation createPet: ${problem}`]);
  });
}

t.test("the lint accepts a link to a body field if the reply's schema does not exclude the field", async (t) => {
  const string = { type: 'string' };
  const schemas = [
    { type: 'object', properties: { a: { type: 'array', items: { type: 'object', properties: { b: string } } } } },
    { type: 'object', properties: { c: string }, additionalProperties: true },
    { type: 'object', anyOf: [{ properties: { a: string } }], properties: { c: string } },
    { type: 'object' },
    undefined,
  ];
  for (const schema of schemas) {
    const yaml = edited(({ created }) => {
      created.links.self.parameters.petId = '$response.body#/a/0/b';
      created.links.first = { operationId: 'getPet', parameters: { petId: '1' } };
      created.content = schema ? { 'application/json': { schema } } : {};
    });
    t.strictSame(wordsOf(findBrokenLinks(await load(t, yaml))), [], JSON.stringify(schema));
  }
});
