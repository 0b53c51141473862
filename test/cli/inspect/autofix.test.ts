/** `npm run contract:inspect` fixes harmless mistakes in a third-party contract before it judges the contract. */
import { readFileSync } from 'node:fs';
import t, { type Test } from 'tap';
import { parse, stringify } from 'yaml';
import { buildTypes } from '../../../src/contract-first/cli/generate/contract-types.ts';
import { autofix } from '../../../src/contract-first/cli/inspect/autofix/autofix.ts';
import { withFixes } from '../../../src/contract-first/cli/inspect/files.ts';
import { inspectContract } from '../../../src/contract-first/cli/inspect/inspect.ts';
import { operation, serve, withPaths } from '../../added-operations.ts';
import type { Json } from '../../any-json.ts';
import { judged } from './judged-contract.ts';

const schemaOf = (document: Json) => document.paths['/a'].post.responses['200'].content['application/json'].schema;

/** Returns a contract with one operation whose reply has this schema. */
function contractWith(schema: Json, { operation = {}, media = {}, components = {}, others = {} }: Json = {}): Json {
  const content = { 'application/json': { schema, ...media } };
  const post = { operationId: 'find', responses: { '200': { description: 'Done.', content } }, ...operation };
  const info = { title: 'Other', version: '1' };
  return { openapi: '3.1.0', info, paths: { '/a': { post } }, components, ...others };
}

const STRING = { type: 'string' };
const OBJECT = { type: 'object', properties: { a: STRING } };
const NOWHERE = { $ref: '#/components/schemas/Nowhere' };

t.test("autofix removes a schema keyword with an invalid value, and prints the keyword's JSON Pointer", async (t) => {
  const wrong: Json = {
    ...{ title: 1, description: 2, deprecated: 'yes', examples: 'a', $id: 'https://a' },
    ...{ type: 'datetime', required: true },
  };
  for (const [keyword, value] of Object.entries(wrong)) {
    const document = contractWith({ allOf: [{ [keyword]: value, maxLength: 2n }] });
    t.match(autofix(document), [
      `/paths/~1a/post/responses/200/content/application~1json/schema/allOf/0/${keyword} is taken out: it cannot be ${JSON.stringify(value)}`,
    ]);
    t.strictSame(schemaOf(document), { allOf: [{ maxLength: 2n }] });
  }
});

t.test(
  'autofix removes the quotes around a number, and removes format: int64 from a schema of type string',
  async (t) => {
    const document = contractWith({ minimum: '1', maximum: 'x', items: { type: 'string', format: 'int64' } });
    t.match(autofix(document), [/minimum is written without quotes/, /format is taken out: it cannot be "int64"/]);
    t.strictSame(schemaOf(document), { minimum: 1, maximum: 'x', items: { type: 'string' } });
  },
);

t.test('autofix removes the quotes around true and false, and keeps any other text in their place', async (t) => {
  const document = contractWith({ writeOnly: 'true', deprecated: 'false', readOnly: 'yes', enum: 'a' });
  t.match(autofix(document), [/writeOnly is written without quotes/, /deprecated is written without quotes/]);
  t.strictSame(schemaOf(document), { writeOnly: true, deprecated: false, readOnly: 'yes', enum: 'a' });
});

t.test('autofix rewrites exclusiveMaximum: true as a number in OpenAPI 3.1, and keeps it in 3.0', (t) => {
  const of = () => ({ maximum: 5, exclusiveMaximum: true, minimum: 1, exclusiveMinimum: false });
  const document = contractWith({ allOf: [of(), { exclusiveMinimum: true }, { exclusiveMaximum: 2 }] });
  t.match(autofix(document), [
    /allOf\/0\/exclusiveMaximum is written as OpenAPI 3.1 has it$/,
    /allOf\/0\/exclusiveMinimum is written/,
    /allOf\/1\/exclusiveMinimum is written/,
  ]);
  t.strictSame(schemaOf(document).allOf, [{ exclusiveMaximum: 5, minimum: 1 }, {}, { exclusiveMaximum: 2 }]);
  const older = contractWith(of(), { others: { openapi: '3.0.3' } });
  t.strictSame(autofix(older), []);
  t.strictSame(schemaOf(older), of());
  t.end();
});

const TEXT = { type: 'string' };
const parameter = (schema: Json, others: Json = {}) => ({
  ...{ name: 'q', in: 'query', allowEmptyValue: true, schema },
  ...others,
});

