/**
 * `npm run contract:inspect` fixes request bodies other than JSON, makes bodies binary that the server cannot check,
 * and adds to replies the errors and headers that the server itself sends.
 */
import t from 'tap';
import { autofix } from '../../../src/contract-first/cli/inspect/autofix/autofix.ts';
import { operation, serve, withPaths } from '../../added-operations.ts';
import type { Json } from '../../any-json.ts';
import { judged } from './judged-contract.ts';

const URLENCODED = 'application/x-www-form-urlencoded';
const MULTIPART = 'multipart/form-data';
const BINARY = { type: 'string', format: 'binary' };
const string = { type: 'string' };

function documentWith(content: Json, components: Json = {}, method = 'post'): Json {
  const requestBody = { $ref: '#/components/requestBodies/Body' };
  const one = { operationId: 'one', requestBody, responses: {} };
  return {
    ...{
      openapi: '3.1.0',
      info: { title: 'Other', version: '1' },
      paths: { '/a': { [method]: one }, '/b': { [method]: one } },
    },
    components: { requestBodies: { Body: { content } }, ...components },
  };
}

/** Returns the content after autofix, and the changes. */
function fixed(content: Json, components?: Json, method?: string): { content: Json; changes: string[] } {
  const document = documentWith(content, components, method);
  const changes = autofix(document);
  return { content: document.components.requestBodies.Body.content, changes };
}

t.test('if a body of images has a schema that does not describe bytes, autofix makes the body binary', async (t) => {
  const schemas = [
    { type: 'object', format: 'file' },
    { type: 'string', format: 'base64' },
    { type: 'array', items: { type: 'string', format: 'byte' } },
    { $ref: '#/components/schemas/Any' },
  ];
  for (const schema of schemas) {
    const { content, changes } = fixed({ 'image/jpeg': { schema } }, { schemas: { Any: { maxLength: 1 } } });
    t.strictSame(content, { 'image/jpeg': { schema: BINARY } });
    t.strictSame(changes, [
      '/components/requestBodies/Body/content/image~1jpeg/schema is written as format: binary: the handler gets image/jpeg as it is, unchecked',
    ]);
  }
});

t.test(
  'autofix does not change a body that can be served, has a JSON alternative, belongs to a GET or cannot be read',
  async (t) => {
    const form = { schema: { properties: { a: string } } };
    const odd = { schema: { type: 'object' } };
    const content = {
      'text/plain': { schema: string },
      'image/png': {},
      [MULTIPART]: form,
      [URLENCODED]: { schema: BINARY },
      'a/b': 7,
    };
    t.strictSame(fixed(content), { content, changes: [] });
    const beside = { 'image/png': odd, [MULTIPART]: odd, 'application/json': {} };
    t.strictSame(fixed(beside), { content: beside, changes: [] });
    t.strictSame(fixed({ 'image/png': odd }, {}, 'get').changes, []);
    t.strictSame(fixed(undefined).changes, []);
  },
);

t.test('autofix corrects misspelt media types, unless the correct one is also declared', async (t) => {
  const schema = { type: 'object', properties: { a: string } };
  const slips: Json = {
    [MULTIPART]: ['application/form-data', 'application/multipart-form-data'],
    [URLENCODED]: ['multipart/x-www-form-urlencoded', 'application/x-form-urlencoded', 'application/form-urlencoded'],
    'text/plain': ['plain/text; charset=utf-8'],
  };
  for (const [type, names] of Object.entries(slips) as [string, string[]][]) {
    for (const name of names) {
      const media = type === 'text/plain' ? {} : { schema };
      const { content, changes } = fixed({ [name]: media });
      t.strictSame(content, { [type]: media });
      t.match(changes, [new RegExp(`is written as ${type}$`)]);
    }
  }
  t.strictSame(Object.keys(fixed({ 'application/form-data': {}, [MULTIPART]: { schema } }).content), [
    'application/form-data',
    MULTIPART,
  ]);
});

