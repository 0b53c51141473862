/** Features that third-party contracts use, and the pet store's contract does not. The server serves each of them. */
import { text } from 'node:stream/consumers';
import { setTimeout as wait } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { parse, stringify } from 'yaml';
import { buildUrlOf } from '../../../src/contract-first/engine/routes/urls.ts';
import { toStoredKey } from '../../../src/contract-first/store/api-keys.ts';
import { load, problemsOf } from '../../added-operations.ts';
import type { Json } from '../../any-json.ts';
import { connectRaw } from '../../raw-client.ts';
import { KEY, startService } from '../../service.ts';

const OK = { '200': { description: 'Done.' } };
const json = (schema: Json) => ({ content: { 'application/json': { schema } } });
const get = (source: Json = {}) => ({ get: { responses: OK, ...source } });
const ofId = { parameters: [{ name: 'id', in: 'path', required: true, schema: { type: 'integer' } }] };

/** A contract that contains only these paths. */
const contractOf = (paths: Json, others: Json = {}) =>
  stringify({ openapi: '3.1.0', info: { title: 'Other', version: '1' }, paths, ...others });

/**
 * Serves a contract. Each handler answers with the arguments that it got, unless `answers` has an answer for its
 * operation.
 */
async function serve(t: Test, yaml: string, answers: Record<string, (call: Json) => Json> = {}) {
  const contract = await load(t, yaml);
  const tell = ({ params, query, body, caller }: Json) => ({
    status: 200,
    body: { params, query, body, caller: caller ?? null },
  });
  const handlers = Object.fromEntries([...contract.operations.keys()].map((id) => [id, answers[id] ?? tell]));
  const service = await startService(t, { contract, handlers, yaml: toOpen(yaml) });
  t.match(await service.app.inject('/docs'), { statusCode: 200 }, 'the reference page of the contract is built');
  return service;
}

/**
 * Removes the schemas of the 200 replies from the contract that replies are checked against: in these tests they
 * contain more than the contract declares.
 */
function toOpen(yaml: string): string {
  const document = parse(yaml);
  for (const item of Object.values<Json>(document.paths)) {
    for (const operation of Object.values<Json>(item)) {
      if (operation.responses?.['200']) operation.responses['200'] = { description: 'Done.', ...json({}) };
    }
  }
  return stringify(document);
}

t.test('an operation without an operationId gets one from its summary, or from its method and path', async (t) => {
  const paths = {
    '/users/{name}': {
      ...get(),
      parameters: [{ name: 'name', in: 'path', required: true, schema: { type: 'string' } }],
    },
    '/a': get({ operationId: 'find all' }),
    '/b': get({ operationId: 'list' }),
    '/c': get({ operationId: 'List' }),
    '/get_c': get({ operationId: 'getC' }),
    '/C': get({ operationId: '1' }),
    '/d': { $ref: '#/components/pathItems/shared' },
    '/e': { $ref: '#/components/pathItems/shared' },
    '/f': { $ref: '#/paths/~1e' },
  };
  const pathItems = { shared: get({ operationId: 'shared' }) };
  const { operations } = await load(t, contractOf(paths, { components: { pathItems } }));
  const ids = [...operations].map(([id, { path }]) => [path, id]);
  t.strictSame(ids, [
    ['/users/{name}', 'getUsersByName'],
    ['/a', 'findAll'],
    ['/b', 'list'],
    ['/c', 'getC2'],
    ['/get_c', 'getC'],
    ['/C', 'getC3'],
    ['/d', 'shared'],
    ['/e', 'getE'],
    ['/f', 'getF'],
  ]);
});

t.test('a path parameter may have any characters in its name', async (t) => {
  const id = { name: 'team-id', in: 'path', required: true, schema: { type: 'integer' } };
  const paths = {
    '/teams/{team-id}': { ...get(), parameters: [{ $ref: '#/components/parameters/id' }] },
    '/users/{team-id}': get({ parameters: [id, { name: 'q-r', in: 'query', schema: { type: 'integer' } }] }),
    '/plain': get(),
  };
  const { request } = await serve(t, contractOf(paths, { components: { parameters: { id } } }));
  t.match((await request('/teams/7')).body, { params: { team_id: 7 } });
  t.match((await request('/users/7?q-r=8')).body, { params: { team_id: 7 }, query: { 'q-r': 8 } });
  t.equal((await request('/teams/x')).status, 400);

  const alike = {
    '/users/{a-b}': get({ parameters: [{ ...id, name: 'a-b' }] }),
    '/users/{a_b}': get({ parameters: [{ ...id, name: 'a_b' }] }),
  };
  t.match(await problemsOf(t, contractOf(alike)), [/is also the path of operation getUsersByAB;/]);
});