t.test("autofix removes allowEmptyValue if the parameter's schema already allows an empty text", (t) => {
  const taken = [
    parameter(TEXT),
    parameter({ type: 'array', items: TEXT }),
    parameter(TEXT, { in: 'path' }),
    parameter({}),
  ];
  const others = [
    ...[
      parameter({ type: 'object' }),
      parameter(undefined, { content: {} }),
      parameter(TEXT, { allowEmptyValue: false }),
    ],
  ];
  const document = contractWith(OBJECT, { operation: { parameters: [...taken, ...others] } });
  document.paths['/a'].parameters = [{ $ref: '#/components/parameters/Q' }];
  document.components.parameters = { Q: parameter({ $ref: '#/components/schemas/Text' }) };
  document.components.schemas = { Text: TEXT };
  t.strictSame(autofix(document), [
    '/components/parameters/Q/allowEmptyValue is taken out: its schema takes an empty text',
    ...taken.map(
      (_, index) => `/paths/~1a/post/parameters/${index}/allowEmptyValue is taken out: its schema takes an empty text`,
    ),
  ]);
  t.strictSame(document.paths['/a'].post.parameters.slice(taken.length), others);
  t.end();
});

t.test('autofix allows an empty value for a parameter of OpenAPI 3.0 with exclusiveMinimum: true', async (t) => {
  const schema = { type: 'integer', minimum: 0, exclusiveMinimum: true };
  const older = contractWith(OBJECT, { operation: { parameters: [parameter(schema)] }, others: { openapi: '3.0.3' } });
  t.match(autofix(older), [/allowEmptyValue is written into its schema$/]);
  const broken = contractWith(OBJECT, { operation: { parameters: [parameter({ ...TEXT, pattern: '(' })] } });
  t.strictSame(autofix(broken), []);
});

t.test(
  'if autofix allows an empty value for a parameter, the parameter keeps the default of its referenced schema',
  async (t) => {
    const [Size, Large] = [4, 9007199254740993n].map((value) => ({ type: 'integer', default: value }));
    const refer = { $ref: '#/components/schemas/Size' };
    const parameters = [parameter(refer), parameter({ $ref: '#/components/schemas/Large' }, { name: 'r' })];
    const document = contractWith(OBJECT, { operation: { parameters }, components: { schemas: { Size, Large } } });
    autofix(document);
    const [small, large] = document.paths['/a'].post.parameters;
    t.strictSame(small.schema, { default: 4, anyOf: [refer, { type: 'string', enum: [''] }] });
    t.equal(large.schema.default, 9007199254740993n, 'with every digit');
  },
);

t.test("autofix replaces allowEmptyValue by an alternative for the empty text in the parameter's schema", async (t) => {
  const parameters = [
    parameter({ type: 'integer', minimum: 1, default: 5 }, { name: 'count' }),
    parameter({ type: 'array', items: { type: 'boolean' } }, { name: 'flags' }),
    parameter({ ...TEXT, minLength: 2 }, { name: 'text' }),
  ];
  const document = JSON.parse(withPaths({ '/echoes': { get: operation('echo', { parameters }) } }));
  t.match(
    autofix(document),
    parameters.map(() => /\/allowEmptyValue is written into its schema$/),
  );
  const echo = async ({ query }: Json) => ({ status: 200, body: query });
  const { request } = await serve(t, JSON.stringify(document), { echo });
  const send = async (search: string) => (await request(`/v1/echoes?${search}`)) as Json;
  t.strictSame((await send('count=&flags=&text=')).body, { count: '', flags: '', text: '' });
  t.strictSame((await send('flags&text')).body, { count: 5, flags: '', text: '' });
  t.strictSame((await send('count=7&flags=true&text=ab')).body, { count: 7, flags: [true], text: 'ab' });
  for (const wrong of ['count=0', 'count=x', 'flags=1', 'text=a']) t.equal((await send(wrong)).status, 400, wrong);
});

t.test('autofix corrects the schema of a parameter, but not an example that looks like a schema', async (t) => {
  const examples = { one: { value: { schema: { minimum: '1' } } } };
  const parameters = [{ name: 'q', in: 'query', schema: { type: 'integer', minimum: '1' }, examples }];
  const document = contractWith(OBJECT, { operation: { parameters } });
  t.match(autofix(document), [/^\/paths\/~1a\/post\/parameters\/0\/schema\/minimum is written without quotes$/]);
  t.strictSame(document.paths['/a'].post.parameters, [
    { name: 'q', in: 'query', schema: { type: 'integer', minimum: 1 }, examples },
  ]);
});