t.test(
  'autofix removes an invalid media type if the body has a valid one; a body without media types becomes JSON',
  async (t) => {
    const reply = { description: '', content: { token: {}, 'application/json': {} } };
    const document = documentWith({ 'codecs=opus': {}, 'audio/ogg': {} }, { responses: { Token: reply } });
    document.paths['/a'].post.responses = { 200: { $ref: '#/components/responses/Token' }, 201: { description: '' } };
    t.strictSame(autofix(document), [
      '/components/requestBodies/Body/content/codecs=opus is taken out: it is no media type',
      '/components/responses/Token/content/token is taken out: it is no media type',
    ]);
    t.strictSame(Object.keys(reply.content), ['application/json']);
    t.strictSame(fixed({ '': {} }).content, { 'application/json': {} });
    t.strictSame(fixed({ '': {}, 'application/json': {} }).content, { 'application/json': {} });
    const json = { schema: { type: 'object' } };
    t.strictSame(fixed({ json, 'application/xml': {} }).content, { 'application/xml': {}, 'application/json': json });
    t.strictSame(fixed({ Pet: {}, Dog: {} }).changes, [], 'without a valid media type next to them, they stay');
  },
);

t.test('if the schema of a form declares no fields, autofix makes the body binary', async (t) => {
  const schemas = [
    undefined,
    string,
    { type: 'object' },
    { type: 'array', items: string },
    { allOf: [string, { properties: { a: string } }] },
  ];
  const file = { oneOf: [{ properties: { a: BINARY } }, { properties: { b: string } }] };
  for (const schema of [...schemas, file, true]) {
    const { content, changes } = fixed({ [MULTIPART]: { schema } });
    t.strictSame(content, { [MULTIPART]: { schema: BINARY } });
    t.match(changes, [
      /data\/schema is written as format: binary: the handler gets multipart\/form-data as it is, unchecked$/,
    ]);
  }
});

t.test("autofix merges the allOf of a form's schema into one object if the meaning stays the same", async (t) => {
  const schemas = { Named: { type: ['object', 'null'], required: ['name'], properties: { name: string } } };
  const named = { $ref: '#/components/schemas/Named' };
  const parts = { nullable: true, allOf: [named, { properties: { file: BINARY }, required: ['file'] }] };
  for (const schema of [parts, { ...named, properties: { file: BINARY }, required: ['file'] }]) {
    const { content, changes } = fixed({ [MULTIPART]: { schema } }, { schemas });
    t.strictSame(content[MULTIPART].schema.properties, {
      ...(schema === parts ? { name: string, file: BINARY } : { file: BINARY, name: string }),
    });
    t.strictSame(new Set(content[MULTIPART].schema.required), new Set(['file', 'name']));
    t.strictSame(Object.keys(content[MULTIPART].schema), ['required', 'type', 'properties']);
    t.match(changes, [/data\/schema names the fields of its parts: a form is checked field by field$/]);
  }
});

/** A handler that reads all fields of a form. */
const fill = async ({ body }: Json) => {
  const taken: Json[] = [];
  for await (const { name, value } of body) taken.push([name, value]);
  return { status: 200, body: taken };
};

t.test("autofix merges keywords next to a form's $ref in OpenAPI 3.1, and ignores them in 3.0", async (t) => {
  const A = { minProperties: 1, allOf: [{ properties: { a: string, b: string }, additionalProperties: false }] };
  const schema = { $ref: '#/components/schemas/A', required: ['a'], minProperties: 2 };
  for (const openapi of ['3.1.0', '3.0.3']) {
    const post = operation('fill', { requestBody: { content: { [URLENCODED]: { schema: { ...schema } } } } });
    const document = { ...JSON.parse(withPaths({ '/forms': { post } })), openapi };
    document.components.schemas.A = structuredClone(A);
    t.match(autofix(document), [/urlencoded\/schema names the fields of its parts/]);
    const { request } = await serve(t, JSON.stringify(document), { fill });
    const headers = { 'content-type': URLENCODED };
    const send = async (body: string) => (await request('/v1/forms', { method: 'POST', body, headers })).status;
    t.equal(await send('a=1&b=2'), 200);
    t.equal(await send('a=1&c=2'), 400);
    for (const body of ['a=1', 'b=2']) t.equal(await send(body), openapi === '3.1.0' ? 400 : 200, body);
  }
});

