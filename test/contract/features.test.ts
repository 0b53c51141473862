/**
 * Checks that the guide's features.md is true: whatever it says is refused is reported by the server's start, in the
 * words of the page.
 */
import { readFileSync } from 'node:fs';
import t from 'tap';
import { operation, problemsOf, withPaths } from '../added-operations.ts';
import type { Json } from '../any-json.ts';
import { type Edit, withPrefix } from '../edited-contract.ts';

const PAGE = readFileSync(new URL('../../src/contract-first/guide/features.md', import.meta.url), 'utf8');

/** The features that the page says are refused, each with the message that it quotes. */
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
/** An operation whose request body has a schema that may refer to itself. */
const recursive = (schema: Json) => {
  const document = JSON.parse(body(self));
  document.components.schemas.Self = schema;
  return JSON.stringify(document);
};
const edit = (change: Edit) => withPaths({}, change);

/** For each refused feature, by the first words of its row, a contract that uses it. */
const CONTRACTS: Record<string, string> = {
  'A prefix with': edit(({ contract }) => (contract.servers = [{ url: '/v%201' }])),
  'YAML with tags': 'openapi: 3.1.1\ninfo:\n  title: !Ref title\n',
  '`trace`': withPaths({ '/echoes': { trace: operation('echo') } }),
  '`*` in': echo({}, '/echoes/*'),
  'The same parameter': echo({ parameters: [{ name: 'q', in: 'path', required: true, schema: string }] }, '/{q}/{q}'),
  'Swagger 2': edit(({ contract }) => (contract.swagger = '2.0')),
  'A body with no': echo({
    requestBody: { content: { 'application/xml': { schema: { type: 'object' } } } },
  }),
  'Ranges other than': reply('200', 'image/*'),
  'Error replies of any': reply('401', 'image/png'),
  'Operations at the server': withPaths({ '/docs': { get: operation('echo') } }, withPrefix('/')),
  'Several media types for a': echo({
    parameters: [{ name: 'Idempotency-Key', in: 'header', schema: string, 'x-idempotency-hours': 24 }],
    responses: { '200': content('application/json', 'text/csv') },
  }),
  '`x-idempotency-hours` of': parameter({ 'x-idempotency-hours': 24 }),
  'Parameters in a cookie': parameter({ in: 'cookie' }),
  'Arrays next to': echo(
    { parameters: [{ name: 'q', in: 'path', required: true, schema: { type: 'array', items: string } }] },
    '/echoes/no-{q}',
  ),
  'Objects in a path': parameter({ in: 'header', schema: { type: 'object' } }),
  'A style that': parameter({ style: 'pipeDelimited' }),
  'The styles': echo(
    { parameters: [{ name: 'q', in: 'path', required: true, schema: string, style: 'matrix' }] },
    '/{q}',
  ),
  '`content` of': parameter({ schema: undefined, content: { 'text/csv': { schema: string } } }),
  '`allowEmptyValue`': parameter({ allowEmptyValue: true }),
  'Arrays of arrays': form({ type: 'array', items: { type: 'array' } }),
  '`encoding` with headers': form(string, { q: { headers: {} } }),
  'Error replies whose': echo({
    responses: { '400': { content: { 'application/json': { schema: { type: 'integer' } } } } },
  }),
  'Mutual TLS': edit(({ securitySchemes }) => {
    securitySchemes.bearerAuth = { type: 'mutualTLS' };
  }),
  '`enum`, `const`': body({ ...int64, enum: [1] }),
  '`anyOf` or `oneOf`': body({ anyOf: [int64, { type: 'integer' }] }),
  'A schema that accepts no': body({ ...string, enum: [1] }),
  'A discriminator with an': body({ oneOf: [{ type: 'object' }], discriminator: { propertyName: 'kind' } }),
  'A schema that consists': recursive({ allOf: [self] }),
  'A reply that requires': echo({
    responses: {
      '200': {
        content: { 'application/json': { schema: { type: 'object', properties: { a: {} }, required: ['id'] } } },
      },
    },
  }),
  'A reply in which': echo({
    responses: {
      '200': {
        content: {
          'application/json': {
            schema: {
              allOf: [
                { type: 'object', additionalProperties: false },
                { required: ['id'], properties: { id: {} } },
              ],
            },
          },
        },
      },
    },
  }),
  'A default that its own': parameter({ schema: { type: 'integer', default: 'a' } }),
  'Patterns with the': body({ type: 'string', pattern: '\\A[a-z]' }),
  'References to URLs': body({ $ref: 'https://example.com/pets.yaml#/PetId' }),
};