t.test('a JSON body is checked against the schema of application/json rather than that of */*', async (t) => {
  const content = { 'application/json': { schema: { type: 'object' } }, '*/*': { schema: { type: 'string' } } };
  const post = { operationId: 'add', requestBody: { content }, responses: OK };
  const { request } = await serve(t, contractOf({ '/a': { post } }));
  t.equal((await request('/a', { method: 'POST', body: {} })).status, 200);
  t.equal(
    (await request('/a', { method: 'POST', body: '"text"', headers: { 'content-type': 'application/json' } })).status,
    400,
  );
});

t.test('keywords of OpenAPI 3.0, such as nullable and exclusiveMinimum: true, keep their meaning', async (t) => {
  const schema = {
    type: 'object',
    properties: {
      note: { type: 'string', nullable: true, example: null },
      least: { type: 'integer', minimum: 1, exclusiveMinimum: true },
      most: { type: 'number', maximum: 9, exclusiveMaximum: true },
      from: { type: 'integer', minimum: 1, exclusiveMinimum: false },
      to: { type: 'integer', maximum: 9, exclusiveMaximum: false },
      other: { $ref: '#/components/schemas/Other', nullable: true },
      nullable: { type: 'boolean' },
      whole: { allOf: [{ type: 'string', nullable: true }] },
    },
  };
  const paths = {
    '/a': { post: { operationId: 'add', requestBody: { required: true, ...json(schema) }, responses: OK } },
  };
  const components = { schemas: { Other: { type: 'string', example: { nullable: true }, externalDocs: null } } };
  const yaml = contractOf(paths, { openapi: '3.0.3', components });
  const { request } = await serve(t, yaml);
  const send = async (body: Json) => (await request('/a', { method: 'POST', body })).status;
  for (const body of [
    { note: null },
    { whole: null },
    { least: 2, most: 8.5 },
    { from: 1, to: 9 },
    { other: 'a', nullable: true },
  ]) {
    t.equal(await send(body), 200, JSON.stringify(body));
  }
  for (const body of [{ least: 1 }, { most: 9 }, { from: 0 }, { other: null }, { nullable: null }]) {
    t.equal(await send(body), 400, JSON.stringify(body));
  }
  t.match((await load(t, yaml)).json, '"nullable":true', 'the contract is served unchanged');
});

t.test('an operation may omit its responses, and a GET or HEAD with a requestBody is served without it', async (t) => {
  const requestBody = { required: true, ...json({ type: 'object' }) };
  const paths = { '/a': { ...get({ requestBody }), head: { requestBody, responses: OK } }, '/b': { get: {} } };
  const { request } = await serve(t, contractOf(paths));
  t.equal((await request('/a')).status, 200);
  t.equal((await request('/docs')).status, 200);
});

t.test('mistakes in unused components of a contract are ignored', async (t) => {
  const info = { title: 'Other', version: 1 };
  t.strictSame(await problemsOf(t, contractOf({ '/a': get() }, { info, components: { headers: { A: 1 } } })), []);
  t.match(await problemsOf(t, contractOf({ '/a': get({ tags: [1] }) })), [/tags\/0 must be string/]);
  t.match(await problemsOf(t, contractOf({ '/a': null })), [/^\/paths\/~1a must be object/]);
  t.match(await problemsOf(t, contractOf({ '/a': { get: 'a' } }, { openapi: '3.0.0' })), [/get must be object/]);
});

t.test('a service whose contract has no paths still serves its API reference', async (t) => {
  const contract = await load(t, contractOf(undefined, { webhooks: {} }));
  t.equal(contract.operations.size, 0);
  const { request } = await startService(t, { contract, handlers: {} });
  t.equal((await request('/docs')).status, 200);
});

t.test('if the server URLs of a contract have different paths, the first one is the path prefix', async (t) => {
  const servers = [{ url: 'https://a/{base}/', variables: { base: { default: 'v2' } } }, { url: '/v3' }];
  const { request } = await serve(t, contractOf({ '/a': get() }, { servers }));
  t.equal((await request('/v2/a')).status, 200);
  t.equal((await load(t, contractOf({ '/a': get() }, { servers: [{ url: '/{base}' }] }))).prefix, '');
  t.equal((await load(t, contractOf({ '/a': get() }, { servers: [] }))).prefix, '');
});

