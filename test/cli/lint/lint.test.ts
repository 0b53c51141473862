import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { fileURLToPath } from 'node:url';
import t, { type Test } from 'tap';
import { lint as lintFiles } from '../../../src/contract-first/cli/lint/lint.ts';
import { type Edit, edited } from '../../edited-contract.ts';
import { NODE_ARGS } from '../../program.ts';

const SCRIPT = fileURLToPath(new URL('../../../src/contract-first/cli/main.ts', import.meta.url));
const YESTERDAY = new Date(Date.now() - 86_400_000).toISOString().slice(0, 10);
const OPEN =
  'An object in a request body must be closed: add additionalProperties: false, or with allOf unevaluatedProperties: false.';

/** For each mistake: what the lint rejects, the edit of the contract, and all messages. */
const REFUSED: [sentence: string, edit: Edit, messages: string[]][] = [
  [
    'the lint reports an error response without a body, or with a body of another schema than Error',
    ({ paths, components }) => {
      components.responses.PayloadTooLarge.content['application/json'] = { schema: { type: 'string' } };
      delete paths['/pets/{petId}'].get.responses.default.content;
    },
    [
      'The body of 413 of createPet must be application/json with the schema Error.',
      'The body of default of getPet must be application/json with the schema Error.',
      'Component: "PayloadTooLarge" is never used.',
    ],
  ],
  [
    'the lint reports a field of Error that is not required',
    ({ components }) => (components.schemas.Error.required = ['code', 'message']),
    ['The schema Error must require code, message, status; it does not require status.'],
  ],
  [
    'the lint reports an example of an error under another status than its own',
    ({ components }) => (components.examples.PetNotFound.value.status = 400),
    ['The example unknown has the status 400, but belongs to 404 of getPet.'],
  ],
  [
    'the lint reports an example of an error whose code is not in the x-extensible-enum',
    ({ components }) => (components.examples.PetNotFound.value.code = 'no_pet'),
    ['The example unknown does not fit its schema: code must be a code of its x-extensible-enum, not no_pet.'],
  ],
  [
    'the lint reports an operation with an API key that declares neither 401 nor 400',
    ({ paths }) => {
      delete paths['/pets'].post.responses['401'];
      delete paths['/pets'].post.responses['400'];
    },
    [
      'createPet takes an API key, so it must declare the response 401.',
      'createPet takes an API key, so it must declare the response 400: unknown query parameters are refused everywhere.',
      'Component: "InvalidBody" is never used.',
    ],
  ],
  [
    'the lint reports a 401 without the header WWW-Authenticate',
    ({ paths }) => delete paths['/pets/{petId}'].get.responses['401'].headers['WWW-Authenticate'],
    ['getPet takes an API key, so its 401 must declare the header WWW-Authenticate (RFC 9110, section 11.6.1).'],
  ],
  [
    'the lint reports an operation with a scope that declares no 403',
    ({ paths, components }) => {
      delete paths['/pets'].post.responses['403'];
      delete components.responses.ForbiddenToAdd;
      delete components.examples.ForbiddenToAdd;
    },
    [
      'createPet takes an API key, so with pets:write it must declare the response 403 with the header WWW-Authenticate.',
    ],
  ],
  [
    'the lint reports a deprecated operation without x-deprecated-at, x-sunset and x-successor',
    ({ paths }) => {
      for (const name of ['x-deprecated-at', 'x-sunset', 'x-successor']) delete paths['/pets/{petId}'].get[name];
    },
    [
      'getPet is deprecated, so x-deprecated-at must be a date, as in "2026-11-20", not undefined.',
      'getPet is deprecated, so x-sunset must be a date, as in "2030-12-05", not undefined.',
      'getPet is deprecated, so x-successor must be the operationId of what to use instead.',
    ],
  ],
  [
    'the lint reports an x-sunset that is not a date',
    ({ paths }) => {
      paths['/pets/{petId}'].get['x-sunset'] = '2031-02-30';
    },
    ['getPet is deprecated, so x-sunset must be a date, as in "2030-12-05", not 2031-02-30.'],
  ],
  [
    'the lint reports an x-sunset before the x-deprecated-at',
    ({ paths }) => {
      paths['/pets/{petId}'].get['x-deprecated-at'] = '3000-01-01';
    },
    ['getPet is deprecated, so x-sunset must be later than x-deprecated-at, 3000-01-01, not 2999-12-05.'],
  ],
  [
    'the lint reports an operation whose x-sunset has passed',
    ({ paths }) => {
      paths['/pets/{petId}'].get['x-deprecated-at'] = '2020-01-01';
      paths['/pets/{petId}'].get['x-sunset'] = YESTERDAY;
    },
    [
      `getPet is deprecated, so its x-sunset, ${YESTERDAY}, must be still to come: remove the operation or move the date.`,
    ],
  ],
  [
    'the lint reports an x-successor that is deprecated itself',
    ({ paths }) => {
      paths['/pets/{petId}'].get['x-successor'] = 'getPet';
    },
    ['getPet is deprecated, so x-successor must not be getPet, which is deprecated itself.'],
  ],
  [
    'the lint reports a reply of a deprecated operation without the headers of the deprecation',
    ({ paths }) => {
      delete paths['/pets/{petId}'].get.responses['404'].headers.Sunset;
      delete paths['/pets/{petId}'].get.responses['404'].headers.Link;
    },
    ['getPet is deprecated, so its 404 must declare the headers Sunset, Link.'],
  ],
  [
    'the lint reports an example of a body with a field that its schema does not declare',
    ({ paths }) =>
      (paths['/pets'].get.responses['200'].content['application/json'].examples.two.value[1].stauts = 'sold'),
    ['The example two does not fit its schema: 1 must NOT have unevaluated properties: stauts.'],
  ],
  [
    'the lint reports an example of a parameter that is out of bounds',
    ({ paths }) => (paths['/pets'].get.parameters[0].example = 101),
    ['The example does not fit its schema: it must be <= 100.'],
  ],
  [
    'the lint reports an example of a header with the wrong type or format',
    ({ paths, components }) => {
      components.headers['Retry-After'].example = 'soon';
      paths['/pets'].post.responses['201'].headers.Location.examples.added.value = 'a pet';
    },
    [
      'The example added does not fit its schema: it must match format "uri-reference".',
      'The example does not fit its schema: it must be integer.',
    ],
  ],
  [
    'the lint reports an example of a reply without an example of a required header',
    ({ paths }) => delete paths['/pets'].post.responses['201'].headers.Location.examples.added,
    [
      'The required header Location has no example named added: its examples have one for each example of the body, by the same name.',
    ],
  ],
  [
    'the lint reports a required header without examples if the reply has examples, but not an optional header',
    ({ paths, components }) => {
      const { headers } = paths['/pets'].post.responses['201'];
      delete components.responses.PayloadTooLarge.headers;
      delete headers.Location.examples;
      headers['X-Note'] = { description: 'A note.', schema: { type: 'string' } };
    },
    [
      'Response object must contain a "X-Request-Id" header.',
      'The required header Location has no example named added: its examples have one for each example of the body, by the same name.',
    ],
  ],
  [
    'the lint reports examples and a default that do not fit their own schema',
    ({ paths, components }) => {
      components.schemas.PetStatus.examples = ['lost'];
      components.schemas.PetName.example = '';
      paths['/pets'].get.parameters[0].schema.default = 0;
    },
    [
      'The example does not fit its schema: it must be equal to one of the allowed values: available, pending, sold.',
      'The example does not fit its schema: it must NOT have fewer than 1 characters.',
      'The default does not fit its schema: it must be >= 1.',
    ],
  ],
  [
    'the lint reports a pattern that is not a regular expression',
    ({ components }) => (components.headers.Deprecation.schema.pattern = '^@[0-9'),
    [
      ...['forbidden', 'found', 'parameter', 'rateLimited', 'unauthorized', 'unavailable', 'unknown'].map(
        (name) =>
          `The example ${name} cannot be checked: Invalid regular expression: /^@[0-9/u: Unterminated character class.`,
      ),
      'The pattern ^@[0-9 is not understood alike by every engine, from [0-9 on.',
    ],
  ],
  [
    'the lint reports a pattern that not every engine of regular expressions understands in the same way',
    ({ components }) => {
      const patterns = {
        property: String.raw`\p{L}`,
        unicodeEscape: String.raw`^[^\u0000]*$`,
        quote: 'a"',
        anyCharacter: 'a.',
        lookahead: '(?=a)',
        longRepeat: 'a{2000}',
        counted: '[^a]{2}',
        intersection: '[a&&b]',
        foreign: 'é',
        fine: String.raw`^[^\x00-\x1f]+(?:\x01[A-Z]{2,3}|\x02\x22\.)*?$`,
      };
      const fields = Object.entries(patterns).map(([name, pattern]) => [
        name,
        { description: 'A field.', type: 'string', pattern },
      ]);
      Object.assign(components.schemas.NewPet.properties, Object.fromEntries(fields));
    },
    [
      'The pattern a{2000} is not known to take time in proportion to its text: no part may begin where another can go on.',
      ...[
        ['\\p{L}', '\\p{L}'],
        ['^[^\\u0000]*$', '[^\\u0000]*$'],
        ['a"', '"'],
        ['a.', '.'],
        ['(?=a)', '(?=a)'],
        ['a{2000}', '{2000}'],
        ['[^a]{2}', '[^a]{2}'],
        ['[a&&b]', '[a&&b]'],
        ['é', 'é'],
      ].map(([pattern, rest]) => `The pattern ${pattern} is not understood alike by every engine, from ${rest} on.`),
    ],
  ],
  [
    'the lint reports a request body that allows any field',
    ({ components }) => delete components.schemas.NewPet.additionalProperties,
    [OPEN],
  ],
  [
    'the lint reports an open object in a field, an item, a part of allOf, an array of anything and an alternative',
    ({ components }) => {
      const open = { description: 'Open.', type: 'object' };
      const closed = { description: 'Closed.', type: 'object', additionalProperties: false };
      Object.assign(components.schemas.NewPet.properties, {
        field: open,
        items: { description: 'Items.', type: 'array', items: open },
        parts: { description: 'Parts.', unevaluatedProperties: false, allOf: [{ properties: { part: open } }] },
        anything: { description: 'Items.', type: 'array' },
        alternatives: { description: 'Text or open.', oneOf: [{ type: 'string' }, open] },
        closedAlternatives: { description: 'Fine.', anyOf: [closed, { type: 'string' }, { const: 1 }] },
        family: { $ref: '#/components/schemas/NewPet' },
        anyValue: true,
        noValue: false,
        closedPart: { description: 'Fine.', allOf: [closed, open] },
      });
    },
    [
      ...Array(6).fill(OPEN),
      'An array must have items.',
      ...['anyValue', 'noValue'].map((name) => `The field ${name} must have a description.`),
    ],
  ],
  [
    'the lint reports a response that does not declare X-Request-Id',
    ({ components }) => (components.responses.PayloadTooLarge.headers = {}),
    ['Response object must contain a "X-Request-Id" header.'],
  ],
  [
    'the lint reports an operationId that is not in camelCase',
    ({ paths }) => (paths['/pets'].post.operationId = 'create_pet'),
    ['An operationId must be in camelCase, since it names a handler and a method of every client.'],
  ],
  [
    'the lint reports an operation without a tag, an undeclared tag, and a tag without a description',
    ({ paths, tags }) => {
      paths['/pets'].get.tags = [];
      paths['/pets'].post.tags = ['animals'];
      delete tags[0].description;
    },
    [
      'An operation must have a tag, under which the documentation lists it.',
      'Operation tags should be defined in global tags.',
      'Tag object should contain `description` field.',
    ],
  ],
  [
    'the lint reports fields, parameters, headers, schemas, bodies and operations without a description',
    ({ paths, components }) => {
      delete components.schemas.Error.properties.message.description;
      delete paths['/pets'].get.parameters[0].description;
      delete components.headers.Sunset.description;
      delete components.schemas.Pets.description;
      delete paths['/pets'].post.requestBody.description;
      delete paths['/pets'].post.description;
    },
    [
      'The field message must have a description.',
      'The parameter limit must have a description.',
      'The header Sunset must have a description.',
      'The schema Pets must have a description.',
      'The request body must have a description.',
      'The operation createPet must have a description.',
    ],
  ],
  [
    'the lint reports an integer without a format',
    ({ components }) => delete components.schemas.Error.properties.status.format,
    ['An integer must have a format: int32 or int64.'],
  ],
  [
    'the lint reports a server URL whose prefix is not the major version',
    ({ servers }) => (servers[2].url = '{staging_origin}/v2'),
    ['The path prefix of every server must be /v1, the prefix of version 1.'],
  ],
  [
    'the lint reports a contract without a contact or a description',
    ({ contract: { info } }) => {
      delete info.contact;
      delete info.description;
    },
    ['Info object should contain `contact` field.', 'The contract must explain in info.description what it is for.'],
  ],
  [
    'the lint reports a description that contains a script',
    ({ contract: { info, tags }, listPets, limit }) => {
      info.description += '<script>steal()</script>';
      tags[0].description += '<img src="x" onerror="steal()">';
      listPets.description += '[more](javascript:steal())';
      limit.description += 'eval(steal)';
    },
    Array(4).fill('A description must not contain a script.'),
  ],
  [
    'the lint reports a repeated tag, and a repeated value of an enum',
    ({ contract: { tags }, PetStatus }) => {
      tags.push(tags[0]);
      PetStatus.enum.push('sold');
    },
    ['The tag pets must not be repeated.', 'The value sold of an enum must not be repeated.'],
  ],
  [
    'the lint reports an operation without a success response, because default stands for errors',
    ({ createPet }) => delete createPet.responses['201'],
    ['The operation createPet must have a response of success, such as 200.'],
  ],
  [
    'the lint reports a schema with two lower bounds, with only one alternative, or with an undeclared required field',
    ({ limit, NewPet }) => {
      Object.assign(limit.schema, { exclusiveMinimum: 0, exclusiveMaximum: 101 });
      NewPet.oneOf = [{}];
      NewPet.required.push('owner');
    },
    [
      'A schema must have one lower bound, minimum or exclusiveMinimum.',
      'A schema must have one upper bound, maximum or exclusiveMaximum.',
      'There must be at least two alternatives.',
      "Required property 'owner' is undefined.",
      "The example full does not fit its schema: it must have required property 'owner'.",
      "The example least does not fit its schema: it must have required property 'owner'.",
    ],
  ],
  [
    'the lint reports servers with example URLs, with a slash at the end, or with unused variables',
    ({ servers }) => {
      servers[0].url += '/';
      servers[1].variables.more = { default: 'x' };
      servers.push({ url: 'https://example.com/v1' });
    },
    [
      'Server `url` should not have a trailing slash.',
      'Server `url` should not point to example.com or localhost.',
      "The `more` variable is not used in the server's `url` field.",
      'The path prefix of every server must be /v1, the prefix of version 1.',
    ],
  ],
  [
    'the lint reports a path with a slash at its end, with a query, or with undeclared parameters',
    ({ paths }) => {
      paths['/pets/'] = paths['/pets'];
      paths['/pets/{petId}/{toyId}?all'] = paths['/pets/{petId}'];
      delete paths['/pets'];
      delete paths['/pets/{petId}'];
    },
    [
      "Don't put query string items in the path, they belong in parameters with `in: query`.",
      'The operation does not define the path parameter `{toyId}` expected by path `/pets/{petId}/{toyId}?all`.',
      '`/pets/` should not have a trailing slash.',
    ],
  ],
  [
    'the lint reports a repeated operationId, a repeated parameter, and an example with both value and externalValue',
    ({ createPet, listPets, examples }) => {
      createPet.operationId = 'listPets';
      listPets.parameters.push(listPets.parameters[0]);
      examples.PetNotFound.externalValue = 'https://examples.example/unknown';
    },
    [
      'Every operation must have a unique `operationId`.',
      'Example object can have either `value` or `externalValue` fields.',
      'Operations must have unique `name` + `in` parameters. Repeats of `in:query` + `name:limit`.',
    ],
  ],
  [
    'the lint reports a pattern that takes more than linear time, even in patternProperties',
    ({ PetName, Pet }) => {
      PetName.pattern = '^([A-Za-z]+)+$';
      Pet.properties.tags = {
        ...{ type: 'object', description: 'Notes.' },
        patternProperties: { '^[a-z]*[a-y]*$': { type: 'string' } },
      };
    },
    [
      'The pattern ^([A-Za-z]+)+$ is not known to take time in proportion to its text: no part may begin where another can go on.',
      'The pattern ^[a-z]*[a-y]*$ is not known to take time in proportion to its text: no part may begin where another can go on.',
    ],
  ],
  [
    'the lint reports an undeclared security scheme, an enum with values of other types, and unknown fields',
    ({ listPets, PetStatus, getPet, Pet }) => {
      listPets.security = [{ partnerKey: [] }];
      PetStatus.enum.push(7);
      getPet.summery = 'A pet.';
      delete getPet.summary;
      Pet.items = {};
    },
    [
      'All values of `enum` field must be of the same type as the `type` field: expected "string" but received "integer".',
      'Operation object should contain `summary` field.',
      'Property `summery` is not expected here.',
      "Schema type mismatch: 'object' type should not contain 'items' field.",
      'There is no `partnerKey` security scheme defined.',
    ],
  ],
];