const json = (schema: Json) => ({ content: { 'application/json': { schema } } });
const object = (properties: Json, others: Json = {}) => ({ type: 'object', properties, ...others });
const inBody = (schema: Json) => ({ requestBody: json(schema), responses: { '200': json(schema) } });
const query = (...parameters: Json[]) => ({
  parameters: parameters.map((source, index) => ({ name: `q${index}`, in: 'query', schema: string, ...source })),
});
const list = { type: 'array', items: string };
const error = json({ $ref: '#/components/schemas/Error' });
const problem = { content: { 'application/problem+json': error.content['application/json'] } };
const tagged = (kind: string) => object({ kind: { const: kind, type: 'string' } }, { required: ['kind'] });
const key = (name: string) => ({ security: [{ [name]: [] }] });

/** For each supported feature, by the first words of its row, an operation that uses it. */
const SERVED: Record<string, Json> = {
  'A path prefix': {},
  'Operations at `/openapi.json`': {},
  'YAML with merge': {},
  'Encoded characters': {},
  'A missing or repeated': {},
  'Path parameters whose': {},
  'A request field': {},
  '`Idempotency-Key` without': query({ in: 'header', name: 'Idempotency-Key' }),
  '`Accept`': query({ in: 'header', name: 'Accept' }),
  'Parameters with several': query({ schema: { anyOf: [{ type: 'boolean' }, string] } }, { schema: {} }),
  'A body that may': {
    requestBody: {
      content: { ...json({ type: 'object' }).content, 'application/xml': { schema: { type: 'object' } } },
    },
  },
  'Defaults of the fields': {
    requestBody: { content: { 'multipart/form-data': { schema: object({ q: { ...string, default: 'a' } }) } } },
  },
  'Ranges of media': { requestBody: content('*/*', 'text/csv; charset=utf-8') },
  'A schema for': { responses: { '200': { content: { 'text/csv': { schema: { type: 'integer' } } } } } },
  '`*/*`, `application/*`': { responses: { '200': content('*/*') } },
  'Several media types for one': { responses: { '200': content('text/csv', 'application/json') } },
  'Error replies of another': { responses: { '401': problem } },
  'OAuth 2': key('oauth'),
  'Two schemes': key('other'),
  'Two keys': { security: [{ bearerAuth: [], inHeader: [] }] },
  'An optional key': { security: [{ bearerAuth: [] }, {}] },
  'OpenAPI 3.0': {},
  '`required` with': inBody({ anyOf: [{ required: ['id'] }] }),
  'Patterns that': inBody({ ...string, pattern: '[\\w-.]' }),
  '`operationId` in camelCase': {},
  '`deprecated: true`': { deprecated: true },
  'Parameters in the path': query({}, { in: 'header', name: 'If-None-Match' }),
  'The header `Idempotency-Key`': query({ in: 'header', name: 'Idempotency-Key', 'x-idempotency-hours': 24 }),
  'Parameters of type': query({ schema: int64 }, { schema: { type: 'number' } }, { schema: { type: 'boolean' } }),
  'Numbers other than': inBody({ type: 'number', multipleOf: 0.01 }),
  'Arrays in the query with': query({ schema: list }, { schema: list, explode: false }),
  'Arrays in the path': {},
  'A parameter that may': query({ schema: { anyOf: [list, int64] } }),
  'Objects in the query': query({ style: 'deepObject', schema: object({ a: list }) }, { schema: object({ b: int64 }) }),
  'JSON in the query': query({ schema: undefined, ...json(object({ a: int64 })) }),
  'Objects in the fields of': {
    requestBody: { content: { 'multipart/form-data': { schema: object({ q: object({ a: int64 }) }) } } },
  },
  '`encoding` with a': {
    requestBody: {
      content: {
        'multipart/form-data': {
          schema: object({ q: { ...string, format: 'binary' }, r: object({}), s: string }),
          encoding: {
            q: { contentType: 'image/*' },
            r: { contentType: 'application/json' },
            s: { contentType: 'text/plain' },
          },
        },
      },
    },
  },
  'A parameter with': { ...key('inHeader'), ...query({ in: 'header', name: 'X-Key' }) },
  'Arrays in the query as': query({ schema: list, style: 'spaceDelimited' }),
  'Arrays in a header': query({ in: 'header', schema: list }),
  '`application/json`, `application/merge-patch+json`': { requestBody: content('application/merge-patch+json') },
  'A body of GET': {},
  'Several media types, each': { requestBody: content('application/json', 'application/a+json') },
  'Any other media type, such as `text/csv` or `application': {
    requestBody: { 'x-max-bytes': 9, content: { 'image/png': { schema: { ...string, format: 'byte' } } } },
  },
  '`multipart/form-data`': {
    requestBody: {
      'x-max-bytes': 9,
      content: { 'multipart/form-data': { schema: object({ q: list, file: { ...string, format: 'binary' } }) } },
    },
  },
  'Error bodies': {},
  'A status, ranges': { responses: { '4XX': error, '5XX': error, default: error } },
  '`application/json`, or a type': { responses: { '200': content('application/a+json') } },
  'Any other media type, such as `text/csv` or `image': { responses: { '200': content('image/png') } },
  'A reply header': {
    responses: { '200': { ...json({}), headers: { 'X-Info': { description: 'It.', ...json(object({ a: int64 })) } } } },
  },
  Links: { responses: { '200': { ...json({}), links: { next: { operationId: 'listPets' } } } } },
  '`http` with `bearer`': { security: [{ bearerAuth: ['pets:read'] }] },
  'API keys in': key('inHeader'),
  'Alternative schemes': { security: [{ bearerAuth: [] }, { inHeader: [] }] },
  "`type: [T, 'null']`": inBody({ type: ['string', 'null'] }),
  '`format: int64`': inBody({ anyOf: [{ type: ['integer', 'null'], format: 'int64' }, list] }),
  '`email`, `uri`': inBody({ ...string, format: 'email' }),
  '`readOnly`': inBody(object({ q: { ...string, readOnly: true } })),
  '`writeOnly`': inBody(object({ q: { ...string, writeOnly: true } })),
  '`discriminator` next': inBody({ oneOf: [tagged('a'), tagged('b')], discriminator: { propertyName: 'kind' } }),
  '`oneOf`, `anyOf`': inBody({ allOf: [string], not: { const: 'a' }, if: { const: 'b' }, else: { maxLength: 1 } }),
  'Maps (': inBody({ type: 'object', additionalProperties: int64 }),
  'A recursive': inBody({ $ref: '#/components/schemas/Tree' }),
  'A schema of more than': inBody({ $ref: '#/components/schemas/Large' }),
  '`required` in one': inBody({
    ...object({ a: string, b: string }),
    anyOf: [{ required: ['a'] }, { required: ['b'] }],
  }),
  'Keywords next': inBody({ $ref: '#/components/schemas/PetName', maxLength: 1 }),
  'A field called': inBody(object({ $ref: string, a: { type: 'object', default: { $ref: 'https://example.com' } } })),
  '`default`': query({ schema: { ...string, default: 'a' } }),
};

