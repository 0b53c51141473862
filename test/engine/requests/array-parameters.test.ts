import t from 'tap';
import { buildUrlOf } from '../../../src/contract-first/engine/routes/urls.ts';
import { load, operation, problemsOf, serve, withPaths } from '../../added-operations.ts';
import type { Json } from '../../any-json.ts';

const BIG = '9007199254740993';

/** Returns the contract with an operation that has these parameters. */
const withParameters = (...parameters: Json[]) => withPaths({ '/echoes': { get: operation('echo', { parameters }) } });

const inQuery = (name: string, items: Json, others: Json = {}, style: Json = {}) => ({
  name,
  in: 'query',
  schema: { type: 'array', items, ...others },
  ...style,
});

const string = { type: 'string' };
const int64 = { type: 'integer', format: 'int64' };

const YAML = withParameters(
  inQuery('tags', { type: 'string', minLength: 1 }, { minItems: 2, maxItems: 3, uniqueItems: true }),
  inQuery('ids', int64, { uniqueItems: true }, { explode: false }),
  inQuery('a b', string, {}, { explode: false }),
  inQuery('scope', string, {}, { style: 'spaceDelimited', explode: false }),
  inQuery('sizes', int64, {}, { style: 'pipeDelimited' }),
  inQuery('levels', { type: 'integer', maximum: 9 }, { default: [1, 2] }),
  inQuery('owners', { ...int64, minimum: 1 }, { default: [7] }),
  inQuery('weights', { type: 'number' }),
  inQuery('flags', { type: 'boolean' }, {}, { style: 'form', explode: true }),
  { name: 'If-None-Match', in: 'header', schema: { type: 'array', items: string, maxItems: 4 } },
  { name: 'X-Owners', in: 'header', schema: { type: 'array', items: int64 } },
);
const DEFAULTS = { levels: [1, 2], owners: [7n] };

t.test('a handler gets an array from the query as a list of items, each with the type of its schema', async (t) => {
  const given: Json[] = [];
  const { request } = await serve(t, YAML, {
    echo: ({ query }) => {
      given.push({ ...query });
      return { status: 200, body: {} };
    },
  });
  const cases: [search: string, query: Json][] = [
    ['', {}],
    ['?tags=a&tags=b,c&tags=%2C', { tags: ['a', 'b,c', ','] }],
    [`?ids=${BIG},1`, { ids: [BigInt(BIG), 1n] }],
    ['?ids=1', { ids: [1n] }],
    ['?a%20b=x,%2C+,,&levels=4', { 'a b': ['x', ', ', '', ''], levels: [4] }],
    ['?scope=a,b+c%20d%2B&sizes=1|2%7C3%7c4', { scope: ['a,b', 'c', 'd+'], sizes: [1n, 2n, 3n, 4n] }],
    ['?a+b=', { 'a b': [''] }],
    ['?a+b=%25zz,%e2%82%ac', { 'a b': ['%zz', '€'] }],
    ['?levels=3', { levels: [3] }],
    [`?owners=1&owners=${BIG}`, { owners: [1n, BigInt(BIG)] }],
    ['?weights=0.5&weights=-3&flags=true&flags=false&flags=true', { weights: [0.5, -3], flags: [true, false, true] }],
  ];
  for (const [search, query] of cases) {
    const { status, text } = await request(`/v1/echoes${search}`);
    t.equal(status, 200, text);
    t.strictSame(given.at(-1), { ...DEFAULTS, ...query }, search);
  }
});

t.test('an array in a header may be split over several header lines; the server ignores empty items', async (t) => {
  const given: Json[] = [];
  const { request } = await serve(t, YAML, {
    echo: ({ headers }) => {
      given.push({ ...headers });
      return { status: 200, body: {} };
    },
  });
  const headers = { 'if-none-match': ['"a", "b"', '', ',"c",'], 'x-owners': BIG };
  t.equal((await request('/v1/echoes', { headers })).status, 200);
  t.strictSame(given, [{ 'If-None-Match': ['"a"', '"b"', '"c"'], 'X-Owners': [BigInt(BIG)] }]);
  const { body } = await request('/v1/echoes', { headers: { 'if-none-match': ['a,b', 'c,d,e'], 'x-owners': '1,2.5' } });
  t.match(body, {
    message: /^header.If-None-Match must have at most 4 items; header.X-Owners.1 must be a 64-bit/,
  });
});

