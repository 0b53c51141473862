/** What contracts of others have, and ours has not: each is served as it says. */
import { setTimeout as wait } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { parse, stringify } from 'yaml';
import { toStoredKey } from '../../src/access/api-keys.ts';
import type { Json } from '../../src/schema/json.ts';
import { load, problemsOf } from '../added-operations.ts';
import { KEY, startService } from '../service.ts';

const OK = { '200': { description: 'Done.' } };
const json = (schema: Json) => ({ content: { 'application/json': { schema } } });
const get = (source: Json = {}) => ({ get: { responses: OK, ...source } });

/** A contract of nothing but these paths. */
const contractOf = (paths: Json, others: Json = {}) =>
  stringify({ openapi: '3.1.0', info: { title: 'Other', version: '1' }, paths, ...others });

/** Serves it. Each handler answers with what it is given; `answers` are by operation. */
async function serve(t: Test, yaml: string, answers: Record<string, (call: Json) => Json> = {}) {
  const contract = await load(t, yaml);
  const tell = ({ params, query, body, caller }: Json) => ({
    status: 200,
    body: { params, query, body, caller: caller ?? null },
  });
  const handlers = Object.fromEntries([...contract.operations.keys()].map((id) => [id, answers[id] ?? tell]));
  return startService(t, { contract, handlers, yaml: toOpen(yaml) });
}

/** For the check of replies: here they tell more than their contract has. */
function toOpen(yaml: string): string {
  const document = parse(yaml);
  for (const item of Object.values<Json>(document.paths)) {
    for (const operation of Object.values<Json>(item)) {
      if (operation.responses?.['200']) operation.responses['200'] = { description: 'Done.', ...json({}) };
    }
  }
  return stringify(document);
}

t.test('an operation without an id of its own has one of its words, or of its method and path', async (t) => {
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
  ]);
});

t.test('a name in a path may have any characters', async (t) => {
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
  t.match(await problemsOf(t, contractOf(alike)), [/is the path of operation getUsersByAB, too/]);
});

t.test('a type of its own comes before a range of types', async (t) => {
  const content = { 'application/json': { schema: { type: 'object' } }, '*/*': { schema: { type: 'string' } } };
  const post = { operationId: 'add', requestBody: { content }, responses: OK };
  const { request } = await serve(t, contractOf({ '/a': { post } }));
  t.equal((await request('/a', { method: 'POST', body: {} })).status, 200);
  t.equal(
    (await request('/a', { method: 'POST', body: '"text"', headers: { 'content-type': 'application/json' } })).status,
    400,
  );
});

t.test('a contract of OpenAPI 3.0 means what it says there', async (t) => {
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
  t.match((await load(t, yaml)).json, '"nullable":true', 'it is served as it stands');
});

t.test('an operation may have no responses, and the body of a GET or HEAD means nothing', async (t) => {
  const requestBody = { required: true, ...json({ type: 'object' }) };
  const paths = { '/a': { ...get({ requestBody }), head: { requestBody, responses: OK } }, '/b': { get: {} } };
  const { request } = await serve(t, contractOf(paths));
  t.equal((await request('/a')).status, 200);
  t.equal((await request('/docs')).status, 200);
});

t.test('what is wrong where no operation uses it is left alone', async (t) => {
  const info = { title: 'Other', version: 1 };
  t.strictSame(await problemsOf(t, contractOf({ '/a': get() }, { info, components: { headers: { A: 1 } } })), []);
  t.match(await problemsOf(t, contractOf({ '/a': get({ tags: [1] }) })), [/tags\/0 must be string/]);
  t.match(await problemsOf(t, contractOf({ '/a': null })), [/^\/paths\/~1a must be object/]);
  t.match(await problemsOf(t, contractOf({ '/a': { get: 'a' } }, { openapi: '3.0.0' })), [/get must be object/]);
});