t.test('a parameter whose schema allows several types is read as the first type that accepts its text', async (t) => {
  const union = { oneOf: [{ type: 'boolean' }, { type: 'integer', maximum: 9 }, { type: 'string', minLength: 2 }] };
  const parameters = [
    { name: 'a', in: 'query', schema: union },
    { name: 'b', in: 'query', schema: { type: 'array', items: { type: ['number', 'null'] } } },
    { name: 'c', in: 'query', schema: { enum: [1, 2] } },
    { name: 'd', in: 'query', schema: {} },
  ];
  const { request } = await serve(t, contractOf({ '/a': get({ parameters }) }));
  const read = async (search: string) => ((await request(`/a?${search}`)).body as Json).query;
  t.match(await read('a=true'), { a: true });
  t.match(await read('a=7'), { a: 7 });
  t.match(await read('a=70'), { a: '70' });
  t.match(await read('b=1.5&c=2&d=3'), { b: [1.5], c: 2, d: '3' });
  t.equal((await request('/a?a=x')).status, 400);
  t.equal((await request('/a?c=3')).status, 400);
});

t.test("a regular expression that is invalid with JavaScript's u flag is used without the flag", async (t) => {
  const schema = { type: 'string', pattern: '^[\\w-.]+$' };
  const { request } = await serve(t, contractOf({ '/a': get({ parameters: [{ name: 'q', in: 'query', schema }] }) }));
  t.equal((await request('/a?q=a-b.c')).status, 200);
  t.equal((await request('/a?q=a+b')).status, 400);
});

t.test('a path of the contract may contain percent-encoded characters, and requests to it are served', async (t) => {
  const { request } = await serve(t, contractOf({ '/pet%20shops/%C3%A9/{id}%21': get(ofId) }));
  t.equal((await request('/pet%20shops/%c3%a9/7!')).status, 200);
  t.equal((await request('/pet%2520shops/%c3%a9/7!')).status, 404);
  t.match(await problemsOf(t, contractOf({ '/100%': get() })), [
    /its path has a % that begins no encoded character: write %25$/,
  ]);
});

t.test('a contract may have x- fields of a team among its paths and responses', async (t) => {
  const yaml = contractOf({ 'x-note': 'Of the team.', '/a': get({ responses: { 'x-note': 'Of the team.', ...OK } }) });
  const { request } = await serve(t, yaml);
  t.equal((await request('/a')).status, 200);
  t.match(await problemsOf(t, contractOf({ '/a': get({ responses: { ...OK, 'x-sunset': '2030-01-01' } }) })), [
    /x-sunset means nothing here/,
  ]);
});

t.test('a YAML merge key (<<) adds the fields of another object to an operation', async (t) => {
  const yaml = `openapi: 3.1.1
info: { title: Merged, version: '1' }
x-base: &base { responses: { '200': { description: Done. } } }
paths: { /a: { get: { <<: *base, operationId: merged } } }
`;
  const { operations } = await load(t, yaml);
  t.match(operations.get('merged')?.replies, [{ status: '200' }]);
});

t.test('a mistake in the YAML of a contract is reported in one line with its position', async (t) => {
  const head = 'openapi: 3.1.1\n';
  const laughs = [...'bcdefghi'].map((name, index) => `${name}: &${name} [${`*${'abcdefghi'[index]}, `.repeat(9)}]`);
  for (const [yaml, line] of [
    ['info: {\n  title: a\n', /^line \d+, column 1: [^\n]+$/],
    ['info:\n\ttitle: a\n', /^line 3, column 1: Tabs are not allowed as indentation$/],
    ['info: !Ref a\n', /^line 2, column 7: Unresolved tag: !Ref$/],
    ['info: *none\n', /^line 2, column 7: \*none refers to nothing: there is no &none before it$/],
    [`a: &a [1]\n${laughs.join('\n')}\n`, /^line 3, column 8: Excessive alias count [^\n]+$/],
  ] as const) {
    const problems = await problemsOf(t, head + yaml);
    t.equal(problems.length, 1);
    t.match(problems[0], line);
  }
});

t.test('a text in place of a schema is an error of each operation that uses it', async (t) => {
  const components = { schemas: { Broken: { type: 'object', properties: { a: 'text', b: null } }, Unused: 'text' } };
  const schema = { $ref: '#/components/schemas/Broken' };
  const problems = await problemsOf(
    t,
    contractOf({ '/a': get({ responses: { '200': { description: '', ...json(schema) } } }) }, { components }),
  );
  t.strictSame(problems, [
    'operation getA: response 200: body.a: must be a schema, or true or false',
    'operation getA: response 200: body.b: must be a schema, or true or false',
  ]);
  const unused = { $ref: '#/components/schemas/Unused' };
  const leading = contractOf(
    { '/a': get({ responses: { '200': { description: '', ...json(unused) } } }) },
    { components },
  );
  t.strictSame(await problemsOf(t, leading), [
    'operation getA: $ref #/components/schemas/Unused does not lead to a schema',
  ]);
});

