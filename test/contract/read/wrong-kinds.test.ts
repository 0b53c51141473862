/**
 * If a part of a contract is of a wrong type, such as a text instead of an object, it is reported in one line, in plain
 * words.
 */
import t from 'tap';
import { problemsOf } from '../../added-operations.ts';
import type { Json } from '../../any-json.ts';
import { type Edit, edited } from '../../edited-contract.ts';

const PETS = '/paths/~1pets';
/** The message about a parameter or header that is no object with exactly one of schema and content. */
const ONE = 'must be object, with either schema or content';

/** For each mistake, the line that reports it. */
const SLIPS: [line: string, edit: Edit][] = [
  ['openapi: 3.1 is not supported: write it as 3.1.1', ({ contract }) => (contract.openapi = 3.1)],
  ['/ needs info', ({ contract }) => delete contract.info],
  ['/info must be object', ({ contract }) => (contract.info = 'Pet Store')],
  ['/info needs title', ({ contract }) => delete contract.info.title],
  ['/info/title must be string', ({ contract }) => (contract.info.title = 5)],
  ['/components must be object', ({ contract }) => (contract.components = 'none')],
  ['/components/schemas must be object', ({ contract }) => (contract.components.schemas = [])],
  ['/security must be array', ({ contract }) => (contract.security = { bearerAuth: [] })],
  ['/servers must be array', ({ contract }) => (contract.servers = { url: '/v1' })],
  [`${PETS}/get/parameters/0 needs schema or content`, ({ limit }) => delete limit.schema],
  [
    `${PETS}/get/parameters must be array`,
    ({ contract, listPets }) => {
      contract.info.contact = 'none';
      listPets.parameters = 5;
    },
  ],
  ['/paths must be object', ({ contract }) => (contract.paths = null)],
  ['/paths must not have pets', ({ paths }) => (paths.pets = {})],
  [`${PETS}/get must not have sumary`, ({ listPets }) => (listPets.sumary = 'All.')],
  [`${PETS}/get/parameters/0/in must be one of query, header, path, cookie`, ({ limit }) => (limit.in = 'qurey')],
  [`${PETS}/get/parameters/0/required must be boolean`, ({ limit }) => (limit.required = 'yes')],
  [`${PETS}/get/parameters/0/schema must be object or boolean`, ({ limit }) => (limit.schema = 'text')],
  [
    '/paths/~1pets~1{petId}/get/parameters/0/required must be true',
    ({ getPet }) => (getPet.parameters[0].required = false),
  ],
  [`${PETS}/post/responses/201 needs description`, ({ created }) => delete created.description],
  [`${PETS}/post/responses/201/headers/Location ${ONE}`, ({ created }) => (created.headers.Location = 'a')],
  [`${PETS}/post/requestBody needs content`, ({ createPet }) => (createPet.requestBody = { schema: {} })],
  [
    'operation createPet: request.body.a: minLength must be >= 0',
    ({ NewPet }) => (NewPet.properties.a = { minLength: -1 }),
  ],
  [
    'operation createPet: request.body.a: must be a schema, or true or false',
    ({ NewPet }) => (NewPet.properties.a = 'string'),
  ],
  [
    `#${PETS}/get/parameters/1/schema: int64 needs type: integer, alone or with string, boolean or null`,
    ({ status }) => (status.schema = { type: 'string', format: 'int64' }),
  ],
  ['servers: the first one needs a url, a text such as /v1', ({ contract }) => (contract.servers = ['/v1'])],
  ...['bearerAuth', { bearerAuth: 'pets:read' }].map((requirement): [string, Edit] => [
    `operation createPet: security: ${JSON.stringify(requirement)} is not a requirement, such as bearerAuth: []`,
    ({ contract, createPet }) => {
      delete createPet.security;
      contract.security = [requirement];
    },
  ]),
];

const PARAMETER = { name: 'p', in: 'query', schema: { type: 'string' } };

/** Adds a component of this kind, and refers to it as the request body, the first parameter, a reply or a header. */
const put =
  (kind: string, component: unknown, to = `#/components/${kind}/One`): Edit =>
  ({ contract, createPet, listPets }) => {
    contract.components[kind] = { ...contract.components[kind], One: component };
    const $ref = to;
    if (kind === 'requestBodies') createPet.requestBody = { $ref };
    if (kind === 'parameters') listPets.parameters.unshift({ $ref });
    if (kind === 'responses') createPet.responses['201'] = { $ref };
    if (kind === 'headers') createPet.responses['201'].headers.One = { $ref };
  };
const ERROR = '#/components/schemas/Error';

/**
 * For each wrong component, the words that report it where an operation uses it; also for a reference to a component of
 * another kind.
 */