t.test('servers may have variables, and prefixes of their own: the first one is served', async (t) => {
  const servers = [{ url: 'https://a/{base}/', variables: { base: { default: 'v2' } } }, { url: '/v3' }];
  const { request } = await serve(t, contractOf({ '/a': get() }, { servers }));
  t.equal((await request('/v2/a')).status, 200);
  t.equal((await load(t, contractOf({ '/a': get() }, { servers: [{ url: '/{base}' }] }))).prefix, '');
  t.equal((await load(t, contractOf({ '/a': get() }, { servers: [] }))).prefix, '');
});

t.test('a parameter of several types has the first value that its schema allows', async (t) => {
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

t.test('patterns that are not of Unicode are read as they are written', async (t) => {
  const schema = { type: 'string', pattern: '^[\\w-.]+$' };
  const { request } = await serve(t, contractOf({ '/a': get({ parameters: [{ name: 'q', in: 'query', schema }] }) }));
  t.equal((await request('/a?q=a-b.c')).status, 200);
  t.equal((await request('/a?q=a+b')).status, 400);
});

t.test('forms of both types have fields of their types, and defaults come last', async (t) => {
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
  oauth: { type: 'oauth2', flows: {} },
  basic: { type: 'http', scheme: 'basic' },
  cookie: { type: 'apiKey', in: 'cookie', name: 'key' },
  header: { type: 'apiKey', in: 'header', name: 'X-Key' },
};

t.test('keys are sent by OAuth 2, basic authentication and cookies, two at once, or not at all', async (t) => {
  const paths = {
    '/oauth': get({ security: [{ oauth: [] }] }),
    '/basic': get({ security: [{ basic: [] }] }),
    '/cookie': get({ security: [{ cookie: [] }] }),
    '/two': get({ security: [{ cookie: [], header: ['write'] }, { basic: [] }] }),
    '/any': get({ security: [{ header: ['write'] }, {}] }),
  };
  const { request, store } = await serve(t, contractOf(paths, { components: { securitySchemes: SCHEMES } }));
  const weak = 'weak-key-0123456789';
  await store.createKey(toStoredKey(weak, 'weak', undefined, []));
  const send = async (path: string, headers: Record<string, string> = {}) =>
    (await request(path, { key: null, headers })).status;
  const basic = (text: string) => ({ authorization: `Basic ${Buffer.from(text).toString('base64')}` });

  t.equal(await send('/oauth', { authorization: `Bearer ${KEY}` }), 200);
  t.equal(await send('/basic', basic(`team:${KEY}`)), 200);
  t.equal(await send('/basic', basic(`${KEY}:`)), 200);
  t.equal(await send('/basic', basic('team:wrong')), 401);
  t.equal(await send('/basic', { authorization: 'Basic' }), 401);
  t.equal(await send('/cookie', { cookie: `a=b; key=${KEY}` }), 200);
  t.equal(await send('/cookie', { cookie: `key=${KEY}; key=${KEY}` }), 401);
  t.equal(await send('/cookie'), 401);
  t.equal(await send('/two', { cookie: `key=${KEY}`, 'x-key': KEY }), 200);
  t.equal(await send('/two', { cookie: `key=${KEY}` }), 401);
  // The keys of the store are read again in each second.
  const withWeak = () => send('/two', { cookie: `key=${KEY}`, 'x-key': weak });
  while ((await withWeak()) === 401) await wait(20);
  t.equal(await withWeak(), 403);
  t.equal(await send('/two', { cookie: `key=${KEY}`, ...basic(`:${KEY}`) }), 200);
  t.equal(await send('/any'), 200);
  t.equal(await send('/any', { 'x-key': 'wrong' }), 200);
  t.match((await request('/any', { key: null, headers: { 'x-key': weak } })).body, { caller: null });
  const { headers } = await request('/basic', { key: null });
  t.equal(headers['www-authenticate'], 'Basic realm="Other"');
});

/** The body of a 400 and its type, of an operation whose replies have this content. */
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
const object = (properties: Json, required: string[] = Object.keys(properties)) => ({
  type: 'object',
  properties,
  required,
});

/** Error schemas, and how they are filled. */
const FILLED: [sentence: string, schema: Json, body: Json][] = [
  [
    'RFC 9457',
    object(
      {
        type: { ...string, format: 'uri-reference' },
        title: string,
        status: integer,
        detail: string,
        instance: string,
      },
      ['type', 'title', 'status', 'detail'],
    ),
    { type: 'about:blank', title: 'invalid_request', status: 400, detail: MESSAGE },
  ],
  [
    'an error in an object',
    object({ error: object({ code: integer, message: string }) }),
    { error: { code: 400, message: MESSAGE } },
  ],
  [
    'a success that is false',
    object({ success: boolean, error: string }),
    { success: false, error: 'invalid_request' },
  ],
  ['a flag and a constant', object({ failed: boolean, kind: { const: 'error' } }), { failed: true, kind: 'error' }],
  ['a status that is text', object({ status: string, message: string }), { status: '400', message: MESSAGE }],
  [
    'a list of errors',
    object({ errors: { type: 'array', items: object({ message: string }), minItems: 1 } }),
    { errors: [{ message: MESSAGE }] },
  ],
  [
    'a list of what nothing is known of',
    object({ code: string, where: { type: 'array', items: integer } }),
    { code: 'invalid_request', where: [] },
  ],
  [
    'null where nothing is known',
    object({ message: string, data: { type: ['integer', 'null'] } }),
    { message: MESSAGE, data: null },
  ],
  [
    'alternatives',
    { anyOf: [object({ area: integer }), object({ message: string, status: integer })] },
    { message: MESSAGE, status: 400 },
  ],
  ['a required text of any name', object({ title: string, hint: string }), { title: 'invalid_request', hint: MESSAGE }],
  ['text', string, JSON.stringify(MESSAGE)],
  ['no type', { properties: { message: string }, required: ['message'], maxProperties: 1 }, { message: MESSAGE }],
  [
    'parts',
    { allOf: [{ required: ['status', 'message'] }], type: 'object', properties: { status: integer, message: string } },
    { status: 400, message: MESSAGE },
  ],
];

for (const [sentence, schema, body] of FILLED) {
  t.test(`an error is filled by its names and types: ${sentence}`, async (t) => {
    t.strictSame((await errorOf(t, json(schema).content)).body, body);
  });
}

t.test('an error has the type of its reply, as JSON or as text', async (t) => {
  const problem = await errorOf(t, { 'application/problem+json': { schema: {} } });
  t.match(problem, { type: /^application\/problem\+json/, body: { code: 'invalid_request' } });
  t.match(await errorOf(t, { 'text/plain': {} }), { type: /^text\/plain/, text: MESSAGE });
  t.match(await errorOf(t, { 'text/html': {} }), { type: /^text\/html/, text: MESSAGE });
  const short = { 'text/plain': { schema: { type: 'string', maxLength: 7 } } };
  t.match(await errorOf(t, short), { type: /^text\/plain/, text: /^query\.q$/ });
});

t.test('an error that nobody can fill is refused', async (t) => {
  const text = { '400': { description: 'Wrong.', content: { 'text/plain': { schema: object({ message: string }) } } } };
  t.match(await problemsOf(t, contractOf({ '/a': get({ responses: { ...OK, ...text } }) })), [
    /response 400: its body cannot be the Error .* body must be of type object/,
  ]);
  const unknown = [
    object({ area: integer }),
    object({ kind: { enum: ['a', 'b'] } }),
    object({ when: { ...string, format: 'date' } }),
    object({ list: { type: 'array', items: integer, minItems: 1 } }),
    object({ a: object({ b: object({ c: object({ d: object({ message: string }) }) }) }) }),
    false,
  ];
  for (const schema of unknown) {
    const responses = { ...OK, '400': { description: 'Wrong.', ...json(schema) } };
    const problems = await problemsOf(t, contractOf({ '/a': get({ responses }) }));
    t.match(problems, [/response 400: its body cannot be the Error/], JSON.stringify(schema));
  }
});