t.test('autofix does not change x- fields of components, nor format: int64 next to a $ref', async (t) => {
  const components = { 'x-note': 'abc', 'x-more': { a: 1 }, schemas: { Id: { type: 'integer' } } };
  const document = contractWith({ $ref: '#/components/schemas/Id', format: 'int64' }, { components });
  const before = structuredClone(document);
  t.strictSame(autofix(document), []);
  t.strictSame(document, before);
});

/** Returns a contract with one operation whose request body has this schema as field `a`. */
const requestWith = (a: Json, components: Json = {}) => {
  const content = { 'application/json': { schema: { ...OBJECT, properties: { a } } } };
  return contractWith({}, { operation: { requestBody: { content } }, components });
};

t.test(
  'autofix removes a default that breaks its schema, because each request without the field would get a 400',
  async (t) => {
    const wrong: [schema: Json, value: unknown][] = [
      [{ type: 'integer' }, '5'],
      [{ type: 'integer' }, 1.5],
      [{ type: 'boolean' }, 'false'],
      [{ type: ['number', 'null'] }, []],
      [{ type: 'string' }, 5n],
      [{ type: 'array' }, {}],
      [{ type: 'object' }, []],
      [{ enum: ['a', 'b'] }, 'c'],
    ];
    const right: [schema: Json, value: unknown][] = [
      [{ type: 'integer' }, 9007199254740993n],
      [{ type: 'integer', format: 'int64' }, 9223372036854775807n],
      [{ type: 'integer', format: 'int32' }, 5n],
      [{ type: 'number' }, 1.5],
      [{ type: 'array' }, []],
      [{ type: ['string', 'object'] }, {}],
      [{ type: ['string', 'null'] }, null],
      [{ enum: [{ a: 1 }] }, { a: 1 }],
      [{ minLength: -1 }, 5],
      [{}, 'a'],
    ];
    for (const [schema, value] of wrong) {
      t.match(
        autofix(requestWith({ ...schema, default: value })),
        [/properties\/a\/default is taken out: its own schema refuses it: it must /],
        String(value),
      );
    }
    for (const [schema, value] of right) t.strictSame(autofix(requestWith({ ...schema, default: value })), []);
  },
);

t.test('autofix removes an invalid default only in schemas whose defaults the server adds to requests', async (t) => {
  const wrong = { type: 'integer', default: 'a' };
  const components = { schemas: { A: { properties: { b: { items: { additionalProperties: wrong } } } } } };
  t.match(autofix(requestWith({ allOf: [{ $ref: '#/components/schemas/A' }] }, structuredClone(components))), [
    /^\/components\/schemas\/A\/properties\/b\/items\/additionalProperties\/default is taken out/,
  ]);
  const ofItem = requestWith({});
  ofItem.paths['/a'].parameters = [{ name: 'p', in: 'query', schema: { ...wrong } }];
  t.match(autofix(ofItem), [/^\/paths\/~1a\/parameters\/0\/schema\/default is taken out/]);
  t.strictSame(autofix(requestWith({ anyOf: [wrong, { not: wrong }] })), []);
  t.strictSame(autofix(requestWith({ ...wrong, readOnly: true })), []);
  t.strictSame(autofix(contractWith({ properties: { a: wrong } })), [], 'the server fills no default into a reply');
  const post = { requestBody: { content: { 'application/json': { schema: wrong } } }, responses: {} };
  t.strictSame(autofix(contractWith({}, { others: { webhooks: { a: { post } } } })), []);
});

t.test('autofix ends quickly for a default with a regular expression of exponential time', async (t) => {
  const text = `${'a'.repeat(60)}!`;
  const slow = { pattern: '^(a+)+$' };
  for (const one of [
    { ...slow, default: text },
    { default: [text], items: slow },
    { default: { [text]: 1 }, patternProperties: { [slow.pattern]: true } },
    { default: { [text]: 1 }, propertyNames: slow },
  ]) {
    t.strictSame(autofix(requestWith(one)), []);
  }
  t.match(autofix(requestWith({ pattern: '^[a-z]+$', default: text })), [/its own schema refuses it/]);
});

t.test('autofix removes an example with a $ref that is not a valid URI', async (t) => {
  t.match(autofix(contractWith({ ...OBJECT, example: { $ref: '#/%' } })), [/schema\/example is taken out/]);
});

