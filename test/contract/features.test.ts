/** openapi/features.md is true: each line in it that refuses something is what a start says of such a contract. */
import { readFileSync } from 'node:fs';
import t from 'tap';
import type { Json } from '../../src/contract/contract.ts';
import { operation, problemsOf, withPaths } from '../added-operations.ts';
import { type Edit, withPrefix } from '../edited-contract.ts';

const PAGE = readFileSync(new URL('../../openapi/features.md', import.meta.url), 'utf8');

/** The line of each feature that the page says is refused. */
const REFUSED = [...PAGE.matchAll(/^\| (.*) \| no \| `(.*)` \|$/gm)].map(
  ([, feature, line]) => [feature, line] as const,
);

const string = { type: 'string' };
const content = (...types: string[]) => ({ content: Object.fromEntries(types.map((type) => [type, { schema: {} }])) });
const echo = (source: Json, path = '/echoes') => withPaths({ [path]: { post: operation('echo', source) } });
const parameter = (source: Json) => echo({ parameters: [{ name: 'q', in: 'query', schema: string, ...source }] });
const reply = (status: string, ...types: string[]) => echo({ responses: { [status]: content(...types) } });
const body = (schema: Json) => echo({ requestBody: { content: { 'application/json': { schema } } } });
const form = (field: Json, encoding?: Json) => {
  const schema = { type: 'object', properties: { q: field } };
  return echo({ requestBody: { 'x-max-bytes': 9, content: { 'multipart/form-data': { schema, encoding } } } });
};
const int64 = { type: 'integer', format: 'int64' };
const self = { $ref: '#/components/schemas/Self' };
/** A body of a schema that may refer to itself. */
const recursive = (schema: Json) => {
  const document = JSON.parse(body(self));
  document.components.schemas.Self = schema;
  return JSON.stringify(document);
};
const edit = (change: Edit) => withPaths({}, change);

/** A contract with each feature, by the first words of its row. */
const CONTRACTS: Record<string, string> = {
  'Several prefixes': edit(({ servers }) => servers.push({ url: '/v2' })),
  "The server's own paths": withPaths({ '/docs': { get: operation('echo') } }, withPrefix('/')),
  'Other characters': withPaths({ '/echoes': { get: operation('find pet by id') } }),
  '`Idempotency-Key` without': parameter({ in: 'header', name: 'Idempotency-Key' }),
  '`x-kept-hours` of': parameter({ 'x-kept-hours': 24 }),
  'In a cookie': parameter({ in: 'cookie' }),
  '`Accept`': parameter({ in: 'header', name: 'Accept' }),
  'Arrays in the path': echo(
    { parameters: [{ name: 'q', in: 'path', required: true, schema: { type: 'array', items: string } }] },
    '/echoes/{q}',
  ),
  'Objects, and arrays': parameter({ schema: { type: 'object' } }),
  'Other styles': parameter({ style: 'deepObject', schema: { type: 'object' } }),
  '`content` in place': parameter({ schema: undefined, content: { 'application/json': { schema: string } } }),
  '`allowEmptyValue`': parameter({ allowEmptyValue: true }),
  'Without `x-max-bytes`': echo({ requestBody: content('text/csv') }),
  'Objects in its fields': form({ type: 'object' }),
  'Defaults of its fields': form({ ...string, default: 'Rex' }),
  '`encoding`': form(string, { q: {} }),
  '`application/x-www-form': echo({
    requestBody: { 'x-max-bytes': 9, content: { 'application/x-www-form-urlencoded': { schema: { type: 'object' } } } },
  }),
  'Ranges of types in': echo({ requestBody: { 'x-max-bytes': 9, ...content('*/*') } }),
  '`binary` in': body({ ...string, format: 'binary' }),
  'Several types': reply('200', 'application/json', 'application/a+json'),
  'Its schema beyond': echo({ responses: { '200': { content: { 'text/csv': { schema: { type: 'integer' } } } } } }),
  'Ranges of types': reply('200', 'image/*'),
  'Errors of the server': reply('401', 'application/problem+json'),
  'API keys in a cookie': edit(({ securitySchemes }) => {
    securitySchemes.bearerAuth = { type: 'apiKey', in: 'cookie', name: 'key' };
  }),
  'Two schemes': edit(({ securitySchemes }) => {
    securitySchemes.other = { type: 'http', scheme: 'bearer' };
  }),
  'A parameter of': edit(({ securitySchemes, listPets }) => {
    securitySchemes.other = { type: 'apiKey', in: 'query', name: 'limit' };
    listPets.security = [{ other: [] }];
  }),
  'Two keys': edit(({ securitySchemes, listPets }) => {
    securitySchemes.other = { type: 'apiKey', in: 'query', name: 'key' };
    listPets.security = [{ bearerAuth: [], other: [] }];
  }),
  'OpenAPI 3.0': edit(({ contract }) => (contract.openapi = '3.0.3')),
  '`nullable`': body({ type: 'string', nullable: true }),
  '`enum`, `const`': body({ ...int64, enum: [1] }),
  'int64 in one': body({ anyOf: [int64, { type: 'integer' }] }),
  'Other formats': body({ type: 'string', format: 'datum' }),
  'A discriminator whose': body({ oneOf: [{ type: 'object' }], discriminator: { propertyName: 'kind' } }),
  'Several alternatives': recursive({
    oneOf: [
      { type: 'object', properties: { left: self } },
      { type: 'object', properties: { right: self } },
    ],
  }),
  'A schema that is nothing': recursive({ allOf: [self] }),
  'References to': body({ $ref: 'pets.yaml#/PetId' }),
  'A default': body({ anyOf: [{ properties: { name: { type: 'string', default: 'Rex' } } }] }),
  '`required` of': body({ anyOf: [{ required: ['id'] }] }),
  'Unknown keywords': body({ type: 'integer', maximun: 5 }),
  'Keys that may': edit(({ listPets }) => listPets.security.push({})),
};

for (const [feature, line] of REFUSED) {
  t.test(`${feature}: refused, in this line`, async (t) => {
    const [start] = Object.keys(CONTRACTS).filter((words) => `${feature} |`.startsWith(words));
    const problems = await problemsOf(t, CONTRACTS[start as string] as string);
    t.equal(problems.length, 1, problems.join('\n'));
    t.equal(problems[0]?.replace(/^operation .*?: /, ''), line);
  });
}
