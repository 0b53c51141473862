/** `contract-first/test`: the test server, the typed client and the check of replies for the tests of a service. */
import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { handle, refuse } from 'contract-first';
import type { FastifyInstance } from 'fastify';
import t from 'tap';
import { ContractCheck } from '../src/contract-first/testing/contract-check.ts';
import { openTestServer } from '../src/contract-first/testing/index.ts';
import { buildRequest, send } from '../src/contract-first/testing/requests.ts';
import { shareTestServer } from '../src/contract-first/testing/shared-server.ts';
import { service } from '../src/generated/service.ts';
import { edited } from './edited-contract.ts';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const NEW = { name: 'Rex', categoryId: 2n ** 63n - 1n };

t.test(
  "the test client calls operations by their names, with exact integers; the test server's database is in memory",
  async (t) => {
    const { client, collections, request, key } = await openTestServer(t, service);
    const created = await client.createPet({ body: NEW });
    t.match(created, { status: 201, body: { id: 1n, ...NEW }, headers: { location: '/v1/pets/1' } });
    t.strictSame((await client.getPet({ params: { petId: 1n } })).body, created.body);
    t.same((await collections.pets.get(1n))?.read(), created.body);
    t.match(await client.listPets(), { status: 200, body: [NEW] });
    t.match(await client.createPet({ body: '{"name":"Mia","categoryId":7}' as never }), {
      status: 201,
      body: { id: 2n },
    });
    t.match(await client.createPet({ body: Buffer.from('[]') as never }), { status: 400 });
    t.match(await client.listPets({ key: null }), { status: 401 });
    t.match(await request('/v1/pets'), { status: 200, body: [NEW, { id: 2 }] });
    t.match(await request('/v1/pets', { method: 'HEAD' }), { status: 200, body: '' });
    t.match(await request('/docs'), { status: 200, body: /^<!doctype html>/i });
    t.match(await request('/v1/pets', { method: 'POST', body: '{', key }), {
      status: 400,
      body: { code: 'malformed_json' },
    });
    t.match(await request('/v1/none', { key: null, headers: { accept: ['text/html', '*/*'] } }), { status: 404 });
  },
);

t.test('the test server accepts any body of an error whose status the contract does not declare', async (t) => {
  const yaml = edited((document) => {
    const { responses } = document.paths['/pets/{petId}'].get;
    for (const status of ['401', 'default']) delete responses[status];
  });
  const folder = t.testdir({ openapi: { 'petstore.yaml': yaml } });
  const contract = pathToFileURL(`${folder}/openapi/petstore.yaml`);
  const { client, port } = await openTestServer(t, { ...service, contract });
  t.match(await client.getPet({ params: { petId: 1n }, key: null }), { status: 401, body: { code: 'unauthorized' } });
  t.match(await send(port, '/v1/pets/1'), { status: 401, text: /unauthorized/ });
});

t.test('each test server has its own database, and is closed at the end of its test', async (t) => {
  const ends: (() => Promise<void>)[] = [];
  const { port, app, request } = await openTestServer({ after: (end) => ends.push(end) }, service);
  t.equal((await request('/v1/pets')).text, '[]');
  t.equal(app.server.address() !== null && port > 0, true);
  for (const end of ends) await end();
  await t.rejects(request('/v1/pets'), { code: 'ECONNREFUSED' });
});

t.test(
  'tests can share one server: it is open until the process closes it, and later tests have their own',
  async (t) => {
    const close = shareTestServer();
    const open = () => openTestServer({ after: () => t.fail('a shared server does not end with a test') }, service);
    const [one, other] = await Promise.all([open(), open()]);
    t.equal(one, other);
    await one.client.createPet({ body: NEW });
    t.match(await other.client.listPets(), { body: [NEW] });
    await close();
    await t.rejects(one.request('/v1/pets'), { code: 'ECONNREFUSED' });
    const own = await openTestServer(t, service);
    t.match(await own.client.listPets(), { body: [] });
    await shareTestServer()();
  },
);