t.test('autofix changes nothing in a valid contract, even if its fields have the names of keywords', async (t) => {
  const fields = {
    type: { type: 'string' },
    required: true,
    $id: { type: ['string', 'null'] },
    title: { default: { type: 7 } },
  };
  const id = { type: 'integer', format: 'int64' };
  const schema = {
    ...{ type: 'object', title: 'A', required: ['id'], properties: { ...fields, id, callbacks: {} } },
    ...{ $defs: { type: { enum: [1] } }, const: { required: true }, enum: [] },
  };
  const examples = { one: { value: { type: 1, $ref: '#/components/schemas/A' } } };
  const operation = { externalDocs: { url: 'https://a' } };
  const document = contractWith(schema, { media: { examples }, operation, components: { schemas: { A: OBJECT } } });
  const before = structuredClone(document);
  t.strictSame(autofix(document), []);
  t.strictSame(document, before);
});

t.test(
  'autofix removes an example, link, callback or extension field that contains a $ref without a target',
  async (t) => {
    const cases: [Json, RegExp][] = [
      [contractWith({ ...OBJECT, example: { $ref: 'a' } }), /schema\/example is taken out: a reference in it leads to/],
      [contractWith({ ...OBJECT, examples: [{ $ref: 'a' }] }), /schema\/examples is taken out/],
      [contractWith({ ...OBJECT, 'x-of-theirs': { $ref: 'a' } }), /schema\/x-of-theirs is taken out/],
      [contractWith(OBJECT, { media: { examples: { a: { value: { $ref: 'a' } } } } }), /json\/examples is taken out/],
      [contractWith(OBJECT, { operation: { callbacks: { done: NOWHERE } } }), /post\/callbacks is taken out/],
      [contractWith(OBJECT, { others: { webhooks: { done: NOWHERE } } }), /^\/webhooks is taken out/],
    ];
    for (const [document, change] of cases) t.match(autofix(document), [change]);
    t.strictSame(autofix(contractWith(NOWHERE)), [], 'a $ref that an operation needs stays and is reported');
  },
);

t.test('autofix removes an unused component that has a $ref without a target or refers only to itself', async (t) => {
  const ref = (name: string) => ({ $ref: `#/components/schemas/${name}` });
  const schemas = {
    ...{ Used: { allOf: [ref('Base')] }, Base: OBJECT, Unused: OBJECT, Any: true, Text: 'a', Gone: NOWHERE },
    ...{ Itself: ref('Itself'), Part: { allOf: [ref('Part')] }, Through: ref('Gone') },
    List: { type: 'array', items: ref('List') },
  };
  const document = contractWith(ref('Used'), { components: { schemas, responses: null } });
  const names = autofix(document).map(
    (change) => /schemas\/(\w+) is taken out: no operation uses it/.exec(change)?.[1],
  );
  t.strictSame(names.sort(), ['Gone', 'Itself', 'Part', 'Text', 'Through']);
  t.strictSame(Object.keys(document.components.schemas), ['Used', 'Base', 'Unused', 'Any', 'List']);
  t.strictSame(autofix({ paths: {} }), [], 'a contract without components has nothing to remove');
});

t.test('autofix removes a summary that is not a text, and adds a missing description to a reply', async (t) => {
  const operation = { summary: null, operationId: 5, tags: [{ name: 'a' }], externalDocs: 'https://a' };
  const document = contractWith(OBJECT, { operation: { ...operation, description: 'Kept.' } });
  delete document.paths['/a'].post.responses['200'].description;
  document.paths['/a'].post.responses['404'] = { $ref: '#/components/responses/None' };
  document.components.responses = { None: { description: 'None.' } };
  t.equal(autofix(document).length, 5);
  t.strictSame(Object.keys(document.paths['/a'].post), ['responses', 'description']);
  t.equal(document.paths['/a'].post.responses['200'].description, '');
});

/** Writes the contract to a file and returns its path. */
const filed = (t: Test, text: string): string => `${t.testdir({ 'other.yaml': text })}/other.yaml`;

t.test(
  '`contract:inspect` prints the first twenty changes with their lines, and writes the changed contract',
  async (t) => {
    const fields = Object.fromEntries([...Array(22).keys()].map((index) => [`f${index}`, { description: index }]));
    const text = stringify(contractWith({ type: 'object', properties: { ...fields, large: { maximum: 2n ** 60n } } }));
    const file = filed(t, text);
    const out = `${file}.out`;
    const told = (await inspectContract(file, { write: out })).text.split('\n');
    t.match(told[0], /^changed: .*other\.yaml:18:\d+: \/paths\/.*\/f0\/description is taken out: it cannot be 0$/);
    t.match(told.slice(19, 22), [/^changed: .*\/f19\/description/, 'changed: 2 more, which are not listed', '']);
    const written = readFileSync(out, 'utf8');
    t.strictSame(schemaOf(parse(written, { intAsBigInt: true })).properties.f1, {});
    t.match(written, 'maximum: 1152921504606846976', 'with every digit');
  },
);