const STYLE = readFileSync(new URL('../../../openapi/redocly.yaml', import.meta.url), 'utf8');

/** Makes a folder with these files and the pet store's redocly.yaml. */
const styled = (t: Test, files: Record<string, string>) => t.testdir({ 'redocly.yaml': STYLE, ...files });

const lint = async (...files: string[]) => (await lintFiles(files)).text;

/** Runs `contract-first lint` with the same loader as this test. */
function run(...files: string[]) {
  const { status, stdout } = spawnSync(process.execPath, [...NODE_ARGS, SCRIPT, 'lint', ...files], {
    encoding: 'utf8',
  });
  return { status, stdout };
}

t.test("`contract:lint` accepts the pet store's contract", async (t) => {
  t.strictSame(run(), { status: 0, stdout: 'The contract keeps every rule.\n' });
});

t.test('`contract:lint` fails for a contract that breaks a rule, and prints the line and column', async (t) => {
  const folder = styled(t, { 'broken.yaml': edited(({ Pet }) => delete Pet.description) });
  t.match(run(`${folder}/broken.yaml`), {
    status: 1,
    stdout: /broken\.yaml:\n +\d+:\d+ +error .* The schema Pet must/,
  });
});

t.test('`lint` reports each mistake of a contract once', async (t) => {
  const broken = REFUSED.map(([, edit], index): [string, string] => [`broken-${index}.yaml`, edited(edit)]);
  const folder = styled(t, Object.fromEntries(broken));
  const files = broken.map(([file]) => `${folder}/${file}`);
  const reports = (await lint(...files)).split(/^(?=\S)/m);
  for (const [index, [sentence, , messages]] of REFUSED.entries()) {
    const report = reports.find((text) => text.includes(`broken-${index}.yaml:`)) ?? '';
    const found = [...report.matchAll(/^ +\d+:\d+ +error +\S+ +(.*)$/gm)].map(([, message]) => message);
    t.strictSame(found.sort(), messages.sort(), sentence);
  }
});