t.test('after autofix, a form with a oneOf is served: each field is checked, and the form as a whole', async (t) => {
  const kind = (name: string, fields: Json) => ({
    ...{ type: 'object', required: Object.keys(fields), additionalProperties: false },
    properties: { kind: { type: 'string', enum: [name] }, note: string, ...fields },
  });
  const schema = { oneOf: [kind('cat', { lives: { type: 'integer' } }), { $ref: '#/components/schemas/Dog' }] };
  const post = operation('fill', { requestBody: { content: { [URLENCODED]: { schema } } } });
  const document = JSON.parse(withPaths({ '/forms': { post } }));
  document.components.schemas.Dog = kind('dog', { legs: { type: 'integer' } });
  t.match(autofix(document), [/urlencoded\/schema names the fields of its parts/]);
  const { request } = await serve(t, JSON.stringify(document), { fill });
  const send = async (body: string) =>
    (await request('/v1/forms', { method: 'POST', body, headers: { 'content-type': URLENCODED } })) as Json;
  t.strictSame((await send('kind=cat&lives=7')).body, [
    ['kind', 'cat'],
    ['lives', 7],
  ]);
  t.equal((await send('kind=dog&legs=4&note=a')).status, 200);
  for (const wrong of ['kind=cat&legs=4', 'kind=cow', 'lives=x', 'kind=dog', 'other=1'])
    t.equal((await send(wrong)).status, 400, wrong);
});

/** Returns a contract with one operation that has these responses. */
function contractWith(responses: Json, { components = {}, path = '/a' }: Json = {}): Json {
  const described = Object.entries(responses).map(([status, reply]) => [status, { description: '', ...Object(reply) }]);
  const get = { operationId: 'find', responses: Object.fromEntries(described) };
  return { openapi: '3.1.0', info: { title: 'Other', version: '1' }, paths: { [path]: { get } }, components };
}
const repliesOf = (document: Json, path = '/a') => document.paths[path].get.responses;
const of = (schema: Json) => ({ content: { 'application/json': { schema } } });
const image = () => ({ content: { 'image/png': { schema: { type: 'string', format: 'binary' } } } });
const ERROR = { type: 'object', properties: { text: { type: 'string' } } };

t.test(
  'autofix adds JSON to a declared error that is neither JSON nor text, because the server sends errors as JSON',
  async (t) => {
    const document = contractWith({ 200: image(), 400: image(), '5XX': { content: { 'application/xml': {} } } });
    t.match(await judged(t, document), [
      'response 400: the server sends its errors as application/json, not image/png',
      /5XX/,
    ]);
    t.strictSame(autofix(document), [
      "/paths/~1a/get/responses/400/content: application/json is added: the server's own errors are JSON",
      "/paths/~1a/get/responses/5XX/content: application/json is added: the server's own errors are JSON",
    ]);
    t.strictSame(repliesOf(document)[400].content, { ...image().content, 'application/json': {} });
    t.strictSame(repliesOf(document)[200], { description: '', ...image() }, 'the reply 200 stays unchanged');
    t.strictSame(await judged(t, document), []);
  },
);

t.test('if autofix adds JSON to an error, the schema is that of the other errors if they share one', async (t) => {
  const added = (...errors: Json[]) => {
    const [first, second] = errors.map(of);
    const document = contractWith({ 400: image(), 401: first, 500: second ?? first });
    autofix(document);
    return repliesOf(document)[400].content['application/json'];
  };
  t.strictSame(added(ERROR), { schema: ERROR });
  t.strictSame(added(ERROR, { ...ERROR, required: ['text'] }), {});
});

t.test(
  'autofix does not change errors that are JSON or text, have no body, or are never sent by the server',
  async (t) => {
    const text = { content: { 'text/plain': {}, 'image/png': {} } };
    const json = { content: { 'image/png': {}, '*/*': {} } };
    const document = contractWith({
      400: text,
      401: json,
      402: image(),
      404: image(),
      410: image(),
      500: {},
      503: { content: {} },
    });
    const before = structuredClone(document);
    t.strictSame(autofix(document), []);
    t.strictSame(document, before);
  },
);

