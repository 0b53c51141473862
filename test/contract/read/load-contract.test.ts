import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { inspect } from 'node:util';
import { stringify } from 'lossless-json';
import t, { type Test } from 'tap';
import { parse } from 'yaml';
import { loadContract } from '../../../src/contract-first/contract/read/load-contract.ts';
import { readSource } from '../../../src/contract-first/contract/read/source.ts';
import { ContractError } from '../../../src/contract-first/engine/contract/contract.ts';
import { keywordsOf } from '../../../src/contract-first/engine/schema/json.ts';
import { handlers } from '../../../src/generated/handlers.ts';
import type { Json } from '../../any-json.ts';
import { rename, withPrefix } from '../../edited-contract.ts';
import { readOurs, startService } from '../../service.ts';

const CONTRACT = parse(readFileSync(new URL('../../../openapi/petstore.yaml', import.meta.url), 'utf8'));

type Edit = (contract: Json) => unknown;

/** Writes the contract with these edits into a file. */
function edited(t: Test, ...edits: Edit[]) {
  const contract = structuredClone(CONTRACT);
  for (const edit of edits) edit(contract);
  const yaml = stringify(contract) as string;
  const file = join(t.testdir(), 'petstore.yaml');
  writeFileSync(file, yaml);
  return { file, yaml };
}

/** This problem once for each operation of one pet. */
const ofEach = (problem: string) =>
  Object.values<Json>(CONTRACT.paths['/pets/{petId}']).map(({ operationId }) => `operation ${operationId}: ${problem}`);

/** Adds fields to the request body of createPet, but of no other operation. */
function addToBody({ paths, components }: Json, fields: Json): void {
  const { properties, ...others } = components.schemas.NewPet;
  paths['/pets'].post.requestBody.content['application/json'].schema = {
    ...others,
    properties: { ...properties, ...fields },
  };
}

t.test("loading the pet store's contract returns its operations, path prefix and title", async (t) => {
  const { operations, prefix, title } = await readOurs();
  t.equal(prefix, '/v1');
  t.equal(title, 'Pet Store');
  t.match(operations.get('listPets'), {
    method: 'GET',
    path: '/pets',
    security: [{ scopes: ['pets:read'] }],
    body: undefined,
  });
  t.match(operations.get('createPet'), {
    method: 'POST',
    path: '/pets',
    security: [{ scopes: ['pets:write'], location: { in: 'bearer' } }],
    body: { required: true, maxBytes: 16384 },
  });
  t.match(operations.get('getPet')?.deprecation, { sunset: new Date('2030-12-05'), successor: 'listPets' });
});

type Refusal = [sentence: string, problem: string | string[] | RegExp, edit: Edit];