t.test('if a regular expression has syntax of another language, the error names it and a replacement', async (t) => {
  const reported = async (pattern: string) => {
    const schema = { type: 'string', pattern };
    return problemsOf(t, contractOf({ '/a': get({ parameters: [{ name: 'q', in: 'query', schema }] }) }));
  };
  for (const [pattern, foreign, advice] of [
    ['\\A[a-z]+\\z', '\\A', '^'],
    ['^a\\z', '\\z', '$'],
    ['\\h', '\\h', '[\\t ]'],
    ['^\\p{IsAlphabetic}+$', '\\p{IsAlphabetic}', 'its characters, such as [A-Za-z]'],
    ['^[[:alpha:]_]+$', '[:alpha:]', 'its characters, such as [A-Za-z]'],
    ['\\x{41}', '\\x{', 'its characters, such as [A-Za-z]'],
    // With the flag for Unicode, `\p{L}` would mean the same in JavaScript, but the rest of this pattern would be
    // invalid.
    ['[\\w-.]\\p{L}', '\\p{L}', 'its characters, such as [A-Za-z]'],
  ] as const) {
    const problem = `pattern ${pattern}: ${foreign} means nothing in JavaScript: write ${advice}`;
    t.strictSame(await reported(pattern), [`operation getA: request.query.q: ${problem}`]);
  }
  for (const pattern of ['\\p{L}', '[\\w-.]\\\\A', '\\-\\@\\x41\\u0041\\d', '[:a]'])
    t.strictSame(await reported(pattern), [], pattern);
});

t.test('a handler gets the fields of both types of forms with the types and defaults of the contract', async (t) => {
  const schema = {
    type: 'object',
    properties: {
      age: { type: 'integer' },
      tags: { type: 'array', items: { type: 'string' } },
      kind: { default: 'dog' },
      free: { type: 'array' },
      one: { type: ['integer', 'string'] },
    },
    required: ['age'],
  };
  const post = {
    operationId: 'add',
    requestBody: { content: { 'application/x-www-form-urlencoded': { schema } } },
    responses: OK,
  };
  const { request } = await serve(t, contractOf({ '/a': { post } }), {
    add: async ({ body }) => {
      const parts = [];
      for await (const { name, value } of body) parts.push([name, value]);
      return { status: 200, body: parts };
    },
  });
  const send = (text: string) =>
    request('/a', { method: 'POST', body: text, headers: { 'content-type': 'application/x-www-form-urlencoded' } });
  t.strictSame((await send('age=7&tags=a&tags=b%20c&free=d&one=8')).body, [
    ['age', 7],
    ['tags', 'a'],
    ['tags', 'b c'],
    ['free', 'd'],
    ['one', 8],
    ['kind', 'dog'],
  ]);
  t.match(await send('age=x'), { status: 400 });
  t.match(await send('tags=a'), { status: 400 });
});

const SCHEMES = {
  token: { type: 'http', scheme: 'bearer', bearerFormat: 'JWT' },
  basic: { type: 'http', scheme: 'basic' },
  cookie: { type: 'apiKey', in: 'cookie', name: 'key' },
  header: { type: 'apiKey', in: 'header', name: 'X-Key' },
  query: { type: 'apiKey', in: 'query', name: 'key' },
};

t.test(
  'clients may send API keys as bearer tokens, basic authentication or cookies; an operation may need two keys or none',
  async (t) => {
    const paths = {
      '/token': get({ security: [{ token: [] }] }),
      '/basic': get({ security: [{ basic: [] }] }),
      '/cookie': get({ security: [{ cookie: [] }] }),
      '/two': get({ security: [{ cookie: [], header: ['write'] }, { basic: [] }] }),
      '/any': get({ security: [{ header: ['write'] }, {}] }),
      '/asked': get({ security: [{ query: [] }, {}] }),
    };
    const { request, store } = await serve(t, contractOf(paths, { components: { securitySchemes: SCHEMES } }));
    const weak = 'weak-key-0123456789';
    await store.createKey(toStoredKey(weak, 'weak', undefined, []));
    const send = async (path: string, headers: Record<string, string> = {}) =>
      (await request(path, { key: null, headers })).status;
    const basic = (text: string) => ({ authorization: `Basic ${Buffer.from(text).toString('base64')}` });

    t.equal(await send('/token', { authorization: `Bearer ${KEY}` }), 200);
    t.equal(await send('/basic', basic(`team:${KEY}`)), 200);
    t.equal(await send('/basic', basic(`${KEY}:`)), 200);
    t.equal(await send('/basic', basic('team:wrong')), 401);
    t.equal(await send('/basic', { authorization: 'Basic' }), 401);
    t.equal(await send('/cookie', { cookie: `a=b; key=${KEY}` }), 200);
    t.equal(await send('/cookie', { cookie: `key=${KEY}; key=${KEY}` }), 401);
    t.equal(await send('/cookie'), 401);
    t.equal(await send('/two', { cookie: `key=${KEY}`, 'x-key': KEY }), 200);
    t.equal(await send('/two', { cookie: `key=${KEY}` }), 401);
    // The server reads the API keys from the store again every second.
    const withWeak = () => send('/two', { cookie: `key=${KEY}`, 'x-key': weak });
    while ((await withWeak()) === 401) await wait(20);
    t.equal(await withWeak(), 403);
    t.equal(await send('/two', { cookie: `key=${KEY}`, ...basic(`:${KEY}`) }), 200);
    t.equal(await send('/any'), 200);
    t.equal(await send('/any', { 'x-key': 'wrong' }), 200);
    for (const query of ['', '?key=wrong', `?key=${KEY}`]) t.equal(await send(`/asked${query}`), 200, query);
    t.match((await request('/any', { key: null, headers: { 'x-key': weak } })).body, { caller: null });
    const { headers } = await request('/basic', { key: null });
    t.equal(headers['www-authenticate'], 'Basic realm="Other"');
  },
);