t.test(
  '`lint` requires no operationId in webhooks and callbacks, and no descriptions in an if, else or not',
  async (t) => {
    const yaml = edited(({ contract, createPet, NewPet }) => {
      const sent = {
        summary: 'A pet.',
        description: 'A pet was added.',
        requestBody: { description: 'It.', content: { 'application/json': { schema: { type: 'object' } } } },
        responses: { '400': { description: 'No.' } },
      };
      contract.webhooks = { added: { post: { ...sent, deprecated: true } } };
      createPet.callbacks = { added: { '{$request.query.url}': { post: sent } } };
      const text = { description: 'A text.', type: 'string', maxLength: 9 };
      const words = { description: 'Words.', type: 'object', additionalProperties: text };
      NewPet.properties.words = { ...words, writeOnly: true };
      NewPet.if = { not: { properties: { name: { const: 'Ada' } } } };
      NewPet.else = { properties: { status: { const: 'sold' } }, not: { properties: { name: { const: 'Bob' } } } };
    });
    t.equal(await lint(`${styled(t, { 'contract.yaml': yaml })}/contract.yaml`), '');
  },
);

t.test(
  "`lint` accepts an anyOf that requires fields declared next to it, and a schema's name in a mapping",
  async (t) => {
    const lintOf = (edit: Edit) => lint(`${styled(t, { 'contract.yaml': edited(edit) })}/contract.yaml`);
    const asks = (field: string) => ({ required: [field] });
    const alternatives: Edit = ({ NewPet, contract }) => {
      const { properties, required, ...words } = NewPet;
      NewPet.anyOf = [asks('name'), asks('status')];
      NewPet.not = { required: ['animal', 'status'] };
      Object.assign(NewPet, { if: asks('status'), else: asks('categoryId') });
      NewPet.dependentSchemas = { status: { properties: { name: { minLength: 3 } }, required: ['name'] } };
      const [Cat, Dog] = ['cat', 'dog'].map((kind) => ({
        ...words,
        properties: { ...properties, kind: { type: 'string', description: kind } },
        required: ['kind'],
      }));
      Object.assign(contract.components.schemas, { Cat, Dog });
      const oneOf = ['Cat', 'Dog'].map((name) => ({ $ref: `#/components/schemas/${name}` }));
      const discriminator = { propertyName: 'kind', mapping: { cat: 'Cat', dog: 'Dog' } };
      NewPet.properties.animal = { description: 'A pet of a kind.', oneOf, discriminator, writeOnly: true };
    };
    t.equal(await lintOf(alternatives), '');
    const misspelt: Edit = (parts) => {
      alternatives(parts);
      parts.NewPet.if = asks('nmae');
    };
    t.match(await lintOf(misspelt), /operation createPet: .*requires nmae, but no properties declare it/);
    const unknown: Edit = (parts) => {
      alternatives(parts);
      parts.NewPet.properties.animal.discriminator.mapping.dog = 'Dug';
    };
    t.match(await lintOf(unknown), /no-unresolved-refs/);
  },
);