t.test("the changes that `inspect` prints begin with the contract's URL, and warn if comments are lost", async (t) => {
  const told = async (text: string) => withFixes(filed(t, text), async (_, changes) => changes, 'https://a/b.yaml');
  const text = stringify(contractWith({ description: 1 }));
  const change = /^https:\/\/a\/b\.yaml:15:\d+: \/paths.*description is taken out: it cannot be 1$/;
  t.match(await told(text), [change]);
  t.match(await told(`${text} # Of ours.\n`), ['https://a/b.yaml: it is written anew, without its comments', change]);
  t.equal((await told(`#TODO: check\n${text}`)).length, 2);
  for (const other of ['"# 1"', "'it''s # 1'", '|\n    # Introduction\n    # More'])
    t.equal((await told(text.replace('Other', other))).length, 1, 'a # in a text does not begin a comment');
});

t.test('autofix does not change a file that is valid or cannot be parsed', async (t) => {
  for (const text of ['a: [', '7', stringify(contractWith(OBJECT))]) {
    const file = filed(t, text);
    t.strictSame(await withFixes(file, async (...given) => given), [file, []]);
  }
});

t.test('if a schema requires a field without declaring it, autofix declares the field with any type', async (t) => {
  const document = contractWith({ properties: { a: { type: 'string' } }, required: ['a', 'b/c'] });
  t.match(autofix(document), [/\/schema\/properties\/b~1c is written: it is required$/]);
  t.strictSame(schemaOf(document).properties, { a: { type: 'string' }, 'b/c': {} });
  const left: Json[] = [
    { allOf: [{ properties: { a: {} }, required: ['b'] }, { properties: { b: {} } }] },
    { properties: { a: {} }, required: ['b'], additionalProperties: false },
    { properties: { a: {} }, required: ['b'], patternProperties: { b: {} } },
    { required: ['b'] },
    { properties: {}, required: ['__proto__'] },
  ];
  for (const schema of left) t.strictSame(autofix(contractWith(schema)), []);
});

t.test(
  'autofix declares a required field of an allOf with any type, unless another schema of the allOf declares it',
  async (t) => {
    const part = { type: 'object', required: ['stat', 'size'], properties: { state: {} } };
    const schema = { allOf: [{ properties: { size: {} } }, part] };
    t.match(autofix(contractWith(schema)), [/\/schema\/allOf\/1\/properties\/stat is written: it is required$/]);
    t.strictSame(part.properties, { state: {}, stat: {} });
  },
);

t.test('autofix turns a text such as "#/components/schemas/A" in place of a schema into a $ref', async (t) => {
  const A = '#/components/schemas/A';
  const schema = { oneOf: [A, { type: 'object' }], properties: { a: A, b: 'string' }, items: A, default: A, title: A };
  const document = contractWith(schema, { components: { schemas: { A: { type: 'string' }, B: { allOf: [A] } } } });
  t.match(autofix(document), [
    ...['oneOf/0', 'properties/a', 'items'].map((place) => new RegExp(`/schema/${place} is written as a reference$`)),
    /^\/components\/schemas\/B\/allOf\/0 is written as a reference$/,
  ]);
  const $ref = { $ref: A };
  const properties = { a: $ref, b: 'string' };
  t.strictSame(schemaOf(document), { ...schema, oneOf: [$ref, { type: 'object' }], properties, items: $ref });
});

t.test('autofix does not turn a text into a $ref if its target is not a schema', async (t) => {
  const anyOf = [{ type: 'string' }];
  const components = { schemas: { A: { $defs: { B: {} }, anyOf, properties: { 0: {} }, enum: ['a'] } } };
  const prefix = '#/components/schemas/A';
  const told = (items: string) => autofix(contractWith({ items }, { components: structuredClone(components) }));
  for (const part of ['', '/$defs/B', '/anyOf/0', '/properties/0'])
    t.match(told(`${prefix}${part}`), [/items is written as a reference/], part);
  const others = ['#/info', '#/components', '#/paths/~1a/post', ...['/$defs', '/enum'].map((part) => prefix + part)];
  for (const other of others) t.notMatch(told(other), [/items is written as a reference/], other);
});