const refusals: Refusal[] = [
  [
    'a path that differs from another one only by parameter names and a fragment',
    'operation fetchPet: /pets/{id}#a is also the path of operation getPet; give it another',
    (c) => {
      const { get } = structuredClone(c.paths['/pets/{petId}']);
      get.parameters[0].name = 'id';
      c.paths['/pets/{id}#a'] = { get: { ...get, operationId: 'fetchPet' } };
    },
  ],
  ['a document that is not OpenAPI', '/ needs info', (c) => delete c.info],
  [
    'an operation with an empty object of responses',
    '/paths/~1pets/get/responses needs a status, such as 200, or default',
    (c) => (c.paths['/pets'].get.responses = {}),
  ],
  ['a document without an OpenAPI version', /OpenAPI/i, (c) => delete c.openapi],
  [
    'an undeclared path parameter',
    ofEach('path parameter {part} is not declared'),
    (c) => rename(c.paths, '/pets/{petId}', '/pets/{petId}/{part}'),
  ],
  [
    'a declared path parameter that is not in the path',
    ofEach('parameter petId is not in the path'),
    (c) => rename(c.paths, '/pets/{petId}', '/pets/one'),
  ],
  [
    'an operation with an undeclared security scheme',
    'operation listPets: security: otherAuth is not in components.securitySchemes',
    (c) => (c.paths['/pets'].get.security = [{ otherAuth: [] }]),
  ],
  [
    'a scope with a space',
    'operation listPets: security: pets read cannot be a scope',
    (c) => (c.paths['/pets'].get.security = [{ bearerAuth: ['pets read'] }]),
  ],
  [
    'a deprecated operation with invalid dates',
    /getPet: x-deprecated-at is not a date\n.*getPet: x-sunset is not a date/,
    (c) => {
      c.paths['/pets/{petId}'].get['x-deprecated-at'] = 'soon';
      c.paths['/pets/{petId}'].get['x-sunset'] = '2030-13-05';
    },
  ],
  [
    'an x-successor that names no operation',
    'operation getPet: x-successor must be the operationId of one whose path has no parameters',
    (c) => (c.paths['/pets/{petId}'].get['x-successor'] = 'findPets'),
  ],
  [
    'an x-successor whose path has parameters',
    'operation getPet: x-successor must be the operationId of one whose path has no parameters',
    (c) => (c.paths['/pets/{petId}'].get['x-successor'] = 'getPet'),
  ],
  ['a path below /docs', /operation listPets: \/docs\/pets is served by the server itself\n/, withPrefix('/docs')],
  [
    'a path below /docs that is written with a percent-encoded character',
    /operation listPets: \/d%6Fcs is served by the server itself\n/,
    (c) => {
      withPrefix('/')(c);
      rename(c.paths, '/pets', '/d%6Fcs');
    },
  ],
  [
    'an enum value that a double cannot hold',
    '#/components/schemas/PetStatus/enum/0: 9007199254740993 is too large to be kept exactly',
    (c) => (c.components.schemas.PetStatus.enum = [9007199254740993n]),
  ],
  [
    'the format int64 of another type than integer',
    '#/components/schemas/CategoryId: int64 needs type: integer, alone or with string, boolean or null',
    (c) => (c.components.schemas.CategoryId.type = 'string'),
  ],
  [
    'the format int64 of an integer or array',
    '#/components/schemas/CategoryId: int64 needs type: integer, alone or with string, boolean or null',
    (c) => (c.components.schemas.CategoryId.type = ['integer', 'array']),
  ],
  [
    'the format int64 without a type',
    '#/components/schemas/CategoryId: int64 needs type: integer, alone or with string, boolean or null',
    (c) => delete c.components.schemas.CategoryId.type,
  ],
  [
    'an enum next to a $ref to a 64-bit integer',
    /operation createPet: body\.categoryId: enum is not supported for int64/,
    (c) => (c.components.schemas.NewPet.properties.categoryId.enum = [7, 8]),
  ],
  [
    'a response that refers to itself',
    /#\/components\/responses\/Loop refers to itself, which only a schema may do/,
    (c) => {
      c.components.responses.Loop = { $ref: '#/components/responses/Loop' };
      c.paths['/pets'].get.responses['400'] = { $ref: '#/components/responses/Loop' };
    },
  ],
  [
    'a document of OpenAPI 3.2',
    /^.*\n {2}- openapi: 3\.2\.0 is not supported: write it as 3\.1\.1$/,
    (c) => (c.openapi = '3.2.0'),
  ],
  [
    'a jsonSchemaDialect of another draft',
    /- jsonSchemaDialect: http:.*draft-07.* is not supported: remove it, for JSON Schema 2020-12$/,
    (c) => (c.jsonSchemaDialect = 'http://json-schema.org/draft-07/schema#'),
  ],
  [
    'an x-max-bytes that is not a number of bytes',
    /requestBody: x-max-bytes is "100", and must be a whole number of bytes, 1 or more$/,
    (c) => (c.paths['/pets'].post.requestBody['x-max-bytes'] = '100'),
  ],
  ...[0, -1, 1.5].map(
    (bytes): Refusal => [
      `a size of ${bytes} bytes`,
      new RegExp(`x-max-bytes is ${bytes}, and must be a whole number of bytes, 1 or more$`),
      (c) => (c.paths['/pets'].post.requestBody['x-max-bytes'] = bytes),
    ],
  ),
  [
    'a misspelt extension of the engine',
    /#\/paths\/~1pets\/post\/requestBody: x-maxbytes is not known: write x-max-bytes, or give it another name$/,
    (c) => (c.paths['/pets'].post.requestBody['x-maxbytes'] = 10),
  ],
  [
    'an extension of an earlier version of the engine',
    /#\/paths\/~1pets\/get\/parameters\/0: x-kept-hours is not known: write x-idempotency-hours, or give it another name$/,
    (c) => (c.paths['/pets'].get.parameters[0]['x-kept-hours'] = 24),
  ],
  [
    'an extension of the engine at a position where it has no meaning',
    /#\/paths\/~1pets\/post: x-max-bytes means nothing here: put it into a request body$/,
    (c) => (c.paths['/pets'].post['x-max-bytes'] = 10),
  ],
  [
    'an extension without meaning, below a field that is named like a keyword,',
    ['encoding', 'headers'].map(
      (name) =>
        `#/components/schemas/Made/properties/${name}: x-max-bytes means nothing here: put it into a request body`,
    ),
    ({ components }) => {
      const field = { type: 'string', 'x-max-bytes': 3 };
      // An example is data, so `x-max-bytes` is no extension there.
      const data = { type: 'object', example: { 'x-max-bytes': 3 } };
      components.schemas.Made = { properties: { encoding: field, headers: field, content: data } };
    },
  ],
  [
    'an extension of the engine with a value of the wrong type',
    /x-opaque is "yes", and must be true or false\n.*x-sunset is 2030, and must be a date in quotes/,
    (c) => {
      c.paths['/pets/{petId}'].get['x-sunset'] = 2030;
      c.paths['/pets'].get.parameters[2]['x-opaque'] = 'yes';
    },
  ],
  ...['x-sunset', 'x-deprecated-at', 'x-successor'].map(
    (key): Refusal => [
      `an operation with ${key} that is not deprecated`,
      `operation createPet: ${key} needs deprecated: true next to it`,
      (c) => (c.paths['/pets'].post[key] = key === 'x-successor' ? 'listPets' : '2030-12-05'),
    ],
  ),
  [
    'a scope that no flow of its scheme offers',
    'operation createPet: security: no flow of login offers the scope write: add it to the scopes of one',
    (c) => {
      const flows = { clientCredentials: { tokenUrl: 'https://a.example', scopes: { read: 'Reads.' } } };
      c.components.securitySchemes.login = { type: 'oauth2', flows };
      c.paths['/pets'].post.security = [{ login: ['read', 'write'] }];
    },
  ],
  ...['/v1/../..', '/.', 'https://a.example/v1/./b', '/..'].map(
    (url): Refusal => [
      `a prefix with parts that clients remove: ${url}`,
      `servers: ${url.replace('https://a.example', '')} cannot be the path prefix of the operations`,
      (c) => (c.servers = [{ url }]),
    ],
  ),
  ...['/pets/../all', '/a/./b', '/a/%2e%2E', '/..'].map(
    (path): Refusal => [
      `a path with parts that clients remove: ${path}`,
      'operation createPet: its path has a part . or .., which clients remove',
      (c) => {
        c.paths[path] = { post: c.paths['/pets'].post };
        delete c.paths['/pets'].post;
      },
    ],
  ),
  [
    'an x-sunset on a day that does not exist',
    'operation getPet: x-sunset is not a date',
    (c) => (c.paths['/pets/{petId}'].get['x-sunset'] = '2030-02-30'),
  ],
  ...[{ type: 'number' }, { minimum: 0 }, { minimum: -5 }, { minimum: undefined }].map(
    (change): Refusal => [
      `a page with a limit of ${JSON.stringify(change)}`,
      /^.*\n.*listPets: parameter limit: a page needs type: integer and minimum: 1 or more$/,
      (c) => Object.assign(c.paths['/pets'].get.parameters[0].schema, change),
    ],
  ),
  [
    'a discriminator whose field no alternative has',
    'operation createPet: discriminator type: no alternative has this field',
    (c) => {
      c.components.schemas.Ball = { type: 'object', properties: { kind: { type: 'string' } } };
      const oneOf = [{ $ref: '#/components/schemas/Ball' }];
      c.components.schemas.NewPet.properties.toy = { oneOf, discriminator: { propertyName: 'type' } };
    },
  ],
  [
    'a discriminator whose mapping leads nowhere',
    'operation createPet: discriminator kind: its mapping kit leads to #/components/schemas/Kit, which is not in this document',
    (c) => {
      c.components.schemas.Ball = { type: 'object', properties: { kind: { type: 'string' } } };
      const oneOf = [{ $ref: '#/components/schemas/Ball' }];
      const mapping = { ball: 'Ball', kit: '#/components/schemas/Kit' };
      c.components.schemas.NewPet.properties.toy = { oneOf, discriminator: { propertyName: 'kind', mapping } };
    },
  ],
  [
    'a $ref to a response in place of a schema',
    'operation createPet: $ref #/components/responses/Failure does not lead to a schema',
    (c) => (c.components.schemas.NewPet.properties.toy = { $ref: '#/components/responses/Failure' }),
  ],
  [
    'a recursive schema whose field is int64 in some alternatives only',
    'operation createPet: body.tree.next.value: is int64 in one alternative and not in another: give it type: integer, format: int64 in each, or in none where it may be a fraction',
    (c) => {
      const leaf = { type: 'object', properties: { value: { type: 'integer', format: 'int64' } } };
      const next = { oneOf: [leaf, { $ref: '#/components/schemas/Tree' }] };
      c.components.schemas.Tree = { type: 'object', properties: { value: { type: 'integer' }, next } };
      addToBody(c, { tree: { $ref: '#/components/schemas/Tree' } });
    },
  ],
  [
    'a $ref that leads nowhere',
    'operation getPet: $ref #/components/schemas/PetID is not in this document',
    (c) => (c.paths['/pets/{petId}'].get.parameters[0].schema.$ref = '#/components/schemas/PetID'),
  ],
  [
    'a $ref to a missing file',
    'in petstore.yaml, #/paths/~1pets~1{petId}/get/parameters/0/schema: $ref pets.yaml#/PetId: there is no such file',
    (c) => (c.paths['/pets/{petId}'].get.parameters[0].schema.$ref = 'pets.yaml#/PetId'),
  ],
  [
    'a $ref in an unused component that leads nowhere',
    '$ref #/components/schemas/PetID is not in this document',
    (c) => (c.components.schemas.Unused = { $ref: '#/components/schemas/PetID' }),
  ],
  [
    'a $ref in an unused component that is not percent-encoded',
    '$ref #/components/schemas/100% is not in this document',
    (c) => (c.components.schemas.Unused = { $ref: '#/components/schemas/100%' }),
  ],
  [
    'a tag that is not a text, next to a $ref that leads nowhere,',
    '/paths/~1pets/get/tags/0 must be string',
    (c) => {
      c.components.schemas.Unused = { $ref: '#/components/schemas/100%' };
      c.paths['/pets'].get.tags = [1];
    },
  ],
  [
    'a path item whose $ref leads nowhere',
    'path /dogs: $ref #/components/pathItems/dogs is not in this document',
    (c) => (c.paths['/dogs'] = { $ref: '#/components/pathItems/dogs' }),
  ],
  [
    'a $ref in the parameters of a path item that leads nowhere',
    'path /pets: $ref #/components/parameters/limit is not in this document',
    (c) => (c.paths['/pets'].parameters = [{ $ref: '#/components/parameters/limit' }]),
  ],
];