/** The body and the media type of a 400 reply, from an operation whose 400 response has this content. */
async function errorOf(t: Test, content: Json): Promise<{ type: string; text: string; body: Json }> {
  const parameters = [{ name: 'q', in: 'query', schema: { type: 'integer' } }];
  const responses = { ...OK, '400': { description: 'Wrong.', content } };
  const { request } = await serve(t, contractOf({ '/a': get({ parameters, responses }) }));
  const { status, headers, text, body } = await request('/a?q=<x>');
  t.equal(status, 400);
  return { type: headers['content-type'] as string, text, body: body as Json };
}

const MESSAGE = 'query.q must be of type integer';
const string = { type: 'string' };
const integer = { type: 'integer' };
const boolean = { type: 'boolean' };

t.test('the server sends an error in the media type that its reply declares: JSON, text or HTML', async (t) => {
  const problem = await errorOf(t, { 'application/problem+json': { schema: {} } });
  t.match(problem, { type: /^application\/problem\+json/, body: { code: 'invalid_request' } });
  t.match(await errorOf(t, { 'text/plain': {} }), { type: /^text\/plain/, text: MESSAGE });
  t.match(await errorOf(t, { 'text/html': {} }), { type: /^text\/html/, text: MESSAGE });
  const short = { 'text/plain': { schema: { type: 'string', maxLength: 7 } } };
  t.match(await errorOf(t, short), { type: /^text\/plain/, text: /^query\.q$/ });
});