t.test('a URL that the server builds for an operation contains the items of array parameters', async (t) => {
  const urlOf = buildUrlOf(await load(t, YAML)) as (id: string, params: object, query: object) => string;
  t.equal(urlOf('echo', {}, { tags: ['a', 'b&c'], ids: [1n, 2n] }), '/v1/echoes?tags=a&tags=b%26c&ids=1,2');
  const spaced = '/v1/echoes?scope=a%20b&sizes=1%7C2';
  t.equal(urlOf('echo', {}, { scope: ['a', 'b'], sizes: [1n, 2n] }), spaced);
  t.equal(urlOf('echo', {}, { tags: [], ids: [], 'a b': ['x,y'], flags: [true] }), '/v1/echoes?a%20b=x%2Cy&flags=true');
});

t.test('the build reports an array parameter of complex items or with an unsupported style in one line', async (t) => {
  const simple = 'needs a schema of simple types, or of an array of them';
  const deep = 'style deepObject needs an object of simple values and arrays of them';
  const delimited = (style: string) => `style ${style} needs an array of simple values, and no explode: true`;
  const pair = { type: 'array', prefixItems: [string], items: string };
  const object = { type: 'object', properties: { name: string } };
  const refusals: [parameter: Json, problem: string][] = [
    [{ in: 'query', style: 'deepObject', schema: string }, deep],
    [
      { in: 'query', style: 'deepObject', schema: { type: 'object', properties: { a: string, b: object } } },
      `${deep}: b is neither`,
    ],
    [{ in: 'query', schema: { type: 'object', properties: { b: object } } }, `${simple}: b is neither`],
    [
      { in: 'query', style: 'pipeDelimited', explode: true, schema: { type: 'array', items: string } },
      delimited('pipeDelimited'),
    ],
    [{ in: 'query', style: 'spaceDelimited', schema: string }, delimited('spaceDelimited')],
    [{ in: 'query', style: 'deepObject', schema: { type: 'array' } }, deep],
    [{ in: 'query', style: 'pipeDelimited', schema: object }, delimited('pipeDelimited')],
    [{ in: 'query', schema: object, explode: false }, simple],
    [{ in: 'query', schema: { anyOf: [object] } }, simple],
    [{ in: 'query', schema: { ...object, additionalProperties: object } }, simple],
    [{ in: 'header', schema: undefined, content: { 'application/json': { schema: object } } }, simple],
    [{ in: 'query', schema: { type: 'array', items: object } }, simple],
    [{ in: 'query', schema: pair }, simple],
    [{ in: 'query', schema: string, allowEmptyValue: true }, 'allowEmptyValue is not supported'],
    [{ in: 'header', schema: object }, simple],
  ];
  for (const [parameter, problem] of refusals) {
    const problems = await problemsOf(t, withParameters({ name: 'q', ...parameter }));
    t.strictSame(problems, [`operation echo: parameter q: ${problem}`]);
  }
  const ofPath = { name: 'q', in: 'path', required: true, schema: { type: 'array', items: string } };
  const paths = { '/echoes/a{q}': { get: operation('echo', { parameters: [ofPath] }) } };
  const alone = 'an array needs its own part of the path';
  t.strictSame(await problemsOf(t, withPaths(paths)), [`operation echo: parameter q: ${alone}`]);
  const matrix = { ...ofPath, schema: string, style: 'matrix' };
  const styled = { '/echoes/{q}': { get: operation('echo', { parameters: [matrix] }) } };
  t.strictSame(await problemsOf(t, withPaths(styled)), ['operation echo: parameter q: style matrix is not supported']);
});