/** A team's own operations may use the same components, and then have the same problems. */
const added = Object.keys(handlers).filter((id) => !['listPets', 'createPet', 'getPet'].includes(id));
const isOurs = (problem: string) => !added.some((id) => problem.startsWith(`operation ${id}:`));

for (const [sentence, problem, edit] of refusals) {
  t.test(`${sentence} is an error`, async (t) => {
    const { file } = edited(t, edit);
    const error = (await loadContract(file).catch((thrown: unknown) => thrown)) as ContractError;
    t.type(error, ContractError);
    if (problem instanceof RegExp) t.match(error.message, problem);
    else t.strictSame(error.problems.filter(isOurs), [problem].flat());
  });
}

t.test('a $ref is resolved wherever OpenAPI allows it', async (t) => {
  const { file } = edited(t, (c) => {
    const { get } = c.paths['/pets/{petId}'];
    c.components.pathItems = { pet: { get } };
    c.paths['/pets/{petId}'] = { $ref: '#/components/pathItems/pet', summary: 'A pet' };
    const { self } = c.paths['/pets'].post.responses['201'].links;
    rename(self, 'operationId', 'operationRef');
    self.operationRef = '#/paths/~1pets~1%7BpetId%7D/get';
    c.components.schemas.Anything = true;
    c.components.schemas.NewPet.properties.extra = { $ref: '#/components/schemas/Anything', description: 'Anything' };
  });
  const { operations } = await loadContract(file);
  t.equal(keywordsOf(operations.get('getPet')?.parameters[0]?.schema).format, 'int64');
  t.equal(keywordsOf(operations.get('createPet')?.body?.contents[0]?.schema).properties?.extra, true);
});