t.test(
  "a test server loads the team's plugins, and builds the team's services from their settings unless the test passes fakes",
  async (t) => {
    const own = {
      ...service,
      settings: {
        BANK: { kind: 'text', fallback: 'none' },
        LEVEL: { kind: 'integer', fallback: 1, least: 0, most: 9 },
      },
      buildServices: (config: object) => config,
      loadPlugins: async () => ({
        addPlugins: async (app: FastifyInstance) => {
          app.addHook('onSend', async (_request, reply) => void reply.header('x-word', 'hello'));
        },
      }),
    } as never;
    const { app, request } = await openTestServer(t, own, { env: { BANK: 'mine' } });
    t.strictSame({ ...app.contractFirst.services }, { BANK: 'mine', LEVEL: 1 });
    await t.rejects(request('/v1/pets'), { message: 'The reply breaks the contract: header x-word is not documented' });
    const faked = await openTestServer(t, own, { services: { bank: 'fake' } as never });
    t.strictSame({ ...faked.app.contractFirst.services }, { bank: 'fake' });
  },
);

t.test("if a handler makes a change without passing on the request's Idempotency-Key, the test fails", async (t) => {
  const createPet = handle('createPet', async ({ body, pets, urlOf }) => {
    if (body.name === 'Mia') return refuse('idempotency_key_reused', 'No.');
    const pet = await pets.create(body);
    return { status: 201, body: pet, headers: { Location: urlOf('getPet', { petId: pet.id }) } };
  });
  const { client } = await openTestServer(t, { ...service, handlers: { ...service.handlers, createPet } });
  const headers = { 'Idempotency-Key': 'one' };
  t.match(await client.createPet({ body: NEW }), { status: 201 });
  t.match(await client.createPet({ body: { ...NEW, name: 'Mia' }, headers }), { status: 422 });
  const message = /^operation createPet has answered a request without passing on its Idempotency-Key/;
  await t.rejects(client.createPet({ body: NEW, headers }), { message });
  // A test server reports this once, and not with each request.
  t.match(await client.createPet({ body: NEW, headers }), { status: 201 });
  const { client: ours } = await openTestServer(t, service);
  for (const status of [201, 201]) t.match(await ours.createPet({ body: NEW, headers }), { status });
});

t.test('if a handler throws, the test server prints the error, because the 500 reply does not show it', async (t) => {
  const listPets = handle('listPets', async () => {
    throw new Error('the shelf is empty');
  });
  const { request } = await openTestServer(t, { ...service, handlers: { ...service.handlers, listPets } });
  const written = t.capture(process.stderr, 'write');
  t.match(await request('/v1/pets'), { status: 500 });
  t.match(String(written().map(({ args }) => args[0])), 'the shelf is empty');
});

t.test('openTestServer() accepts the test context of node:test', (t) => {
  const text = `import assert from 'node:assert';
    import { test } from 'node:test';
    import { openTestServer } from 'contract-first/test';
    import { service } from '${ROOT}src/generated/service.ts';
    test('a pet', async (t) => {
      const { client } = await openTestServer(t, service);
      assert.equal((await client.getPet({ params: { petId: 1n } })).status, 404);
    });`;
  const args = [`--import=${ROOT}scripts/typescript/register.js`, '--input-type=module', '--eval', text];
  const { status, stdout, stderr } = spawnSync(process.execPath, args, { cwd: ROOT, encoding: 'utf8' });
  t.match({ status, stdout }, { status: 0, stdout: /pass 1/ }, stderr);
  t.end();
});

const YAML = `
openapi: 3.1.0
info: { title: Books, version: 1.0.0 }
servers: [{ url: https://books.example/v1/ }]
paths:
  /books/{book-id}:
    get:
      responses:
        "200":
          description: A book.
          headers:
            X-Count: { required: true, schema: { type: integer } }
            X-Word: { $ref: "#/components/headers/Word" }
          content:
            application/json: { schema: { $ref: "#/components/schemas/Book" } }
            text/plain: {}
        "202": { description: Empty., content: {} }
        "204": { description: None. }
        4XX: { $ref: "#/components/responses/Fault" }
  /books/mine:
    get:
      responses: { "204": { description: None. }, default: { description: A fault. } }
components:
  headers: { Word: { schema: { type: string, maxLength: 3 } } }
  responses: { Fault: { description: A fault., content: { application/json: { schema: { $ref: "#/components/schemas/Error" } } } } }
  schemas:
    Error: { type: object, properties: { status: { type: integer } } }
    Book:
      type: object
      required: [id, secret]
      properties:
        id: { type: integer, format: int64 }
        "a/b~": { type: number, format: decimal }
        secret: { type: string, writeOnly: true }
        code: { x-extensible-enum: [one] }
        any: { type: object, properties: { x: { type: string, writeOnly: true } } }
`;
const SAFE = {
  'cache-control': 'no-store',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'x-content-type-options': 'nosniff',
};
const JSON_TYPE = { 'content-type': 'application/json', 'x-count': '1' };