const BODIES: [words: string, body: unknown, to?: string][] = [
  ...[null, 'text', []].map((body): [string, unknown] => ['must be object', body]),
  ['needs content', {}],
  ['needs content', {}, ERROR],
  ...['text', []].map((content): [string, unknown] => ['content must be object', { content }]),
  ...[null, { example: 1, examples: {} }].map((media): [string, unknown] => [
    'content/application~1json must be object, without both example and examples',
    { content: { 'application/json': media } },
  ]),
  [
    'content/application~1json/examples/a must be object, without both value and externalValue',
    { content: { 'application/json': { examples: { a: { value: 1, externalValue: 'https://a.example' } } } } },
  ],
  ['required must be boolean', { content: {}, required: 'false' }],
  ...[{ a: null }, 5].map((encoding): [string, unknown] => [
    `content/multipart~1form-data/encoding${encoding === 5 ? '' : '/a'} must be object`,
    { content: { 'multipart/form-data': { schema: {}, encoding } } },
  ]),
];
const PARAMETERS: [words: string, parameter: unknown, to?: string][] = [
  ...[null, 'text', []].map((one): [string, unknown] => [`a parameter: ${ONE}`, one]),
  ['a parameter: needs schema or content', {}, ERROR],
  ['a parameter: name must be string', { ...PARAMETER, name: 5 }],
  ['parameter p: needs in', { ...PARAMETER, in: undefined }],
  ['parameter p: in must be one of query, header, path, cookie', { ...PARAMETER, in: 'constructor' }],
  [
    'parameter p: style must be one of form, spaceDelimited, pipeDelimited, deepObject',
    { ...PARAMETER, style: 'constructor' },
  ],
  ...['required', 'explode', 'allowEmptyValue', 'allowReserved', 'deprecated'].map((word): [string, unknown] => [
    `parameter p: ${word} must be boolean`,
    { ...PARAMETER, [word]: 'no' },
  ]),
  ['parameter p: content must be object', { name: 'p', in: 'query', content: [] }],
  [`parameter p: ${ONE}`, { ...PARAMETER, content: { 'application/json': {} } }],
];
const RESPONSES: [words: string, response: unknown, to?: string][] = [
  ...[null, 'text', []].map((one): [string, unknown] => ['must be object', one]),
  ['needs description', {}],
  ['must not have type', {}, ERROR],
  ['must not have schema', { description: '', schema: {} }],
  ['content must be object', { description: '', content: 'application/json' }],
  ['headers must be object', { description: '', headers: ['Location'] }],
  ['header A: required must be boolean', { description: '', headers: { A: { schema: {}, required: 'false' } } }],
  ['links/L must be object, with either operationRef or operationId', { description: '', links: { L: null } }],
];
const HEADERS: [words: string, header: unknown, to?: string][] = [
  ...[null, 'text'].map((one): [string, unknown] => [ONE, one]),
  ['needs schema or content', { type: 'string' }],
  ['needs schema or content', {}, ERROR],
  ...[null, 5].map((content): [string, unknown] => ['content must be object', { content }]),
  [ONE, { schema: {}, content: { 'application/json': {} } }],
];

/** For each mistake in a component, the line that reports it. */
const COMPONENTS: [line: string, edit: Edit][] = [
  ...BODIES.map(([words, ...one]): [string, Edit] => [
    `operation createPet: its body: ${words}`,
    put('requestBodies', ...one),
  ]),
  ...PARAMETERS.map(([words, ...one]): [string, Edit] => [`operation listPets: ${words}`, put('parameters', ...one)]),
  ...RESPONSES.map(([words, ...one]): [string, Edit] => [
    `operation createPet: response 201: ${words}`,
    put('responses', ...one),
  ]),
  ...HEADERS.map(([words, ...one]): [string, Edit] => [
    `operation createPet: response 201: header One: ${words}`,
    put('headers', ...one),
  ]),
  ...[
    null,
    { type: 'http', scheme: 5 },
    { type: 'http', scheme: null },
    { type: 'apiKey', in: 'header', name: 5 },
    { type: 'apiKey', in: 'nowhere', name: 'k' },
  ].map((scheme): [string, Edit] => [
    'security scheme bearerAuth: only bearer tokens, basic authentication, and API keys are supported',
    ({ components }) => (components.securitySchemes.bearerAuth = scheme),
  ]),
];