t.test('a service starts with every feature that features.md marks as supported', async (t) => {
  const rows = [...PAGE.matchAll(/^\| (.*) \| yes \|.*\|$/gm)].map(([, feature]) => feature as string);
  for (const row of rows) {
    t.equal(Object.keys(SERVED).filter((words) => `${row} |`.startsWith(words)).length, 1, row);
  }
  t.equal(Object.keys(SERVED).length, rows.length);
  const paths = Object.values(SERVED).map((source, index) => [
    `/echoes/${index}`,
    { post: operation(`echo-${index}`, source) },
  ]);
  const yaml = withPaths(Object.fromEntries(paths), ({ schemas, components, securitySchemes }) => {
    schemas.Tree = object({ leaves: { type: 'array', items: { $ref: '#/components/schemas/Tree' } } });
    schemas.Large = object(Object.fromEntries(Array.from({ length: 1001 }, (_, index) => [`a${index}`, string])));
    securitySchemes.inHeader = { type: 'apiKey', in: 'header', name: 'X-Key' };
    securitySchemes.oauth = { type: 'openIdConnect', openIdConnectUrl: 'https://example.com' };
    securitySchemes.other = { type: 'http', scheme: 'bearer' };
    delete components.headers['WWW-Authenticate'].schema.pattern;
  });
  t.strictSame(await problemsOf(t, yaml), []);
});

for (const [feature, line] of REFUSED) {
  t.test(`a contract with an unsupported feature gets the error in features.md: ${feature}`, async (t) => {
    const [start] = Object.keys(CONTRACTS).filter((words) => `${feature} |`.startsWith(words));
    const problems = await problemsOf(t, CONTRACTS[start as string] as string);
    t.equal(problems.length, 1, problems.join('\n'));
    t.equal(problems[0]?.replace(/^(operation .*?|in \S+, \S+): /, ''), line);
  });
}