t.test('autofix corrects a reply in components once, even if several operations use it', async (t) => {
  const document = contractWith({}, { components: { responses: { Bad: { description: '', ...image() } } } });
  const ref = { $ref: '#/components/responses/Bad' };
  document.paths['/a'].get.responses = { 400: ref, default: ref };
  t.match(autofix(document), [/^\/components\/responses\/Bad\/content: application\/json is added/]);
});

t.test('if the server sends a header in another format than declared, autofix declares it as a text', async (t) => {
  const headers = () => ({
    'Retry-After': { schema: { type: 'string', format: 'date-time' } },
    'x-request-id': { schema: { type: 'string', format: 'uuid' } },
    other: { schema: { type: 'string', format: 'date-time' } },
  });
  const document = contractWith({ 200: { headers: headers() }, 503: { headers: headers() } });
  t.match(await judged(t, document), [
    /x-request-id/,
    /x-request-id/,
    /retry-after is sent as 1, but it must match format/,
  ]);
  t.strictSame(autofix(document), [
    '/paths/~1a/get/responses/200/headers/x-request-id/schema is written as type: string: the server sends AZaz09_--1',
    '/paths/~1a/get/responses/503/headers/Retry-After/schema is written as type: string: the server sends 1',
    '/paths/~1a/get/responses/503/headers/x-request-id/schema is written as type: string: the server sends AZaz09_--1',
  ]);
  t.strictSame(repliesOf(document)[503].headers['Retry-After'], { schema: { type: 'string' } });
  t.strictSame(await judged(t, document), []);
});

t.test('autofix does not change a declared header if the header that the server sends fits it', async (t) => {
  const retry = { 'Retry-After': { required: true, schema: { type: 'integer', maximum: 86400n } }, 'X-Request-Id': {} };
  const document = contractWith({ 429: { headers: retry }, default: { headers: { 'Retry-After': {} } } });
  const before = structuredClone(document);
  t.strictSame(autofix(document), []);
  t.strictSame(document, before);
});

t.test('autofix does not change a Retry-After with exclusiveMinimum: true in OpenAPI 3.0', async (t) => {
  const schema = { type: 'integer', minimum: 0, exclusiveMinimum: true };
  const older = { ...contractWith({ 503: { headers: { 'Retry-After': { schema } } } }), openapi: '3.0.3' };
  t.strictSame(autofix(older), []);
  const broken = contractWith({ 503: { headers: { 'Retry-After': { schema: { type: 'string', pattern: '(' } } } } });
  t.strictSame(autofix(broken), []);
});

t.test(
  "if autofix makes a header optional in a server error, the header stays required in a handler's reply",
  async (t) => {
    const X = () => ({ required: true, schema: { type: 'string' } });
    const headers = () => ({ 'X-Server': { $ref: '#/components/headers/X' } });
    const document = contractWith({ 200: { headers: headers() } }, { components: { headers: { X: X() } } });
    document.components.responses = { Bad: { description: '', headers: headers() } };
    const bad = { $ref: '#/components/responses/Bad' };
    Object.assign(repliesOf(document), { 400: bad, default: bad });
    t.strictSame(autofix(document), [
      '/components/responses/Bad/headers/X-Server/required is taken out: errors of the server have no such header',
    ]);
    t.strictSame(document.components.responses.Bad.headers, { 'X-Server': { schema: { type: 'string' } } });
    t.strictSame([document.components.headers.X, repliesOf(document)[200].headers], [X(), headers()]);
    t.strictSame(await judged(t, document), []);
  },
);

t.test('if an error requires a header that the server never sends, autofix makes the header optional', async (t) => {
  const headers = () => ({ 'X-Server': { required: true, schema: { type: 'string' } } });
  const document = contractWith({ 200: { headers: headers() }, default: { headers: headers() } });
  t.match(await judged(t, document), ['response default: header X-Server is required, and not sent']);
  t.match(autofix(document), [
    '/paths/~1a/get/responses/default/headers/X-Server/required is taken out: errors of the server have no such header',
  ]);
  t.strictSame(repliesOf(document)[200].headers, headers());
  t.strictSame(await judged(t, document), []);
});