t.test('for each way in which a reply can break the contract, the test server fails with its own message', (t) => {
  const check = new ContractCheck(YAML);
  const strict = new ContractCheck(YAML, { isComplete: true });
  for (const [status, headers, text, problems, { method = 'GET', url = '/v1/books/7', by = check } = {}] of [
    [200, JSON_TYPE, '{"id":1}', []],
    [200, JSON_TYPE, '{"id":1,"code":"one","any":{}}', []],
    [200, { ...JSON_TYPE, 'x-request-id': 'a', deprecation: '@1' }, '{"id":1}', []],
    [
      200,
      { ...JSON_TYPE, 'x-request-id': 'a' },
      '{"id":1}',
      [/^header x-request-id is not documented/],
      { by: strict },
    ],
    [200, JSON_TYPE, '{}', [/^body: .* must have required property 'id'/]],
    [200, JSON_TYPE, '{"id":1,"more":1}', [/unevaluated properties/]],
    [200, JSON_TYPE, '{"id":1,"secret":"a"}', [/secret/]],
    [200, JSON_TYPE, '{"id":1,"code":"two"}', [/x-extensible-enum/]],
    [200, JSON_TYPE, '{"id":9223372036854775808}', [/^9223372036854775808 is no 64-bit integer/]],
    [
      200,
      { 'content-type': 'application/json', 'x-word': 'long' },
      '{"id":1}',
      [/^header X-Count is missing/, /^header X-Word: /],
    ],
    [200, { 'content-type': 'text/html', 'x-count': '1' }, '', [/^content type text\/html is not documented/]],
    [200, { 'content-type': 'text/plain', 'x-count': '1' }, 'a', []],
    [200, JSON_TYPE, '', [], { method: 'HEAD' }],
    [200, JSON_TYPE, '{}', [/^the reply to HEAD has a body/], { method: 'HEAD' }],
    [201, {}, '', [/^status 201 is not documented for GET/]],
    [202, {}, '', []],
    [202, {}, 'a', [/^a body is not documented/]],
    [204, {}, '', []],
    [204, {}, 'a', [/^a body is not documented/]],
    [204, {}, '', [], { url: '/v1/books/mine' }],
    [404, { 'content-type': 'text/plain' }, 'a', [/^content type text\/plain/]],
    [404, { 'content-type': 'application/json' }, '{"status":404}', [], { by: strict }],
    [
      404,
      { 'content-type': 'application/json' },
      '{"status":400}',
      [/^body.status is 400, the reply's is 404/],
      { by: strict },
    ],
    [500, {}, 'a', [], { url: '/v1/books/mine' }],
    [500, {}, '', [], { url: '/v1/books/mine', by: strict }],
    [404, {}, 'a', [], { url: '/none' }],
    [404, {}, '{"status":404}', [], { url: '/none', by: strict }],
    [200, {}, 'a', [], { url: '/docs' }],
  ] as [number, Record<string, string>, string, RegExp[], { method?: string; url?: string; by?: ContractCheck }?][]) {
    const found = by.problemsOf(method, url, { status, headers: { ...SAFE, ...headers }, text });
    t.match({ count: found.length, found }, { count: problems.length, found: problems }, `${status} ${text}`);
  }
  t.match(check.problemsOf('GET', '/docs', { status: 200, headers: {}, text: '' }), [/^cache-control is not safe/]);
  t.same(new ContractCheck('{"openapi":"3.1.0"}').problemsOf('GET', '/', { status: 200, headers: SAFE, text: '' }), []);
  t.end();
});

const STRANGE = `
openapi: 3.1.0
info: { title: Strange, version: 1.0.0 }
servers: [{ url: "{origin}/v{major}/", variables: { origin: { default: "https://books.example" }, major: { default: "1" } } }]
paths:
  /a+b.$/(c)/straße/x%20y/{id}.{form}#second:
    get: { responses: { "204": { description: None. } } }
  /books:
    get: { responses: { "200": { description: It., content: { "*/*": { schema: { type: integer } }, application/a+json: {}, Text/CSV: {} } } } }
`;

t.test(
  'for an operation without declared responses, the test server reports a success reply and accepts any error body',
  (t) => {
    const check = new ContractCheck('openapi: 3.1.0\npaths: { /a: { get: { operationId: a } } }');
    const reply = { headers: SAFE, text: '' };
    t.strictSame(check.problemsOf('GET', '/a', { status: 501, ...reply }), []);
    t.strictSame(check.problemsOf('GET', '/a', { status: 200, ...reply }), ['status 200 is not documented for GET /a']);
    t.end();
  },
);

t.test('the test server checks replies below any path prefix, and for paths with any characters', (t) => {
  const check = new ContractCheck(STRANGE);
  const found = (url: string, status: number, headers = {}, text = '') =>
    check.problemsOf('GET', url, { status, headers: { ...SAFE, ...headers }, text });
  for (const url of ['/v1/a+b.$/(c)/stra%C3%9Fe/x%20y/1.csv?a=1', '/v1/a%2Bb.%24/(c)/straße/x y/a%2Fb.%zz']) {
    t.ok(check.isOperation('GET', url), url);
    t.strictSame(found(url, 204), []);
    t.match(found(url, 200), [/^status 200 is not documented/]);
  }
  for (const url of [
    '/v1/aab.$/(c)/stra%C3%9Fe/x%20y/1.csv',
    '/v1/a+b.$/(c)/stra%C3%9Fe/x%20y/1',
    '/books',
    '/v1/books/1',
  ])
    t.notOk(check.isOperation('GET', url), url);
  t.notOk(check.isOperation('PUT', '/v1/books'));
  t.strictSame(found('/v1/books', 200, { 'content-type': 'application/json; charset=utf-8' }, '1'), []);
  t.match(found('/v1/books', 200, { 'content-type': 'application/json' }, '"a"'), [/must be integer/]);
  t.strictSame(found('/v1/books', 200, { 'content-type': 'text/csv' }, 'a'), []);
  t.strictSame(found('/v1/books', 200, { 'content-type': 'application/a+json' }, '[]'), []);
  t.match(found('/v1/books', 200, { 'content-type': 'image/png' }, 'a'), [/image\/png is not documented/]);
  t.end();
});

t.test('the test server accepts the fields of all parts of a composed schema, and reports other fields', (t) => {
  const ref = (name: string) => ({ $ref: `#/components/schemas/${name}` });
  const text = { type: 'string' };
  const schemas = {
    Named: {
      type: 'object',
      required: ['name'],
      properties: { name: text, at: { type: 'object', properties: { street: text } } },
    },
    Secret: { type: 'object', properties: { secret: { $ref: '#/components/schemas/Hidden' } } },
    Hidden: { ...text, writeOnly: true },
    Book: {
      allOf: [
        ref('Named'),
        ref('Secret'),
        { required: ['secret'], properties: { at: { properties: { city: text } }, parent: ref('Book') } },
      ],
    },
    Thing: { oneOf: [ref('Book'), { type: 'null' }, { type: 'object', required: ['size'], properties: { size: {} } }] },
    Free: { oneOf: [ref('Named'), { type: 'object', required: ['any'] }] },
    All: {
      type: 'object',
      properties: { book: ref('Book'), things: { type: 'array', items: ref('Thing') }, free: ref('Free'), more: true },
      $defs: { Unused: { type: 'object' } },
    },
  };
  const content = { 'application/json': { schema: { $ref: '#/components/schemas/All' } } };
  const paths = { '/all': { get: { responses: { '200': { description: 'All.', content } } } } };
  const check = new ContractCheck(JSON.stringify({ openapi: '3.1.0', paths, components: { schemas } }));
  const found = (body: object) =>
    check.problemsOf('GET', '/all', {
      status: 200,
      headers: { ...SAFE, 'content-type': 'application/json' },
      text: JSON.stringify(body),
    });
  const book = { name: 'a', at: { street: 'b', city: 'c' }, parent: { name: 'd' } };
  for (const right of [
    { book },
    { things: [book, null, { size: 1 }] },
    { free: { any: 1, other: 2 } },
    { more: { any: 1 } },
  ])
    t.strictSame(found(right), [], JSON.stringify(right));
  for (const wrong of [
    { other: 1 },
    { book: { ...book, other: 1 } },
    { book: { ...book, secret: 'a' } },
    { book: { ...book, parent: { name: 'd', other: 1 } } },
    { things: [{ size: 1, name: 'a' }] },
  ])
    t.equal(found(wrong).length, 1, JSON.stringify(wrong));
  t.end();
});

t.test(
  'the test server prints each request that matches no operation, because it cannot check the reply',
  async (t) => {
    const { request } = await openTestServer(t, service);
    const written = t.capture(process.stderr, 'write');
    for (const url of ['/v1/pets', '/docs', '/v1/pest']) await request(url);
    await request('/v1/pets', { method: 'PUT' });
    t.strictSame(
      written().map(({ args }) => args[0]),
      ['GET /docs', 'GET /v1/pest', 'PUT /v1/pets'].map(
        (one) => `${one} is not an operation of the contract: its reply was not checked.\n`,
      ),
    );
  },
);

t.test('the test server checks replies against a contract that is split into several files', async (t) => {
  const whole = edited(({ contract }) => delete contract.servers);
  const files = { schemas: { 'Kind.yaml': 'type: string\nenum: [a]\n' } };
  const yaml = whole.replace(/( +)PetName:\n/, '$1Kind:\n$1  $ref: schemas/Kind.yaml\n$&');
  const folder = t.testdir({ openapi: { 'petstore.yaml': yaml, ...files } });
  const { request } = await openTestServer(t, {
    ...service,
    contract: pathToFileURL(`${folder}/openapi/petstore.yaml`),
  });
  t.match(await request('/pets'), { status: 200, body: [] });
});

t.test(
  'the test server sends the API key where the operation declares it, or as the first of several alternatives',
  async (t) => {
    const schemes = {
      header: { type: 'apiKey', in: 'header', name: 'X-Key' },
      query: { type: 'apiKey', in: 'query', name: 'a key' },
      cookie: { type: 'apiKey', in: 'cookie', name: 'sid' },
      basic: { type: 'http', scheme: 'Basic' },
      bearer: { $ref: '#/components/securitySchemes/oauth' },
      oauth: { type: 'oauth2', flows: {} },
    };
    const responses = { '200': { description: 'It.', content: { 'application/json': {} } } };
    const paths = Object.fromEntries(
      [[{ header: [] }, { query: [] }], [{ query: [] }], [{ cookie: [], basic: [] }], [{}, { bearer: [] }], []].map(
        (security, index) => [`/${index}`, { get: { security, responses } }],
      ),
    );
    const yaml = JSON.stringify({ openapi: '3.1.0', paths, components: { securitySchemes: schemes } });
    const server = createServer(({ url, headers }, reply) => {
      const { 'x-key': own, cookie, authorization } = headers;
      reply.writeHead(200, { ...SAFE, 'content-type': 'application/json' });
      reply.end(JSON.stringify({ url, own, cookie, authorization }));
    }).listen(0, '127.0.0.1');
    t.teardown(() => server.close());
    await once(server, 'listening');
    const request = buildRequest((server.address() as AddressInfo).port, new ContractCheck(yaml), 'k+1');
    for (const [url, sent] of [
      ['/0', { url: '/0', own: 'k+1' }],
      ['/1', { url: '/1?a%20key=k%2B1' }],
      ['/1?a=1', { url: '/1?a=1&a%20key=k%2B1' }],
      ['/2', { url: '/2', cookie: 'sid=k+1', authorization: `Basic ${Buffer.from(':k+1').toString('base64')}` }],
      ['/3', { url: '/3', authorization: 'Bearer k+1' }],
      ['/4', { url: '/4', authorization: 'Bearer k+1' }],
      ['/none', { url: '/none', authorization: 'Bearer k+1' }],
    ] as const)
      t.same((await request(url)).body, sent, url);
    t.same((await request('/0', { key: null })).body, { url: '/0' });
    t.same((await request('/0', { headers: { 'X-Key': 'other' } })).body, { url: '/0', own: 'other' });
  },
);