t.test('autofix removes an unused component with a text or list in place of a schema', async (t) => {
  const schemas = { A: { properties: { a: 'string' } }, B: { oneOf: {} }, C: { items: { enum: 'a' } }, D: OBJECT };
  const document = contractWith(OBJECT, { components: { schemas } });
  t.match(autofix(document), [/schemas\/A is taken out: no operation uses it/, /schemas\/B is/, /schemas\/C is/]);
  t.strictSame(Object.keys(document.components.schemas), ['D']);
});

t.test('autofix removes fields that are null, such as parameters or links, but keeps `security: null`', async (t) => {
  const operation = { parameters: null, requestBody: null, callbacks: null, security: null };
  const document = contractWith({ properties: { content: null } }, { operation, others: { servers: null } });
  const { 200: done } = document.paths['/a'].post.responses;
  Object.assign(done, { headers: null, links: null });
  t.strictSame(autofix(document).sort(), [
    ...['callbacks', 'parameters', 'requestBody', 'responses/200/headers', 'responses/200/links'].map(
      (name) => `/paths/~1a/post/${name} is taken out: it is empty`,
    ),
    '/servers is taken out: it is empty',
  ]);
  t.equal(document.paths['/a'].post.security, null);
});

t.test('autofix removes a schema that is null, so that its media type accepts anything', async (t) => {
  const content = { 'application/json': null, 'text/csv': { schema: null } };
  const document = contractWith(OBJECT, { operation: { requestBody: { content } } });
  t.match(autofix(document), [
    /content\/text~1csv\/schema is taken out: it is empty$/,
    /content\/application~1json is written as \{\}: it is empty, and takes anything$/,
  ]);
  t.strictSame(content, { 'application/json': {}, 'text/csv': {} });
});

t.test('autofix replaces an invalid server URL by /, and removes invalid externalDocs and links', async (t) => {
  const externalDocs = { url: 'see the wiki' };
  for (const url of ['Your API URL', 'localhost:8080', 'localhost', 'api.example.com', '127.0.0.1', 'b:80']) {
    const document = contractWith(OBJECT, { operation: { externalDocs }, others: { servers: [{ url }] } });
    const links = { here: { operationRef: '#/paths/~1{b}' }, there: { operationRef: '#/paths/~1a' }, by: {} };
    document.paths['/a'].post.responses['200'].links = links;
    t.strictSame(autofix(document), [
      '/paths/~1a/post/externalDocs is taken out: it cannot be {"url":"see the wiki"}',
      `/servers/0/url is written as /: ${url} has no path`,
      '/paths/~1a/post/responses/200/links/here is taken out: its operationRef is no reference',
    ]);
    t.strictSame(Object.keys(links), ['there', 'by']);
    t.equal(document.servers[0].url, '/');
  }
  for (const servers of [
    [{ url: 'https://a/v1' }],
    [{ url: '{base}' }],
    [{ url: '' }],
    ['v1'],
    [{}],
    [],
    [{ url: 'v1' }],
    [{ url: 'v1.2' }],
  ])
    t.strictSame(autofix(contractWith(OBJECT, { others: { servers } })), []);
});

t.test('autofix declares an undeclared path parameter as a text', async (t) => {
  const document = contractWith(OBJECT, { operation: { parameters: [{ name: 'b', in: 'path' }] } });
  document.paths = { '/a/{b}/{c}': document.paths['/a'] };
  document.paths['/a/{b}/{c}'].get = { responses: {} };
  document.paths['/a/{b}/{c}'].put = { responses: {}, parameters: 'b and c' };
  const told = (method: string, name: string) =>
    `/paths/~1a~1{b}~1{c}/${method}/parameters has {${name}}, which is in the path: it may be any text`;
  t.strictSame(autofix(document).sort(), [told('get', 'b'), told('get', 'c'), told('post', 'c')]);
  const c = { name: 'c', in: 'path', required: true, schema: { type: 'string' } };
  t.strictSame(document.paths['/a/{b}/{c}'].post.parameters, [{ name: 'b', in: 'path' }, c]);
});

t.test('autofix adds no parameters to a path item that two paths with different parameter names share', async (t) => {
  const document = contractWith(OBJECT);
  const $ref = '#/components/pathItems/P';
  document.components.pathItems = { P: document.paths['/a'] };
  document.paths = { '/a/{x}': { $ref }, '/b/{y}': { $ref } };
  t.strictSame(autofix(document), []);
  t.notOk('parameters' in document.components.pathItems.P.post);
  delete document.paths['/b/{y}'];
  t.match(autofix(document), [/^\/components\/pathItems\/P\/post\/parameters has \{x\}/]);
});