t.test('the error for an empty contract shows how an OpenAPI document begins', async (t) => {
  for (const [index, text] of ['', 'null', '1'].entries()) {
    const file = join(t.testdir({ [`${index}.yaml`]: text }), `${index}.yaml`);
    await t.rejects(loadContract(file), {
      message: /\n {2}- it is empty: an OpenAPI document begins with openapi: 3\.1\.1$/,
    });
  }
});

t.test('an x- field in a third-party extension or example is ignored, even if it resembles x-max-bytes', async (t) => {
  const { file } = edited(t, (c) => {
    c['x-tools'] = { 'x-max-byte': 1 };
    c.components.schemas.Pet.example = { 'x-maxbytes': 1 };
    c.components.schemas.Other = { type: 'object', properties: { 'x-maxbytes': { type: 'string' } } };
    c.paths['/pets'].get.parameters.push({ name: 'limit', in: 'header', schema: { type: 'number' } });
  });
  await loadContract(file);
});

t.test('a contract that is not valid YAML is an error', async (t) => {
  const file = join(t.testdir({ 'petstore.yaml': 'paths: }' }), 'petstore.yaml');
  await t.rejects(loadContract(file), { message: /Unexpected flow-map-end/ });
});

t.test('the served contract keeps all digits of an integer in an example that a double cannot hold', async (t) => {
  const { file } = edited(t, (c) => (c.components.schemas.CategoryId.examples = [9223372036854775807n]));
  t.match((await loadContract(file)).json, '"examples":[9223372036854775807]');
});