/** For each wrong path item that a path refers to, the words that report it. */
const ITEMS: [words: string, item: Json][] = [
  [' must be object', null],
  ['/get must be object', { get: 'x' }],
  ...[{}, 5, null].map((parameters): [string, Json] => ['/parameters must be array', { parameters }]),
  ...[{}, 5, null].map((parameters): [string, Json] => ['/get/parameters must be array', { get: { parameters } }]),
  ...[null, []].map((responses): [string, Json] => ['/get/responses must be object', { get: { responses } }]),
  ['/get/security must be array', { get: { security: 'x' } }],
  ['/get/security/0 must be object', { get: { security: [null] } }],
  ['/get/operationId must be string', { get: { operationId: 5 } }],
];

t.test("if the target of a path's $ref has a value of the wrong type, the error names the path", async (t) => {
  for (const [words, item] of ITEMS) {
    const problems = await problemsOf(
      t,
      edited(({ paths, components }) => {
        components.pathItems = { P: item, Other: { $ref: '#/components/pathItems/P' } };
        paths['/a'] = { $ref: '#/components/pathItems/Other' };
      }),
    );
    t.strictSame(problems, [`/paths/~1a${words}`]);
  }
});

t.test('a path parameter whose name is a number is an error of each operation that uses it', async (t) => {
  const problems = await problemsOf(
    t,
    edited(({ paths, components }) => {
      components.parameters = { One: { name: 5, in: 'path', required: true, schema: {} } };
      paths['/a/{b-c}'] = { get: { operationId: 'a', parameters: [{ $ref: '#/components/parameters/One' }] } };
    }),
  );
  t.strictSame(problems, ['operation a: a parameter: name must be string']);
});

t.test(
  'if a component has a value of the wrong type, or is of the wrong kind, the error names the operation that uses it',
  async (t) => {
    for (const [line, edit] of COMPONENTS) {
      const problems = await problemsOf(t, edited(edit));
      t.strictSame(problems, [line]);
    }
  },
);

for (const [line, edit] of SLIPS) {
  t.test(`a contract with this mistake is rejected: ${line}`, async (t) =>
    t.strictSame(await problemsOf(t, edited(edit)), [line]),
  );
}

/** Keywords, values of a wrong type for each, and the message. */
const KEYWORDS: [keywords: string[], values: unknown[], words: string][] = [
  [['allOf', 'anyOf', 'oneOf', 'prefixItems'], ['a', 5, {}, null], 'a list of schemas'],
  [['properties', 'patternProperties', 'dependentSchemas'], ['a', 5, [], null], 'schemas by their names'],
  [['items', 'not', 'if', 'additionalProperties'], ['a', 5, [{}], null], 'a schema, or true or false'],
  [['type'], [5, {}, [5], null], 'a type, such as string, or a list of types'],
  [['required'], ['a', true, [5], null], 'a list of names'],
  [['enum'], ['a', 5, {}, null], 'a list of values'],
];

/** For each place where a schema can stand, its name in the message. */
const PLACES: [name: string, put: (parts: Json, schema: Json) => unknown][] = [
  ['operation listPets: parameter limit', ({ limit }, schema) => (limit.schema = schema)],
  ['operation createPet: request.body', ({ body }, schema) => (body.content['application/json'].schema = schema)],
  [
    'operation createPet: response 201: body.pets.items',
    ({ created }, schema) => {
      const pets = { type: 'array', items: { anyOf: [schema] } };
      created.content['application/json'].schema = { type: 'object', properties: { pets } };
    },
  ],
  [
    'operation createPet: response 201: header Location',
    ({ created }, schema) => (created.headers.Location.schema = schema),
  ],
];

t.test('if a schema keyword has a value of the wrong type, the error names the keyword and its schema', async (t) => {
  for (const [keywords, values, words] of KEYWORDS) {
    for (const [index, value] of values.entries()) {
      const keyword = keywords[index % keywords.length] as string;
      const [name, put] = PLACES[index % PLACES.length] as (typeof PLACES)[number];
      const problems = await problemsOf(
        t,
        edited((parts) => put(parts, { [keyword]: value })),
      );
      t.strictSame(problems, [`${name}: ${keyword} must be ${words}`]);
    }
  }
});

t.test('an invalid schema in one operation does not hide the mistakes of other operations', async (t) => {
  const problems = await problemsOf(
    t,
    edited(({ limit, getPet, schemas, NewPet }) => {
      limit.schema.type = 5;
      getPet.security = [{ none: [] }];
      schemas.Tree = { properties: { branch: { $ref: '#/components/schemas/Tree' }, leaf: { enum: 'a' } } };
      NewPet.properties.tree = { $ref: '#/components/schemas/Tree' };
    }),
  );
  t.strictSame(problems, [
    'operation listPets: parameter limit: type must be a type, such as string, or a list of types',
    'operation createPet: request.body.tree.leaf: enum must be a list of values',
    'operation getPet: security: none is not in components.securitySchemes',
  ]);
});