t.test('`lint` reports a value of the wrong type with its position, and does not crash', async (t) => {
  const edits: [reported: RegExp, edit: Edit][] = [
    [/array/, ({ listPets }) => (listPets.security = { bearerAuth: [] })],
    [/components.*object/, ({ contract }) => (contract.components = null)],
    [/array/, ({ NewPet }) => (NewPet.allOf = { properties: {} })],
    [/\$ref/, ({ NewPet }) => (NewPet.properties.name = { $ref: 7 })],
    [
      /nothing but itself/,
      ({ schemas, NewPet }) => {
        schemas.Loop = { $ref: '#/components/schemas/Loop' };
        NewPet.properties.loop = schemas.Loop;
      },
    ],
  ];
  const files = edits.map(([, edit], index): [string, string] => [`${index}.yaml`, edited(edit)]);
  const folder = styled(t, Object.fromEntries(files));
  const reports = (await lint(...files.map(([file]) => `${folder}/${file}`))).split(/^(?=\S)/m);
  t.equal(reports.length, edits.length);
  for (const [index, [reported]] of edits.entries()) {
    const lines = reports[index]?.trim().split('\n').slice(1) ?? [];
    t.match(lines.join(), reported);
    for (const line of lines) t.match(line, /^ +(\S+:)?\d+:\d+/);
  }
});