t.test('autofix makes a oneOf an anyOf if its alternatives differ only in a default', async (t) => {
  const kind = (preset: string) => ({ properties: { kind: { type: 'string', default: preset } } });
  const all = { ...kind('other'), enum: [null, { kind: 'b' }] };
  const oneOf = [{ $ref: '#/components/schemas/Empty' }, all];
  const components = { schemas: { Empty: { ...all, ...kind('empty') } } };
  const document = contractWith({ oneOf }, { components });
  t.match(autofix(document), [/\/schema\/oneOf is written as anyOf: some alternatives differ only in a default/]);
  t.strictSame(schemaOf(document), { anyOf: oneOf });
  const beside = { oneOf, anyOf: [{ type: 'object' }] };
  t.strictSame(autofix(contractWith(structuredClone(beside), { components })), [], 'a oneOf next to an anyOf stays');
});

t.test('autofix makes a oneOf an anyOf if each value of an alternative also fits another one', async (t) => {
  const components = { schemas: { Titled: { type: 'object', required: ['title'], properties: { title: STRING } } } };
  const titled = { $ref: '#/components/schemas/Titled' };
  const listed = { required: ['title'], properties: { title: STRING, fields: { type: 'array', items: STRING } } };
  const document = contractWith({ oneOf: [titled, listed] }, { components });
  t.match(autofix(document), [/\/schema\/oneOf is written as anyOf: a value of one alternative also fits another one/]);
  t.strictSame(schemaOf(document), { anyOf: [titled, listed] });
  for (const other of [
    { ...listed, required: ['title', 'fields'] },
    { ...listed, required: ['fields'] },
    { ...listed, additionalProperties: false },
    { ...listed, properties: { title: { type: 'integer' } } },
    { ...listed, type: ['object', 'null'] },
    STRING,
    true,
    { properties: { fields: STRING } },
  ])
    t.strictSame(autofix(contractWith({ oneOf: [titled, other] }, { components })), [], JSON.stringify(other));
});

t.test("if the schemas of an allOf exclude each other's fields, autofix lets them allow these fields", async (t) => {
  const closed = (name: string) => ({ type: 'object', properties: { [name]: STRING }, additionalProperties: false });
  const components = { schemas: { Base: closed('a') } };
  const base = { $ref: '#/components/schemas/Base' };
  const document = contractWith({ allOf: [base, closed('b')] }, { components });
  const told = (index: number) => `allOf/${index} allows the fields of the other parts, which no value could have`;
  t.strictSame(
    autofix(document).map((change) => change.replace(/^.*\/(?=allOf)/, '')),
    [told(0), told(1)],
  );
  const open = (name: string) => ({ type: 'object', properties: { [name]: STRING } });
  t.strictSame(schemaOf(document), { allOf: [open('a'), open('b')] });
  t.strictSame(document.components.schemas, { Base: closed('a') }, 'the component itself stays unchanged');
  const own = contractWith({ properties: { b: STRING }, allOf: [base] }, { components });
  t.match(autofix(own), [/allOf\/0 allows the fields of the other parts/]);
  for (const schema of [
    { allOf: [base, { required: ['a'] }, true] },
    { allOf: [base, closed('a')] },
    { allOf: [base] },
    { allOf: [{ ...closed('a'), patternProperties: { b: STRING } }, open('b')] },
    { allOf: [{ additionalProperties: false, allOf: [open('b')] }, open('b')] },
    { allOf: [open('a'), open('b')] },
  ])
    t.strictSame(autofix(contractWith(structuredClone(schema), { components })), [], JSON.stringify(schema));
});

t.test('autofix removes an alternative of a oneOf if another one accepts the same values', async (t) => {
  const field = (description: string) => ({
    required: ['title'],
    properties: { title: { type: 'string', description } },
  });
  const components = { schemas: { A: { ...field('a'), title: 'A' } } };
  const [refer, other] = [{ $ref: '#/components/schemas/A' }, { type: 'object', properties: { b: { enum: ['b'] } } }];
  const document = contractWith({ oneOf: [refer, other, field('b'), refer] }, { components });
  t.match(autofix(document), [
    /\/schema\/oneOf\/2 is taken out: it takes what oneOf\/0 takes/,
    /oneOf\/3 is taken out/,
  ]);
  t.strictSame(schemaOf(document), { oneOf: [refer, other] });
  const fields = (one: Json, key = 'properties') => ({ type: 'object', [key]: { a: one } });
  const others = [{ readOnly: true }, { writeOnly: true }, { default: 'b' }].map((one) => fields(one));
  const named = [{ patternProperties: { title: true } }, { patternProperties: { description: true } }];
  const oneOf = [fields({}), ...others, ...named];
  t.strictSame(autofix(contractWith({ oneOf })), [], 'an alternative that accepts other values stays');
  const more = { oneOf: [{ ...refer, maxProperties: 1 }, refer, { ...refer, title: 'B' }] };
  t.match(autofix(contractWith(more, { components })), [/oneOf\/2 is taken out: it takes what oneOf\/1 takes/]);
  t.match(autofix(contractWith({ oneOf: [{ title: 'A' }, other, { title: 'B' }] })), [/oneOf\/2 is taken out/]);
  const chosen = { oneOf: [refer, field('b')], discriminator: { propertyName: 'title' } };
  t.strictSame(autofix(contractWith(chosen, { components })), []);
});