t.test('one error lists all problems of a contract', async (t) => {
  const { file } = edited(
    t,
    (c) => (c.components.securitySchemes.bearerAuth.scheme = 'digest'),
    (c) => (c.paths['/pets/{petId}'].get['x-successor'] = 'findPets'),
    (c) => (c.servers = [{ url: '/v%201' }]),
  );
  const error = (await loadContract(file).catch((thrown: unknown) => thrown)) as ContractError;
  t.equal(error.problems.length, 3);
});

t.test('a wrong discriminator in one operation does not hide the mistakes of other operations', async (t) => {
  const { file } = edited(
    t,
    (c) => {
      const alternative = { type: 'object', properties: { kind: { type: 'string' } } };
      addToBody(c, { toy: { oneOf: [alternative], discriminator: { propertyName: 'kind' } } });
    },
    (c) => c.paths['/pets'].get.parameters.push({ name: 'q', in: 'cookie', schema: {} }),
  );
  const error = (await loadContract(file).catch((thrown: unknown) => thrown)) as ContractError;
  t.match(error.problems, [
    /^operation createPet: discriminator kind: each alternative needs a name/,
    /^operation listPets: parameter q: in cookie is not supported/,
  ]);
});

t.test('a $ref without a target is reported for each operation whose schemas contain the $ref', async (t) => {
  const { file } = edited(t, (c) => (c.components.schemas.Pet.properties.toy = { $ref: '#/components/schemas/Toy' }));
  const error = (await loadContract(file).catch((thrown: unknown) => thrown)) as ContractError;
  const ids = error.problems.filter(isOurs).map((problem) => /^operation (\S+): \$ref \S+Toy/.exec(problem)?.[1]);
  t.strictSame([...new Set(ids)].sort(), ['createPet', 'getPet', 'listPets']);
});

t.test('the examples of a contract may contain a field $id twice, because $id has no meaning in them', async (t) => {
  const { file } = edited(t, ({ components }) => {
    const examples = ['$id', '$anchor', '$schema'].flatMap((name) => [{ [name]: 'first' }, { [name]: 'first' }]);
    components.schemas.Pet.properties.tags = { type: 'object', additionalProperties: { type: 'object', examples } };
  });
  t.equal((await loadContract(file)).operations.size, Object.keys(handlers).length);
});

t.test('a security scheme that no operation uses may be of any type', async (t) => {
  const { file } = edited(t, ({ components }) => (components.securitySchemes.mutual = { type: 'mutualTLS' }));
  t.equal((await loadContract(file)).operations.size, Object.keys(handlers).length);
});