t.test('if a handler throws an error, the server replies in the media type that the 500 reply declares', async (t) => {
  const responses = { ...OK, '500': { description: 'Wrong.', content: { 'text/plain': {} } } };
  const { request } = await serve(t, contractOf({ '/a': get({ operationId: 'fail', responses }) }), {
    fail: () => {
      throw new Error('a slip');
    },
  });
  t.match(await request('/a'), { status: 500, headers: { 'content-type': /^text\/plain/ }, text: /^[A-Z][^{]+$/ });
});

t.test('if an error declared as text/plain has a schema other than a string, the contract is rejected', async (t) => {
  const text = {
    '400': {
      description: 'Wrong.',
      content: { 'text/plain': { schema: { type: 'object', properties: { message: string }, required: ['message'] } } },
    },
  };
  t.match(await problemsOf(t, contractOf({ '/a': get({ responses: { ...OK, ...text } }) })), [
    /response 400: .* is no such body: body must be of type object/,
  ]);
});

const BIG = '9007199254740993';
const inQuery = (name: string, schema: Json, others: Json = {}) => ({ name, in: 'query', schema, ...others });
const inPath = (name: string, schema: Json) => ({ name, in: 'path', required: true, schema });
const list = (items: Json) => ({ type: 'array', items });
const int64 = { type: 'integer', format: 'int64' };

/** Returns the argument of a handler, with 64-bit integers as texts. */
const plain = (value: Json) =>
  JSON.parse(JSON.stringify(value, (_, inside) => (typeof inside === 'bigint' ? `${inside}n` : inside)));

t.test('the server reads an object parameter from names in brackets or from one parameter per field', async (t) => {
  const fields = { ids: list(int64), name: string, size: { default: 3 } };
  const filter = { allOf: [{ type: 'object', properties: fields, additionalProperties: integer }] };
  const closed = { properties: { sort: string, at: int64 }, additionalProperties: false };
  const parameters = [
    inQuery('filter', filter, { style: 'deepObject' }),
    inQuery('order', closed, { required: true }),
    inQuery('no[t]', boolean),
  ];
  const given: Json[] = [];
  const { request } = await serve(t, contractOf({ '/a': get({ operationId: 'find', parameters }) }), {
    find: ({ query }) => {
      given.push(plain(query));
      return { status: 200, body: null };
    },
  });
  const cases: [search: string, query: Json][] = [
    ['sort=a', { order: { sort: 'a' } }],
    [
      `at=${BIG}&filter[name]=b&no[t]=true`,
      { order: { at: `${BIG}n` }, filter: { name: 'b', size: 3 }, 'no[t]': true },
    ],
    [
      `sort=a&filter%5Bids%5D=1&filter[ids]=${BIG}&filter[others]=4`,
      { order: { sort: 'a' }, filter: { ids: ['1n', `${BIG}n`], others: 4, size: 3 } },
    ],
    ['sort=a&filter[__proto__]=5', { order: { sort: 'a' }, filter: JSON.parse('{"__proto__":5,"size":3}') }],
  ];
  for (const [search, query] of cases) {
    const { status, text } = await request(`/a?${search}`);
    t.equal(status, 200, text);
    t.strictSame(given.at(-1), query, search);
  }
  const wrong: [search: string, message: RegExp][] = [
    ['', /^query\.order is missing$/],
    ['sort=a&sort=b', /^query\.sort is given more than once$/],
    ['sort=a&other=1', /^query\.other is not a known/],
    ['sort=a&filter[others]=x', /^query\.filter\.others must be of type integer$/],
    ['sort=a&filter[a][b]=1', /^query\.filter\[a\]\[b\] is not a known/],
    ['sort=a&filter=1', /^query\.filter must be of type object/],
  ];
  for (const [search, message] of wrong) t.match((await request(`/a?${search}`)).body, { message }, search);
});

t.test('an object parameter that allows any field gets all undeclared query parameters', async (t) => {
  const parameters = [inQuery('input', { type: 'object' }), inQuery('pretty', boolean)];
  const { request } = await serve(t, contractOf({ '/a': get({ parameters }) }));
  t.match((await request('/a?pretty=true&x=1&y=2')).body, { query: { pretty: true, input: { x: '1', y: '2' } } });
});

t.test('urlOf writes parameters that are objects, JSON or arrays into the URL of an operation', async (t) => {
  const content = { 'application/json': { schema: { type: 'object', properties: { id: int64 } } } };
  const parameters = [
    inPath('ids', list(int64)),
    inQuery('a', { type: 'object' }, { style: 'deepObject' }),
    inQuery('b', { type: 'object' }),
    { name: 'c', in: 'query', content },
    inQuery('d', { oneOf: [list(string), boolean] }),
  ];
  const contract = await load(t, contractOf({ '/a/{ids}': get({ operationId: 'find', parameters }) }));
  const urlOf = buildUrlOf(contract) as (...call: unknown[]) => string;
  const query = { a: { x: 1, y: ['p', 'q'] }, b: { z: '&' }, c: { id: 7n }, d: true };
  t.equal(
    urlOf('find', { ids: [1n, 2n] }, query),
    '/a/1,2?a%5Bx%5D=1&a%5By%5D=p&a%5By%5D=q&z=%26&c=%7B%22id%22%3A7%7D&d=true',
  );
});

t.test('a handler gets the numbers of a parameter that contains JSON with every digit', async (t) => {
  const schema = { type: 'object', properties: { id: int64 }, required: ['id'] };
  const parameters = [{ name: 'q', in: 'query', content: { 'application/json': { schema } } }];
  const answers = { find: ({ query }: Json) => ({ status: 200, body: plain(query) }) };
  const { request } = await serve(t, contractOf({ '/a': get({ operationId: 'find', parameters }) }), answers);
  const send = async (text: string) => (await request(`/a?q=${encodeURIComponent(text)}`)).body;
  t.strictSame(await send(`{"id":${BIG}}`), { q: { id: `${BIG}n` } });
  t.strictSame((await request('/a')).body, {});
  t.match(await send('{}'), { message: 'query.q.id is missing' });
  t.match(await send('{id}'), { message: /^query\.q is not JSON/ });
  t.match(await send('{"id":0.12345678901234567890}'), { message: /^query\.q\.id has the number/ });
});

t.test('the server splits an array in the path at its commas before it percent-decodes the items', async (t) => {
  const parameters = [inPath('ids', list(int64)), inPath('names', list(string))];
  const paths = { '/a/{ids}/b/{names}': get({ operationId: 'find', parameters }) };
  const answers = { find: ({ params }: Json) => ({ status: 200, body: plain(params) }) };
  const { request } = await serve(t, contractOf(paths, { servers: [{ url: '//host/v1' }] }), answers);
  const { body } = await request(`/v1/a/1,${BIG}/b/x%2Cy,z+?ids=3`);
  t.match(body, { message: /^query\.ids is not a known/ });
  t.strictSame((await request(`/v1/a/1,${BIG}/b/x%2Cy,z+`)).body, { ids: ['1n', `${BIG}n`], names: ['x,y', 'z+'] });
  t.equal((await request('/v1/a/x/b/y')).status, 400);
});

t.test('a parameter whose schema allows an array or a text is read as the type that its value fits', async (t) => {
  const schema = { items: string, maxItems: 2, oneOf: [{ type: 'array' }, { type: 'string', maxLength: 3 }] };
  const parameters = [inQuery('q', schema), inQuery('r', { anyOf: [list(integer), { type: 'null' }, list(string)] })];
  const { request } = await serve(t, contractOf({ '/a': get({ parameters }) }));
  const send = async (search: string) => (await request(`/a?${search}`)).body;
  t.match(await send('q=abc'), { query: { q: 'abc' } });
  t.match(await send('q=long'), { query: { q: ['long'] } });
  t.match(await send('q=a&q=b'), { query: { q: ['a', 'b'] } });
  t.match(await send('r=1&r=2'), { query: { r: [1, 2] } });
  t.match(await send('r=a'), { query: { r: ['a'] } });
  t.match(await send('q=a&q=b&q=c'), { status: 400 });
});

t.test('if the API key is a query parameter, handlers do not get the parameter', async (t) => {
  const securitySchemes = { inQuery: { type: 'apiKey', in: 'query', name: 'key' } };
  const source = get({ parameters: [inQuery('key', integer, { required: true })], security: [{ inQuery: [] }] });
  const { request } = await serve(t, contractOf({ '/a': source }, { components: { securitySchemes } }));
  t.equal((await request('/a', { key: null })).status, 401);
  t.match((await request(`/a?key=${KEY}`, { key: null })).body, { query: {} });
});

t.test('a contract with links and headers that have no effect is served', async (t) => {
  const links = { next: { operationId: 'none' }, back: { operationId: 'find', parameters: { r: '1' } } };
  const headers = { Location: { schema: { type: 'string', pattern: '^https:' } } };
  const responses = { '200': { description: 'Found.', links, headers } };
  const { request } = await serve(t, contractOf({ '/a': get({ operationId: 'find', responses }) }));
  t.equal((await request('/a')).status, 200);
});

t.test('a handler gets JSON in form fields as values; a file of an undeclared media type is rejected', async (t) => {
  const point = { type: 'object', properties: { id: int64 }, required: ['id'] };
  const file = { anyOf: [{ type: 'string', format: 'binary' }, { type: 'null' }] };
  const schema = { properties: { point, points: list(point), file, any: list(file) } };
  const encoding = { file: { contentType: 'image/png, text/*' } };
  const bytes = { type: 'string', format: 'binary' };
  const paths = {
    '/a': {
      post: {
        operationId: 'add',
        requestBody: { content: { 'multipart/form-data': { schema, encoding } } },
        responses: OK,
      },
    },
    '/b': {
      post: {
        operationId: 'keep',
        requestBody: { content: { 'multipart/form-data': { schema: bytes } } },
        responses: OK,
      },
    },
  };
  const { request } = await serve(t, contractOf(paths), {
    add: async ({ body }) => {
      const parts = [];
      for await (const { name, value, contentType } of body) parts.push([name, plain(value ?? contentType)]);
      return { status: 200, body: parts };
    },
    keep: async ({ body }) => ({ status: 200, body: (await text(body)).length }),
  });
  const send = async (path: string, ...parts: [name: string, value: string | Blob][]) => {
    const form = new FormData();
    for (const [name, value] of parts) form.append(name, value);
    const { headers, body } = new Request('http://localhost', { method: 'POST', body: form }) as Json;
    const type = headers.get('content-type') as string;
    return request(path, { method: 'POST', body: await text(body), headers: { 'content-type': type } });
  };
  const [png, html, pdf] = ['image/png', 'text/html', 'application/pdf'].map((type) => new Blob(['x'], { type }));
  const id = `{"id":${BIG}}`;
  t.strictSame(
    (
      await send(
        '/a',
        ['point', id],
        ['points', id],
        ['points', '{"id":2}'],
        ['file', html as Blob],
        ['any', pdf as Blob],
      )
    ).body,
    [
      ['point', { id: `${BIG}n` }],
      ['points', { id: `${BIG}n` }],
      ['points', { id: '2n' }],
      ['file', 'text/html'],
      ['any', 'application/pdf'],
    ],
  );
  t.equal((await send('/a', ['file', png as Blob])).status, 200);
  const wrong: [name: string, value: string | Blob, message: RegExp][] = [
    ['file', pdf as Blob, /^body\.file must be of type image\/png or text\/\*$/],
    ['point', '{}', /^body\.point\.id is missing$/],
    ['point', '{id}', /^body\.point is not JSON/],
  ];
  for (const [name, value, message] of wrong) t.match((await send('/a', [name, value])).body, { status: 400, message });
  t.equal((await send('/b', ['any', 'x'])).status, 200);
});

t.test('the server checks a body even if its schema is too large for a single check function', async (t) => {
  const wide = (inside: Json) => ({
    type: 'object',
    properties: Object.fromEntries(Array.from({ length: 20 }, (_, index) => [`f${index}`, inside])),
    additionalProperties: false,
  });
  const schemas = {
    A: wide(integer),
    B: wide({ $ref: '#/components/schemas/A' }),
    C: wide({ $ref: '#/components/schemas/B' }),
    D: wide({ $ref: '#/components/schemas/C' }),
  };
  const post = {
    operationId: 'add',
    requestBody: json({ $ref: '#/components/schemas/D' }),
    responses: OK,
  };
  const { request } = await serve(t, contractOf({ '/a': { post } }, { components: { schemas } }));
  const send = (value: unknown) => request('/a', { method: 'POST', body: { f1: { f2: { f3: { f4: value } } } } });
  t.equal((await send(1)).status, 200);
  t.match((await send('a')).body, { message: 'body.f1.f2.f3.f4 must be of type integer' });
});

t.test('a path may contain colons, and two methods of a path may name its parameters differently', async (t) => {
  const paths = {
    '/things:batch': get(),
    '/things/{id}:stop': get({ parameters: [inPath('id', integer)] }),
    '/at/{lat},{lon}.{type}': get({
      parameters: [inPath('lat', integer), inPath('lon', integer), inPath('type', string)],
    }),
    '/others/{a}': get({ parameters: [inPath('a', string)] }),
    '/others/{b}': { delete: { parameters: [inPath('b', string)], responses: OK } },
  };
  const { request } = await serve(t, contractOf(paths, { servers: [{ url: '/bot1:x' }] }));
  t.equal((await request('/bot1:x/things:batch')).status, 200);
  t.equal((await request('/bot1:x/thingsx')).status, 404);
  t.match((await request('/bot1:x/things/7:stop')).body, { params: { id: 7 } });
  t.match((await request('/bot1:x/at/1,-2.json')).body, { params: { lat: 1, lon: -2, type: 'json' } });
  t.match((await request('/bot1:x/others/1')).body, { params: { a: '1' } });
  t.match((await request('/bot1:x/others/1', { method: 'DELETE' })).body, { params: { b: '1' } });
  t.equal((await request('/bot1:x/others/1', { method: 'PUT' })).headers.allow, 'DELETE, GET, HEAD');
});

t.test('the server matches several parameters in one path segment in linear time', async (t) => {
  const at = ['a', 'b', 'c'].map((name) => inPath(name, string));
  const paths = {
    '/comma/{a},{b},{c}:all': get({ parameters: at }),
    '/letter/{a}x{b}(0){c}': get({ parameters: at }),
    '/mixed/{a}~{b}.{c}': get({ parameters: at }),
  };
  const { port, request } = await serve(t, contractOf(paths));
  for (const url of ['/comma/1,2,3,4:all', '/letter/1x2(0)3,4', '/mixed/1~2.3,4'])
    t.match((await request(url)).body, { params: { a: '1', b: '2', c: '3,4' } }, url);
  for (const path of Object.keys(paths)) {
    const urls = [',', 'x', '(0)', '~', '.', ',:al'].map((text) =>
      path.replace(/\{.*/, text.repeat(4000 / text.length)),
    );
    const sent = urls.map((url) => `GET ${url} HTTP/1.1\r\nHost: a\r\n\r\n`);
    const client = connectRaw(port, ...sent);
    const before = process.cpuUsage().user;
    t.strictSame(new Set((await client.replies(6)).map(({ status }) => status)), new Set([404]), path);
    t.ok(process.cpuUsage().user - before < 2e6, path);
    client.socket.destroy();
  }
});

t.test('a contract with a query string in a path is rejected', async (t) => {
  t.strictSame(await problemsOf(t, contractOf({ '/a?b={c}': get({ parameters: [inPath('c', string)] }) })), [
    'operation getABByC: its path ends before ?b={c}',
  ]);
});