const INT64 = { type: 'integer', format: 'int64' };
const LARGE = '9007199254740993';

t.test(
  'autofix makes an integer that is int64 in one alternative int64 in all, and both are served exactly',
  async (t) => {
    const refer = (name: string) => ({ $ref: `#/components/schemas/${name}` });
    const closed = (properties: Json) => ({ type: 'object', required: Object.keys(properties), properties });
    const schemas = {
      User: closed({ id: INT64, name: TEXT, teams: { type: 'array', items: INT64 } }),
      Bot: closed({ id: { type: 'integer', minimum: 1 }, app: { anyOf: [refer('App'), { type: 'null' }] } }),
      Both: {
        anyOf: [
          refer('User'),
          refer('Bot'),
          { required: ['teams'], properties: { teams: { items: { anyOf: [refer('Short'), refer('Low')] } } } },
        ],
      },
      Short: { type: ['integer', 'null'], format: 'int32', minimum: -5, maximum: 5_000_000_000 },
      Low: { type: 'integer', format: 'int32', minimum: -5_000_000_000 },
      App: closed({ number: { type: 'integer' }, owner: { oneOf: [refer('Bot'), refer('App')] } }),
      Alone: closed({ id: { type: 'integer' } }),
    };
    const media = { content: { 'application/json': { schema: refer('Both') } } };
    const echo = operation('echo', { requestBody: media, responses: { '200': media } });
    const yaml = withPaths({ '/echo': { post: echo } }, ({ components }) => Object.assign(components.schemas, schemas));
    const document = JSON.parse(yaml);
    const changes = autofix(document).filter((change) => change.includes('int64'));
    const places = ['Bot/properties/id', 'Short', 'Low'];
    t.strictSame(
      changes,
      places.map((place) => `/components/schemas/${place}/format is int64: another schema of the same value has it`),
    );
    const { Alone, App, Short, Low } = document.components.schemas;
    t.strictSame([Alone.properties.id, App.properties.number], [{ type: 'integer' }, { type: 'integer' }]);
    t.strictSame(Short, { ...schemas.Short, format: 'int64', maximum: 2 ** 31 - 1 });
    t.strictSame(Low, { ...INT64, minimum: -(2 ** 31), maximum: 2 ** 31 - 1 });
    t.strictSame(autofix(document), []);
    const fixed = stringify(document, { aliasDuplicateObjects: false });
    const types = (await buildTypes(document)).text;
    for (const name of ['User', 'Bot']) t.match(types, new RegExp(` ${name}: \\{[^}]*\\bid: bigint;`));
    const given: unknown[] = [];
    const { request } = await serve(t, fixed, {
      echo: ({ body }) => {
        given.push(body.id);
        return { status: 200, body };
      },
    });
    for (const rest of ['"name":"a","teams":[1]', '"app":null']) {
      const body = `{"id":${LARGE},${rest}}`;
      t.match(await request('/v1/echo', { method: 'POST', body }), { status: 200, text: body });
    }
    t.strictSame(given, [BigInt(LARGE), BigInt(LARGE)]);
    const wrong = await request('/v1/echo', { method: 'POST', body: '{"id":9223372036854775808,"app":null}' });
    t.equal(wrong.status, 400);
  },
);

t.test(
  'autofix does not make a number int64 as in the other alternative; the error of the contract names the fix',
  async (t) => {
    for (const other of [{ type: 'number' }, { type: 'integer', enum: [1] }]) {
      const document = contractWith({ anyOf: [INT64, other] });
      t.strictSame(autofix(document), []);
      t.match(
        (await judged(t, document)).join(),
        /int64 in one alternative and not in another: give it type: integer, format: int64 in each, or in none where it may be a fraction/,
      );
    }
  },
);