t.test('the server does not start if an operation has no handler, or a handler has no operation', async (t) => {
  const { getPet, ...others } = handlers;
  const error = (await startService(t, { handlers: { ...others, feedPet: getPet } }).catch(
    (thrown: unknown) => thrown,
  )) as ContractError;
  t.strictSame(error.problems, [
    'operation getPet has no handlers/getPet.ts',
    'handlers/feedPet.ts has no operation feedPet in the contract',
  ]);
});

t.test('the server does not start if the operation toString has no handler, despite Object.prototype', async (t) => {
  const { file } = edited(t, (c) => {
    c.paths['/pets/{petId}'].get.operationId = 'toString';
    delete c.paths['/pets'].post.responses['201'].links;
  });
  const contract = await loadContract(file);
  const error = (await startService(t, { contract }).catch((thrown: unknown) => thrown)) as ContractError;
  t.strictSame(error.problems, [
    'operation toString has no handlers/toString.ts',
    'handlers/getPet.ts has no operation getPet in the contract',
  ]);
});

t.test("requests, Location and Link use the path prefix in the contract's server URL", async (t) => {
  const { file, yaml } = edited(t, withPrefix('/v2'));
  const { request } = await startService(t, { contract: await loadContract(file), yaml });
  t.equal((await request('/v1/pets')).status, 404);
  const { status, headers } = await request('/v2/pets', { method: 'POST', body: { name: 'Rex', categoryId: 7 } });
  t.equal(status, 201);
  t.equal(headers.location, '/v2/pets/1');
  t.equal((await request('/v2/pets/1')).headers.link, '</v2/pets>; rel="successor-version"');
});

t.test("a contract may declare operations at the paths of the server's own documents", async (t) => {
  for (const path of ['/openapi.json', '/openapi.yaml', '/openapi%2Ejson']) {
    const { file, yaml } = edited(t, withPrefix('/'), ({ paths }) => rename(paths, '/pets', path));
    const { request } = await startService(t, { contract: await loadContract(file), yaml });
    t.match(await request(path), { status: 200, body: [] }, path);
    for (const own of ['/docs/openapi.json', '/docs/openapi.yaml']) t.equal((await request(own)).status, 200, own);
  }
});

t.test('a contract may have an operation at /, and neither a path prefix nor servers', async (t) => {
  for (const withoutPrefix of [withPrefix('/'), withPrefix(''), (c: Json) => delete c.servers]) {
    const { file, yaml } = edited(t, withoutPrefix, ({ paths }) => {
      paths['/'] = { get: { ...paths['/pets'].get, operationId: 'list-pets' } };
    });
    const contract = await loadContract(file);
    const all = { ...handlers, 'list-pets': handlers.listPets };
    const { request } = await startService(t, { contract, handlers: all, yaml });
    const { status, headers } = await request('/pets', { method: 'POST', body: { name: 'Rex', categoryId: 7 } });
    t.strictSame([status, headers.location], [201, '/pets/1']);
    t.match(await request('/'), { status: 200, body: [{ id: 1, name: 'Rex', categoryId: 7 }] });
    t.match((await request('/pets/1')).headers.link, '</pets>; rel="successor-version"');
    t.equal((await request('/livez')).status, 200);
    t.equal((await request('/docs')).status, 200);
    t.equal((await request('/nothing')).status, 404);
  }
});

t.test('after an edit of the contract, the server enforces the new limits, defaults and enums', async (t) => {
  const { file, yaml } = edited(t, (c) => {
    Object.assign(c.paths['/pets'].get.parameters[0].schema, { maximum: 3, default: 2 });
    c.paths['/pets'].post.requestBody['x-max-bytes'] = 60;
    c.components.schemas.PetStatus.enum = ['available', 'pending'];
  });
  const { request } = await startService(t, { contract: await loadContract(file), yaml });
  const create = (name: string) => request('/v1/pets', { method: 'POST', body: { name, categoryId: 7 } });
  for (const name of ['Rex', 'Mia', 'Leo']) t.equal((await create(name)).status, 201);
  t.equal(((await request('/v1/pets')).body as unknown[]).length, 2);
  t.equal((await request('/v1/pets?limit=4')).status, 400);
  t.equal((await request('/v1/pets?status=sold')).status, 400);
  t.equal((await create('x'.repeat(60))).status, 413);
});