t.test('`lint` reports a map in a request if its values are objects that allow any field', async (t) => {
  const yaml = edited(({ NewPet }) => {
    const open = { type: 'object', description: 'Open.' };
    NewPet.properties.words = { description: 'Words.', type: 'object', additionalProperties: open };
  });
  t.match(await lint(`${styled(t, { 'contract.yaml': yaml })}/contract.yaml`), OPEN);
});

t.test('`lint` reports a document that is not OpenAPI, and does not crash', async (t) => {
  const bare = edited((parts) => {
    delete parts.contract.info;
    delete parts.contract.servers;
    delete parts.contract.security;
    parts.paths['/pets'].get = {};
    parts.createPet.requestBody.content['text/plain'] = null;
    parts.NewPet.properties.nothing = null;
    parts.PetName.pattern = '[';
    parts.paths['/pets'].patch = { requestBody: {} };
    parts.paths['/pets'].put = { requestBody: { content: { 'application/json': {} } } };
    parts.getPet.parameters[0] = { name: 'petId', in: 'path', content: {} };
    parts.getPet.responses['404'] = null;
    parts.getPet.responses['401'].$ref = '#/components/responses/None';
  });
  const folder = styled(t, { 'bare.yaml': bare, 'empty.yaml': 'openapi: 3.1.0' });
  const report = await lint(`${folder}/bare.yaml`, `${folder}/empty.yaml`);
  t.match(report, /The field `info` must be present on this level/);
  t.match(report, /The body of 404 of getPet must be application\/json with the schema Error/);
  t.match(report, /Can't resolve \$ref/);
  t.match(report, new RegExp(OPEN));
  t.match(report, /empty\.yaml/);
  t.notMatch(
    report,
    'The pattern [ is not known to take',
    'the lint does not report the speed of an invalid regular expression',
  );
});

t.test('`lint` reports a $ref to another host as an error, and sends no request to the host', async (t) => {
  const server = createServer((_, reply) => reply.end('type: string')).listen(0, '127.0.0.1');
  let requests = 0;
  server.on('request', () => requests++);
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/status.yaml`;
  const folder = styled(t, { 'remote.yaml': edited(({ Pet }) => (Pet.properties.status = { $ref: url })) });
  t.match(await lint(`${folder}/remote.yaml`), /remote\.yaml:1:\d+: \$ref http:\S+: it is not fetched/);
  t.equal(requests, 0);
  server.close();
});

t.test('`lint` reports a file that is missing or not YAML', async (t) => {
  const folder = styled(t, { 'broken.yaml': 'info: [' });
  t.match(await lint(`${folder}/broken.yaml`), /broken\.yaml:\n {2}unexpected end of the stream[^\n]*\n$/);
  t.match(await lint(`${folder}/missing.yaml`), /missing\.yaml:\n.* no such file/);
});

t.test('`lint` reports a format that the server does not know', async (t) => {
  const yaml = edited(({ components }) => (components.schemas.PetName.format = 'nam'));
  const report = await lint(`${styled(t, { 'contract.yaml': yaml })}/contract.yaml`);
  t.match(
    report,
    /^ {2}\S+contract\.yaml:1:\d+ {2}error {2}contract-first\/strict-schemas {2}operation listPets: response 200: body\.items\.name: unknown format "nam" ignored \(and 2 more like it\)$/m,
  );
});