t.test('the server requires an API key only for operations whose contract requires one', async (t) => {
  const { file, yaml } = edited(t, (c) => (c.paths['/pets'].get.security = []));
  const { request } = await startService(t, { contract: await loadContract(file), yaml });
  t.equal((await request('/v1/pets', { key: null })).status, 200);
  t.equal((await request('/v1/pets/1', { key: null })).status, 401);
});

t.test('the server answers 400 to a 64-bit integer outside the bounds in the contract', async (t) => {
  const { file, yaml } = edited(t, ({ components: { schemas }, paths }) => {
    Object.assign(schemas.CategoryId, { minimum: -5, exclusiveMaximum: 9 });
    Object.assign(paths['/pets/{petId}'].get.parameters[0].schema, { exclusiveMinimum: 0, maximum: 9 });
  });
  const { request } = await startService(t, { contract: await loadContract(file), yaml });
  const create = async (categoryId: number) =>
    (await request('/v1/pets', { method: 'POST', body: { name: 'Rex', categoryId } })).body;
  t.match(await create(-6), { message: 'body.categoryId must be at least -5' });
  t.match(await create(9), { message: 'body.categoryId must be less than 9' });
  t.match(await create(-5), { categoryId: -5 });
  t.match((await request('/v1/pets/0')).body, { message: 'path.petId must be more than 0' });
  t.match((await request('/v1/pets/10')).body, { message: 'path.petId must be at most 9' });
});

t.test('each problem of a contract is printed in one line, even if a path contains line breaks', async (t) => {
  const { file } = edited(t, ({ paths }) => {
    paths['/a\n  - all is well\u001b[2J'] = { trace: paths['/pets'].get };
    delete paths['/pets'].get;
  });
  const error = await loadContract(file).catch((reason) => reason);
  t.match(inspect(error), /^[^\n]*\n {2}- operation listPets: TRACE is not served$/);
  const { file: other } = edited(t, ({ paths }) => (paths['/a\n  - all is well\u001b[2J'] = { $ref: '#/a' }));
  const { message } = await loadContract(other).catch((reason) => reason);
  t.match(message, /^[^\n]*\n {2}- path \/a\\u\{a\} {2}- all is well\\u\{1b\}\[2J: [^\n]*$/);
});

t.test('a contract may omit every field that OpenAPI makes optional', async (t) => {
  const load = (yaml: string) => {
    const head = 'openapi: 3.1.0\ninfo: { title: Least, version: 1.0.0 }\nservers: [{ url: /v1 }]\n';
    return loadContract(join(t.testdir({ 'least.yaml': head + yaml }), 'least.yaml'));
  };
  t.strictSame([...(await load('components: {}')).operations.keys()], []);
  const { operations } = await load(`paths:
  /ping:
    parameters: [{ name: loud, in: query, schema: { type: boolean } }]
    get: { operationId: ping }
    put: { operationId: pong, requestBody: { content: { application/json: {} } }, responses: { '204': { description: Done } } }`);
  t.match(operations.get('ping'), {
    security: [],
    body: undefined,
    parameters: [{ name: 'loud', required: false }],
  });
  const contents = [{ type: 'application/json', kind: 'json', schema: {} }];
  t.strictSame(operations.get('pong')?.body, { required: false, maxBytes: undefined, contents });
  await t.rejects(load('paths: { /ping: { get: { operationId: ping, security: [{ key: [] }] } } }'), {
    message: /operation ping: security: key is not in components.securitySchemes/,
  });
});

t.test('a contract in JSON is read like the same contract in YAML', async (t) => {
  const text = '{"large": 9007199254740993, "one": 1.0, "tiny": 1e-9, "__proto__": {"a": [null, true, "\\u00e9"]}}';
  const folder = t.testdir({ 'contract.json': text, 'contract.yaml': `--- ${text}`, 'twice.json': '{"a": 1, "a": 2}' });
  const { json } = await readSource(join(folder, 'contract.json'));
  t.equal(json, '{"large":9007199254740993,"one":1,"tiny":1e-9,"__proto__":{"a":[null,true,"é"]}}');
  t.equal((await readSource(join(folder, 'contract.yaml'))).json, json);
  await t.rejects(readSource(join(folder, 'twice.json')), { message: /Map keys must be unique/ });
});
