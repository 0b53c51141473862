import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parse, parseNumberAndBigInt } from 'lossless-json';
import t, { type Test } from 'tap';
import { parse as parseYaml } from 'yaml';
import { compareContracts, compareStoredRecords } from '../../../src/contract-first/cli/diff/contracts.ts';
import { release } from '../../../src/contract-first/cli/diff/diff.ts';
import { filesToCompare, judgeContract, renderComparison } from '../../../src/contract-first/cli/diff/gate.ts';
import { domain } from '../../../src/generated/domain.ts';
import type { Json } from '../../any-json.ts';
import { type Edit, edited, rename, SOURCE, withPrefix } from '../../edited-contract.ts';
import { NODE_ARGS } from '../../program.ts';
import { CHANGES } from './contract-changes.ts';

const TODAY = '2026-11-20';
const TEXT = { type: 'string' };
const TRACE = { name: 'Trace', in: 'header', schema: TEXT };
const NAMES = ['allOf', '$ref', 'example', 'default', 'constructor'];

const readYaml = (text: string): Json => parseYaml(text, { intAsBigInt: true, merge: true });
const PARSED = readYaml(SOURCE);

/** Reads a contract. Edited contracts are JSON, which is parsed faster than YAML. */
function read(text: string): Json {
  if (text === SOURCE) return PARSED;
  return text.startsWith('{') ? parse(text, null, parseNumberAndBigInt) : readYaml(text);
}

/** Returns every change from one contract to another, as verdict, location and text. */
function report(before: string, after: string, today = TODAY): string[] {
  return compareContracts(read(before), read(after), today).map(
    ({ effect, location: place, what }) => `${effect.verdict}: ${place}: ${what}`,
  );
}

const reportOfStoredPets = (after: string) =>
  compareStoredRecords(PARSED, read(after), domain).map(({ location: place, what }) => `${place}: ${what}`);

t.test('`diff` calls each change of a contract breaking, compatible or documentation', async (t) => {
  for (const [verdict, edits] of Object.entries(CHANGES)) {
    for (const [edit, reported] of edits) {
      const changes = report(SOURCE, edited(edit));
      const worst = ['breaking', 'compatible', 'documentation'].find((one) =>
        changes.some((text) => text.startsWith(one)),
      );
      t.equal(worst, verdict, `${verdict}: ${reported}, and nothing worse`, { changes });
      const isReported = changes.some((text) => text.startsWith(`${verdict}: ${reported}`));
      t.ok(isReported, `${verdict}: ${reported}`, { changes });
    }
  }
});

t.test('`diff` warns about stored pets only if a change could make stored pets invalid', async (t) => {
  // biome-ignore format: a table
  const cases: [edit: Edit, told?: string][] = [
    [({ PetStatus }) => PetStatus.enum.splice(2, 1, 'gone'), 'status: enum lost sold and gained gone'],
    [({ PetStatus }) => PetStatus.enum.pop(), 'status: enum lost sold'],
    [({ PetName }) => (PetName.maxLength = 100), 'name: maxLength changed from 255 to 100'],
    [({ CategoryId }) => (CategoryId.minimum = 1), 'categoryId: minimum 1 was added'],
    [({ Pet }) => Pet.required.push('status'), 'status: became required'],
    [({ Pet }) => delete Pet.properties.status, 'status: was removed'],
    [({ Pet }) => { Pet.properties.color = TEXT; Pet.required.push('color'); }, 'color: was added, and is required'],
    [({ Pet }) => (Pet.properties.color = TEXT)],
    [({ PetStatus }) => PetStatus.enum.push('lost')],
    [({ PetName }) => Object.assign(PetName, { maxLength: 300, default: 'Rex', description: 'A name.' })],
    [({ NewPet }) => NewPet.required.push('status')],
    [({ listPets }) => listPets.parameters.pop()],
  ];
  for (const [edit, told] of cases) {
    t.strictSame(reportOfStoredPets(edited(edit)), told ? [`stored pets.${told}`] : []);
  }
  t.strictSame(compareStoredRecords({}, {}, domain), []);
  const sessions = { noun: 'session', table: 'sessions', columns: {}, migrations: new URL(import.meta.url) } as never;
  t.strictSame(compareStoredRecords(PARSED, {}, { sessions }), []);
});

t.test('removing a deprecated operation breaks clients before the date in x-sunset, and not after it', async (t) => {
  const without = edited(({ paths }) => delete paths['/pets/{petId}']);
  t.strictSame(report(SOURCE, without, '2999-12-04'), ['breaking: getPet: was removed from GET /pets/{petId}']);
  t.strictSame(report(SOURCE, without, '2999-12-05'), ['compatible: getPet: was removed from GET /pets/{petId}']);
});

t.test('removing the links to an operation breaks no clients if the operation is also removed', async (t) => {
  const byReference = edited(({ created: { links } }) => {
    links.other = { operationRef: '#/paths/~1pets~1{petId}/get' };
    links.all = { operationId: 'listPets' };
    links.outside = { operationRef: 'https://pets.example/openapi.yaml#/paths/~1pets/get' };
  });
  const without = edited(({ paths, created: { links } }) => {
    delete paths['/pets/{petId}'];
    delete links.self;
    delete links.other;
  }, byReference);
  const gone = 'getPet: was removed from GET /pets/{petId}';
  t.strictSame(report(byReference, without, '2999-12-05'), [`compatible: ${gone}`]);
  t.strictSame(report(byReference, without, '2999-12-04'), [
    'breaking: createPet 201 link self: was removed',
    'breaking: createPet 201 link other: was removed',
    `breaking: ${gone}`,
  ]);
});

t.test("reducing x-max-bytes of a body from more than the server's default breaks clients", async (t) => {
  const large = edited(({ body }) => (body['x-max-bytes'] = 2 ** 21));
  const usual = edited(({ body }) => delete body['x-max-bytes'], large);
  t.strictSame(report(large, usual), ['breaking: createPet body: x-max-bytes 2097152 was removed']);
  t.strictSame(report(usual, large), ['compatible: createPet body: x-max-bytes 2097152 was added']);
  const written = edited(({ body }) => (body['x-max-bytes'] = 2 ** 20), usual);
  t.strictSame(report(usual, written), ['documentation: contract: is arranged in another way']);
});

t.test('if a reply has several media types, changing the one that the server prefers breaks clients', async (t) => {
  const csv = edited(({ listPets: { responses } }) => {
    responses['200'].content = { 'text/csv': {}, 'text/plain': {} };
  });
  const sent = (from: string, to: string) =>
    `breaking: listPets 200: content type that is sent changed from ${from} to ${to}`;
  judgesEach(t, csv, [
    [
      ({ listPets: { responses } }) => (responses['200'].content['application/json'] = {}),
      ['compatible: listPets 200 body: content type application/json was added', sent('text/csv', 'application/json')],
    ],
    [
      ({ listPets: { responses } }) => (responses['200'].content = { 'text/plain': {}, 'text/csv': {} }),
      [sent('text/csv', 'text/plain')],
    ],
  ]);
});

t.test('changing the first media type of a reply breaks the types of generated clients', async (t) => {
  const place = 'listPets 200';
  const csv = (...names: string[]): Edit => {
    const toMedia = (name: string, { 'application/json': json }: Json) => [name, name.endsWith('json') ? json : {}];
    return ({ listPets: { responses } }) => {
      const { content } = responses['200'];
      responses['200'].content = Object.fromEntries(names.map((name) => toMedia(name, content)));
    };
  };
  const [json, text] = ['application/json', 'text/csv'];
  const first = (from: string, to: string) =>
    `breaking: ${place}: content type that is listed first changed from ${from} to ${to}`;
  const added = `compatible: ${place} body: content type ${text} was added`;
  judgesEach(t, SOURCE, [
    [csv(json, text), [added]],
    [csv(text, json), [added, first(json, text)]],
  ]);
  judgesEach(t, edited(csv(json, text)), [[csv(text, json), [first(json, text)]]]);
});

t.test('a new query parameter breaks clients if an object parameter accepted its name before', async (t) => {
  const filter = (schema: Json, more: object = {}) => ({
    name: 'filter',
    in: 'query',
    schema: { type: 'object', ...schema },
    ...more,
  });
  const page = filter({ properties: { size: TEXT } }, { name: 'page' });
  const with_ = (...added: Json[]) => edited(({ listPets }) => listPets.parameters.push(...added));
  const name = { name: 'name', in: 'query', schema: TEXT };
  const added = 'compatible: listPets query.name: was added, and is optional';
  const taken = 'breaking: listPets query.name: takes name from filter';
  // biome-ignore format: a table
  const cases: [before: Json[], after: Json[], reported: string[]][] = [
    [[filter({})], [filter({}), name], [added, taken]],
    [[filter({ additionalProperties: TEXT })], [filter({ additionalProperties: TEXT }), name], [added, taken]],
    [[filter({ additionalProperties: false })], [filter({ additionalProperties: false }), name], [added]],
    [[filter({ properties: { name: TEXT }, additionalProperties: false })],
      [filter({ properties: { name: TEXT }, additionalProperties: false }), name], [added, taken]],
    [[filter({}, { style: 'deepObject' })], [filter({}, { style: 'deepObject' }), name], [added]],
    [[filter({})], [filter({}), { ...name, in: 'header' }], ['compatible: listPets header.name: was added, and is optional']],
    [[filter({})], [filter({}), page], ['compatible: listPets query.page: was added, and is optional',
      'breaking: listPets query.page: takes size from filter']],
    [[filter({}), name], [filter({}), name], []],
    [[filter({}), name], [name], ['breaking: listPets query.filter: was removed']],
  ];
  for (const [before, after, reported] of cases) t.strictSame(report(with_(...before), with_(...after)), reported);
});

t.test('a new path breaks clients if a path with a parameter matched its requests before', async (t) => {
  const place = (paths: Json, path: string, schemas: Json[], method = 'get') => {
    const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
    const parameters = names.map((name, index) => ({
      ...{ name, in: 'path', required: true },
      schema: schemas[index] === null ? undefined : (schemas[index] ?? TEXT),
    }));
    paths[path] = {
      [method]: { operationId: `${method} ${path}`, parameters, responses: { 204: { description: '-' } } },
    };
  };
  const whole = { type: 'integer', minimum: 1 };
  // biome-ignore format: a table
  const cases: [old: string, schemas: Json[], added: string, isTaken: boolean, method?: string][] = [
    ['/notes/{name}', [], '/notes/mine', true],
    ['/notes/{name}', [], '/notes/mine', false, 'post'],
    ['/notes/{name}', [], '/notes/', false],
    ['/notes/{name}', [{ ...TEXT, pattern: '^[0-9]+$' }], '/notes/mine', false],
    ['/notes/{name}', [{ ...TEXT, format: 'uuid' }], '/notes/mine', false],
    ['/notes/{name}', [{ $ref: '#/components/schemas/PetName' }], '/notes/mine', true],
    ['/notes/{name}', [{ $ref: '#/components/schemas/PetStatus' }], '/notes/mine', false],
    ['/notes/{name}', [{ $ref: '#/components/schemas/PetStatus' }], '/notes/sold', true],
    ['/notes/{id}', [whole], '/notes/mine', false],
    ['/notes/{id}', [whole], '/notes/7', true],
    ['/notes/{id}', [{ type: 'integer', format: 'int64' }], '/notes/7', true],
    ['/notes/{ids}', [{ type: 'array', items: whole }], '/notes/mine', true],
    ['/notes/{name}/{part}', [], '/notes/mine', false],
    ['/notes/{name}/{part}', [], '/notes/mine/{part}', true],
    ['/notes/{name}/parts', [], '/notes/mine/{part}', true],
    ['/notes/mine/{part}', [], '/notes/{name}/parts', false],
    ['/notes/mine', [], '/notes/{name}', false],
    ['/notes/{name}', [], '/notes/{name}.json', true],
    ['/notes/{name}.json', [], '/notes/{name}.xml', false],
    ['/notes/{name}.json', [], '/notes/mine.json', true],
    ['/notes/a-{name}', [], '/notes/b-{name}', false],
    ['/notes/{name}', [null], '/notes/mine', true],
    ['/notes/{name}.json', [], '/notes/mine', false],
    ['/notes/{name}', [], '/note/mine', false],
  ];
  for (const [old, schemas, added, isTaken, method = 'get'] of cases) {
    const before = edited(({ paths }) => place(paths, old, schemas));
    const after = edited(({ paths }) => place(paths, added, [], method), before);
    const told = `${method} ${added}: was added, as ${method.toUpperCase()} ${added}`;
    const reported = isTaken ? [`breaking: ${told}, and takes requests from get ${old}`] : [`compatible: ${told}`];
    t.strictSame(report(before, after), reported, `${added} beside ${old}`);
  }
});

t.test('replacing the reply 4XX or default by replies for single statuses breaks no clients', async (t) => {
  const text = (schema: Json) => ({ description: '-', content: { 'application/json': { schema } } });
  const byClass = edited(({ getPet }) => (getPet.responses = { 200: text(TEXT), '4XX': text(TEXT) }));
  const as =
    (replies: Json): Edit =>
    ({ getPet }) =>
      (getPet.responses = { 200: text(TEXT), ...replies });
  const added = (...all: string[]) => all.map((status) => `compatible: getPet ${status}: was added`);
  const removed = (verdict: string, status: string) => `${verdict}: getPet ${status}: was removed`;
  const whole = { type: 'integer' };
  judgesEach(t, byClass, [
    [as({ 400: text(TEXT), 404: text(TEXT) }), [removed('compatible', '4XX'), ...added('400', '404')]],
    [
      as({ 400: text(whole) }),
      [removed('compatible', '4XX'), ...added('400'), 'breaking: getPet 400 body: type changed from string to integer'],
    ],
    [as({}), [removed('breaking', '4XX')]],
    [as({ 500: text(TEXT) }), [removed('breaking', '4XX'), ...added('500')]],
  ]);
  const byBoth = edited(({ getPet }) => (getPet.responses.default = text(whole)), byClass);
  judgesEach(t, byBoth, [
    // The default reply now also covers the 4XX statuses other than 404.
    [
      as({ 404: text(TEXT), default: text(whole) }),
      [
        removed('compatible', '4XX'),
        'breaking: getPet default body: type changed from string to integer',
        ...added('404'),
      ],
    ],
    [as({ '4XX': text(TEXT), '5XX': text(whole) }), [removed('compatible', 'default'), ...added('5XX')]],
    [as({ '4XX': text(TEXT), 404: text(TEXT) }), [removed('breaking', 'default'), ...added('404')]],
  ]);
  const byAll = edited(as({ '4XX': text(TEXT), '5XX': text(TEXT), default: text(whole) }));
  judgesEach(t, byAll, [
    [as({ '4XX': text(TEXT), '5XX': text(TEXT) }), [removed('compatible', 'default')]],
    [as({ '5XX': text(TEXT) }), [removed('breaking', '4XX'), removed('breaking', 'default')]],
  ]);
  const onlyErrors: Edit = ({ getPet: { responses } }) => delete responses['200'];
  judgesEach(t, edited(onlyErrors, byAll), [
    [({ getPet: { responses } }) => delete responses.default, [removed('breaking', 'default')]],
  ]);
  const sent =
    (replies: Json): Edit =>
    ({ contract }) =>
      (contract.webhooks = { sold: { post: { responses: replies } } });
  judgesEach(t, edited(sent({ '2XX': text(TEXT) })), [
    [
      sent({ 200: text(TEXT) }),
      [
        'breaking: contract webhook sold POST 2XX: was removed',
        'compatible: contract webhook sold POST 200: was added',
      ],
    ],
  ]);
});

t.test('a change from OpenAPI 3.0 to 3.1 breaks no clients if the schemas keep their meaning', async (t) => {
  const old = edited(({ contract, NewPet, limit }) => {
    contract.openapi = '3.0.3';
    NewPet.properties.note = { type: 'string', nullable: true };
    Object.assign(limit.schema, { minimum: 0, exclusiveMinimum: true });
  });
  const now = edited(({ contract, NewPet, limit }) => {
    contract.openapi = '3.1.0';
    NewPet.properties.note = { type: ['string', 'null'] };
    delete limit.schema.minimum;
    limit.schema.exclusiveMinimum = 0;
  }, old);
  t.strictSame(report(old, now), ['compatible: contract: openapi changed from 3.0.3 to 3.1.0']);
  t.strictSame(report(now, old), ['compatible: contract: openapi changed from 3.1.0 to 3.0.3']);
});

t.test('turning a parameter into an array breaks no clients if ?tag=a stays valid and means one item', async (t) => {
  const as = (schema: Json, more: object = {}) =>
    edited(({ listPets }) => listPets.parameters.push({ name: 'tag', in: 'query', schema, ...more }));
  const listOf = (items: Json, more: object = {}) => ({ type: 'array', items, ...more });
  const [whole, longest] = [{ type: 'integer' }, { ...TEXT, maxLength: 9 }];
  const [joined, piped] = [{ explode: false }, { style: 'pipeDelimited', explode: false }];
  const changed = 'compatible: listPets query.tag: became an array of what it was';
  const of = (what: string) => `breaking: listPets query.tag${what}`;
  const retyped = of(': type changed from string to array');
  // biome-ignore format: a table
  const cases: [before: Json, after: Json, more: object, reported: string[]][] = [
    [TEXT, listOf(TEXT), {}, [changed]],
    [longest, listOf(TEXT, { maxItems: 5, minItems: 1 }), {}, [changed]],
    [TEXT, listOf(TEXT, { minItems: 2 }), {}, [changed, of(': minItems changed from 1 to 2')]],
    [TEXT, listOf(TEXT, { maxItems: 0 }), {}, [changed, of(': maxItems changed from 1 to 0')]],
    [TEXT, listOf(longest), {}, [changed, of('[]: maxLength 9 was added')]],
    [TEXT, listOf(whole), {}, [changed, of('[]: type changed from string to integer')]],
    [{ ...TEXT, default: 'a' }, listOf(TEXT, { default: ['a'] }), {}, [changed]],
    [{ ...TEXT, default: 'a' }, listOf(TEXT), {}, [changed, of(': default ["a"] was removed')]],
    [whole, listOf(whole), joined, [changed]],
    [whole, listOf(whole), piped, [changed]],
  ];
  for (const [before, after, more, reported] of cases) t.strictSame(report(as(before), as(after, more)), reported);
  // As one comma-separated value, a text with a comma would become two items. An array as several values cannot become
  // a single value.
  t.ok(report(as(TEXT), as(listOf(TEXT), joined)).includes(retyped));
  t.ok(report(as(TEXT), as(listOf(TEXT), piped)).includes(retyped));
  t.ok(report(as(listOf(TEXT)), as(TEXT)).includes(of(': type changed from array to string')));
  const inReply = (schema: Json) => edited(({ created }) => (created.headers.Tag = { schema }));
  const inHeader = 'breaking: createPet 201 header tag: type changed from string to array';
  t.ok(report(inReply(TEXT), inReply(listOf(TEXT))).includes(inHeader));
});

t.test("changing an API key's header name between upper and lower case breaks no clients", async (t) => {
  const inHeader = edited(({ securitySchemes }) => {
    securitySchemes.partnerKey = { type: 'apiKey', in: 'header', name: 'X-Key' };
  });
  judgesEach(t, inHeader, [
    [
      ({ securitySchemes }) => (securitySchemes.partnerKey.name = 'x-key'),
      ['documentation: contract: is arranged in another way'],
    ],
    [
      ({ securitySchemes }) => (securitySchemes.partnerKey.name = 'X-Keys'),
      ['breaking: security scheme partnerKey: name changed from x-key to x-keys'],
    ],
  ]);
});

t.test('renaming a security scheme breaks no clients, unless the scheme itself also changes', async (t) => {
  const before = edited(({ contract, createPet, securitySchemes }) => {
    securitySchemes.partnerKey = { type: 'apiKey', in: 'header', name: 'X-Key' };
    contract.security = [{ partnerKey: [] }];
    delete createPet.security;
  });
  const renameTo =
    (name: string): Edit =>
    (parts) => {
      rename(parts.securitySchemes, 'partnerKey', name);
      parts.contract.security = [{ [name]: [] }];
    };
  const renamed = 'compatible: security scheme partnerKey: name changed from partnerKey to shopKey';
  judgesEach(t, before, [
    [renameTo('shopKey'), [renamed]],
    [
      (parts) => {
        renameTo('shopKey')(parts);
        rename(parts.securitySchemes, 'bearerAuth', 'bearer');
        parts.securitySchemes.bearer.description = 'A key.';
        for (const { security } of [parts.listPets, parts.getPet])
          for (const one of security) rename(one, 'bearerAuth', 'bearer');
      },
      [
        'compatible: security scheme bearerAuth: name changed from bearerAuth to bearer',
        renamed,
        'documentation: security scheme bearerAuth: description changed',
      ],
    ],
    [
      (parts) => {
        renameTo('shopKey')(parts);
        parts.securitySchemes.shopKey.name = 'X-Other';
      },
      ['breaking: createPet: security lost partnerKey and gained shopKey'],
    ],
    [
      ({ securitySchemes }) => (securitySchemes.shopKey = securitySchemes.partnerKey),
      ['documentation: contract: is arranged in another way'],
    ],
  ]);
});

t.test('`diff` reads nullable and exclusiveMinimum in a contract of OpenAPI 3.0 as OpenAPI 3.0 does', async (t) => {
  const old = edited(({ contract, NewPet }) => {
    contract.openapi = '3.0.3';
    NewPet.properties.note = { type: 'string', nullable: true };
  });
  t.strictSame(
    report(
      old,
      edited(({ NewPet }) => (NewPet.properties.note.nullable = false), old),
    ),
    ['breaking: createPet body.note: type changed from ["string","null"] to string'],
  );
});

t.test('removing or relaxing a rule for requests breaks no clients', async (t) => {
  const ruled = edited(({ NewPet, Pet }) => {
    const note = { type: ['object', 'string'], properties: { a: TEXT }, patternProperties: { '^b': TEXT } };
    Object.assign(NewPet.properties, {
      even: { type: 'integer', multipleOf: 10 },
      // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
      when: { if: { required: ['a'] }, then: { required: ['b'] } },
      named: { propertyNames: { maxLength: 4 } },
      unlike: { not: { enum: ['a', 'b'] } },
      note,
      closed: { ...note, additionalProperties: false },
      nullable: { type: ['string', 'null'], maxLength: 9 },
    });
    Pet.properties.nullable = { type: ['string', 'null'], maxLength: 9 };
    Pet.properties.number = { type: 'number' };
  });
  const worst = (edit: Edit) =>
    report(ruled, edited(edit, ruled))
      .map((text) => text.replace(/:.*/, ''))
      .sort()[0];
  const cases: [verdict: string, edit: Edit][] = [
    ['compatible', ({ NewPet: { properties } }) => (properties.even.multipleOf = 5)],
    ['breaking', ({ NewPet: { properties } }) => (properties.even.multipleOf = 4)],
    ['compatible', ({ NewPet: { properties } }) => (properties.when = {})],
    ['breaking', ({ NewPet: { properties } }) => (properties.when.then.required = ['c'])],
    ['compatible', ({ NewPet: { properties } }) => (properties.named.propertyNames.maxLength = 5)],
    ['compatible', ({ NewPet: { properties } }) => (properties.named = {})],
    ['compatible', ({ NewPet: { properties } }) => properties.unlike.not.enum.pop()],
    ['breaking', ({ NewPet: { properties } }) => properties.unlike.not.enum.push('c')],
    ['compatible', ({ NewPet: { properties } }) => delete properties.note.patternProperties],
    ['breaking', ({ NewPet: { properties } }) => delete properties.closed.patternProperties],
    [
      'compatible',
      ({ NewPet: { properties } }) => (properties.nullable = { anyOf: [{ type: 'null' }, { ...TEXT, maxLength: 9 }] }),
    ],
    ['compatible', ({ NewPet: { properties } }) => (properties.nullable = { oneOf: [{ type: 'null' }, TEXT] })],
    [
      'breaking',
      ({ NewPet: { properties } }) => (properties.nullable = { oneOf: [{ type: 'string', maxLength: 2 }, TEXT] }),
    ],
    [
      'compatible',
      ({ Pet: { properties } }) => (properties.nullable = { anyOf: [{ type: 'null' }, { ...TEXT, maxLength: 8 }] }),
    ],
    ['breaking', ({ Pet: { properties } }) => (properties.nullable = { anyOf: [{ type: 'null' }, TEXT] })],
    ['documentation', ({ NewPet: { properties } }) => properties.nullable.type.reverse()],
    // An integer is a valid number, but generated clients then get another type for it.
    ['breaking', ({ Pet: { properties } }) => (properties.number.type = 'integer')],
  ];
  for (const [verdict, edit] of cases) t.equal(worst(edit), verdict, `${edit}`);
});

t.test('`diff` compares keywords such as if and then, or oneOf and a discriminator, together', async (t) => {
  const a = { properties: { a: TEXT } };
  const b = { properties: { b: TEXT } };
  const whole = { type: 'integer' };
  const as = (kind: string, field: object) => ({
    type: 'object',
    properties: { kind: { const: kind }, ...field },
    required: ['kind'],
  });
  const byKind = { discriminator: { propertyName: 'kind' } };
  const some = { anyOf: [a], unevaluatedProperties: TEXT };
  const closed = { patternProperties: { '^a': whole }, additionalProperties: false };
  // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
  const ifThen = (name: string, other: string) => ({ if: { required: [name] }, then: { required: [other] } });
  // biome-ignore format: a table
  const cases: [field: string, verdict: string, before: Json, after: Json][] = [
    ['request', 'compatible', { oneOf: [TEXT] }, { oneOf: [TEXT, whole] }],
    ['request', 'compatible', { oneOf: [as('a', {})] }, { oneOf: [as('a', {}), as('b', {})] }],
    ['request', 'breaking', { oneOf: [a] }, { oneOf: [a, b] }],
    ['request', 'breaking', { oneOf: [TEXT, { ...whole, maximum: 9 }] }, { oneOf: [TEXT, {}] }],
    ['reply', 'compatible', { oneOf: [TEXT, whole] }, { oneOf: [TEXT, { ...whole, maximum: 9 }] }],
    ['reply', 'compatible', { oneOf: [as('a', {}), as('b', {})] }, { oneOf: [as('a', { more: TEXT }), as('b', {})] }],
    ['reply', 'breaking', { oneOf: [a, b] }, { oneOf: [a] }],
    ['reply', 'documentation', { oneOf: [a, b] }, { oneOf: [a, { ...b, title: 'B' }] }],
    ['reply', 'breaking', { unevaluatedProperties: TEXT }, some],
    ['reply', 'documentation', some, { ...some, anyOf: [{ ...a, title: 'A' }] }],
    ['request', 'breaking', some, { ...some, properties: { a: whole } }],
    ['request', 'compatible', some, { ...some, unevaluatedProperties: {} }],
    ['request', 'breaking', closed, { ...closed, properties: { ab: TEXT } }],
    // In `closed`, a field `ab` could never be sent, because it had to be a text and an integer.
    ['request', 'compatible', { ...closed, properties: { ab: TEXT } }, closed],
    ['reply', 'breaking', { ...closed, properties: { ab: TEXT } }, closed],
    ['request', 'compatible', { oneOf: [as('a', {})], ...byKind }, { oneOf: [as('a', {}), as('b', {})], ...byKind }],
    ['request', 'compatible', { prefixItems: [whole] }, { prefixItems: [{}] }],
    ['reply', 'breaking', { prefixItems: [whole] }, { prefixItems: [{}] }],
    ['request', 'compatible', { dependentRequired: { a: ['b', 'c'] } }, { dependentRequired: { a: ['b'] } }],
    ['reply', 'compatible', { enum: ['a', 'b'] }, { oneOf: [{ const: 'a' }, { const: 'b' }] }],
    ['request', 'compatible', { enum: ['a', 'b'] }, { oneOf: [{ const: 'a' }, { const: 'b' }] }],
    ['reply', 'compatible', { patternProperties: { '^a': {} } }, { patternProperties: { '^a': whole } }],
    ['request', 'documentation', { const: 'x', enum: ['x', 'y'] }, { const: 'x' }],
    ['request', 'breaking', { const: 'x' }, { const: 'x', enum: ['y'] }],
    ['request', 'compatible', { additionalProperties: false }, { additionalProperties: { not: {} } }],
    ['request', 'compatible', { additionalProperties: { not: {} } }, { additionalProperties: false }],
    ['reply', 'compatible', { additionalProperties: false }, { additionalProperties: { not: { title: 'x' } } }],
    ['reply', 'compatible', { additionalProperties: { not: {} } }, { additionalProperties: false }],
    ['reply', 'breaking', { additionalProperties: { not: {} } }, { additionalProperties: { not: TEXT } }],
    ['request', 'compatible', { dependentRequired: { a: ['b'] } }, ifThen('a', 'b')],
    ['request', 'compatible', ifThen('a', 'b'), { dependentRequired: { a: ['b'] } }],
    ['reply', 'compatible', { dependentRequired: { a: ['b'] } }, ifThen('a', 'b')],
    ['reply', 'compatible', ifThen('a', 'b'), { dependentRequired: { a: ['b'] } }],
    ['request', 'breaking', { dependentRequired: { a: ['b'] } }, ifThen('a', 'c')],
    ['reply', 'breaking', ifThen('b', 'a'), { dependentRequired: { a: ['c'] } }],
  ];
  for (const [field, verdict, before, after] of cases) {
    const [old, now] = [before, after].map((schema) =>
      edited(({ NewPet, Pet }) => {
        const { properties } = field === 'request' ? NewPet : Pet;
        properties.it = schema;
      }),
    ) as [string, string];
    const found = report(old, now).map((line) => line.split(':')[0]);
    t.equal(found.sort()[0] ?? 'documentation', verdict, `${field}: ${JSON.stringify([before, after])}`, { found });
  }
});

t.test(
  '`diff` treats the bodies of webhooks and callbacks like replies, because the server sends them to clients',
  async (t) => {
    const post = {
      requestBody: {
        content: { 'application/json': { schema: { properties: { a: { ...TEXT, maxLength: 9 }, c: {} } } } },
      },
      responses: { 200: { description: 'Thanks.', content: { 'text/plain': {} } }, 202: { description: 'Later.' } },
    };
    const before = edited(({ contract, createPet }) => {
      contract.webhooks = { sold: { post } };
      createPet.callbacks = { sold: { '{$request.query.url}': { post } } };
    });
    const each =
      (edit: (sent: Json) => void): Edit =>
      ({ contract, createPet }) => {
        for (const item of [contract.webhooks.sold, createPet.callbacks.sold['{$request.query.url}']]) edit(item);
      };
    const both = (verdict: string, what: string) => [
      `${verdict}: contract webhook sold POST${what}`,
      `${verdict}: createPet callback sold POST {$request.query.url}${what}`,
    ];
    const fieldsOf = (sent: Json) => sent.post.requestBody.content['application/json'].schema.properties;
    // biome-ignore format: a table
    judgesEach(t, before, [
    [each((sent) => (fieldsOf(sent).b = TEXT)), both('compatible', ' body.b: was added')],
    [each((sent) => (fieldsOf(sent).a.maxLength = 8)), both('compatible', ' body.a: maxLength changed from 9 to 8')],
    [each((sent) => (fieldsOf(sent).c = TEXT)), both('compatible', ' body.c: type string was added')],
    [each((sent) => delete fieldsOf(sent).a.maxLength), both('breaking', ' body.a: maxLength 9 was removed')],
    [each((sent) => delete fieldsOf(sent).a), both('breaking', ' body.a: was removed')],
    [each((sent) => (sent.post.parameters = [{ ...TRACE, required: true }])), both('compatible', ' header.trace: was added')],
    [each((sent) => (sent.post.responses[204] = { description: '-' })), both('compatible', ' 204: was added')],
    [each((sent) => delete sent.post.responses[202]), both('breaking', ' 202: was removed')],
    [each((sent) => (sent.post.responses[200].content['text/csv'] = {})),
      both('compatible', ' 200 body: content type text/csv was added')],
    [each((sent) => { sent.post.responses[200].content = {} }),
      both('breaking', ' 200 body: content type text/plain was removed')],
    [each((sent) => (sent.put = post)), both('compatible', ': was added').map((text) => text.replace('POST', 'PUT'))],
    [each((sent) => delete sent.post), both('breaking', ': was removed')],
    [each((sent) => (sent.post.summary = 'Sold.')), both('documentation', ': summary changed')],
    [({ createPet: { callbacks } }) => rename(callbacks.sold, '{$request.query.url}', '{$request.query.to}'),
      ['breaking: createPet callback sold POST {$request.query.url}: was removed',
        'compatible: createPet callback sold POST {$request.query.to}: was added']],
    [each((sent) => (sent.post.requestBody.content['application/xml'] = {})),
      both('breaking', ' body: content type application/xml was added')],
    [each((sent) => (sent.post.security = [{ partnerKey: [] }])),
      both('compatible', ': security lost no key and gained partnerKey')],
    [({ contract, createPet }) => { contract.webhooks['x-a'] = createPet.callbacks['x-a'] = null;
      createPet.callbacks.sold['x-a'] = 'A'; contract.webhooks.sold.post.responses['x-a'] = 'A' },
      ['documentation: contract: is arranged in another way']],
  ]);
  },
);

t.test('if a callback has several URLs, `diff` compares the operation of each URL with its old version', async (t) => {
  const toPost = (maxLength: number) => ({
    post: { requestBody: { content: { 'application/json': { schema: { ...TEXT, maxLength } } } } },
  });
  const before = edited(({ createPet }) => {
    createPet.callbacks = { sold: { '{$request.body#/a}': toPost(1), '{$request.body#/b}': toPost(2) } };
  });
  judgesEach(t, before, [
    [
      ({ createPet: { callbacks } }) => (callbacks.sold['{$request.body#/a}'] = toPost(3)),
      ['breaking: createPet callback sold POST {$request.body#/a} body: maxLength changed from 1 to 3'],
    ],
  ]);
});

t.test('removing the API key from a webhook breaks clients, because its receiver may check the key', async (t) => {
  const toPost = (...security: Json[]) =>
    edited(({ contract }) => (contract.webhooks = { sold: { post: { security } } }));
  const key = { partnerKey: [] };
  const place = 'contract webhook sold POST: security';
  t.strictSame(report(toPost(key), toPost({})), [`breaking: ${place} lost partnerKey and gained no key`]);
  t.strictSame(report(toPost(key, {}), toPost({})), [`compatible: ${place} lost partnerKey`]);
});

t.test('a new status breaks clients if its reply contradicts the default reply that covered it', async (t) => {
  const text = (schema: Json) => ({ description: '-', content: { 'application/json': { schema } } });
  const header = (required: boolean) => ({ headers: { 'Retry-After': { required, schema: TEXT } } });
  const links = { links: { self: { operationId: 'getPet' } } };
  const general = { ...text(TEXT), ...header(true), ...links };
  const before = edited(({ contract, getPet, listPets }) => {
    contract.webhooks = { sold: { post: { responses: { default: text(TEXT) } } } };
    getPet.responses.default = general;
    listPets.responses.default = { ...text(TEXT), ...header(false) };
  });
  const whole = { type: 'integer' };
  // biome-ignore format: a table
  judgesEach(t, before, [
    [({ contract }) => (contract.webhooks.sold.post.responses[200] = text({ ...TEXT, maxLength: 1 })),
      ['compatible: contract webhook sold POST 200: was added',
        'breaking: contract webhook sold POST 200 body: maxLength 1 was added']],
    [({ contract }) => (contract.webhooks.sold.post.responses['2XX'] = text({})),
      ['compatible: contract webhook sold POST 2XX: was added']],
    [({ getPet }) => (getPet.responses[418] = general), ['compatible: getPet 418: was added']],
    [({ getPet }) => (getPet.responses[418] = { ...general, ...header(false) }),
      ['compatible: getPet 418: was added', 'breaking: getPet 418 header retry-after: is no longer required']],
    [({ getPet }) => (getPet.responses[418] = text(TEXT)),
      ['compatible: getPet 418: was added', 'breaking: getPet 418 header retry-after: was removed',
        'breaking: getPet 418 link self: was removed']],
    [({ listPets }) => (listPets.responses[418] = text(TEXT)), ['compatible: listPets 418: was added']],
    [({ listPets }) => (listPets.responses[418] = { ...text(TEXT), headers: { 'retry-after': { schema: whole } } }),
      ['compatible: listPets 418: was added',
        'breaking: listPets 418 header retry-after: type changed from string to integer']],
  ]);
});

t.test('`diff` compares a new JSON body with the */* body that included JSON before', async (t) => {
  const toBody =
    (content: Json): Edit =>
    ({ body, created }) =>
      (body.content = created.content = content);
  const range = edited(toBody({ '*/*': { schema: TEXT } }));
  const image = edited(({ body }) => (body.content = { 'image/png': {}, 'application/xml': {} }));
  judgesEach(t, image, [
    [
      ({ body }) => (body.content = { 'image/png': {}, 'application/*': {} }),
      'breaking: createPet body: content type application/xml was removed',
    ],
    [({ body }) => (body.content = { '*/*': {} }), 'breaking: createPet body: content type image/png was removed'],
  ]);
  const both = toBody({ '*/*': { schema: TEXT }, 'application/json': { schema: { type: 'object' } } });
  judgesEach(t, range, [
    [both, 'breaking: createPet body: type changed from string to object'],
    [both, 'breaking: createPet 201 body: type changed from string to object'],
  ]);
});

t.test('`diff` calls a change of a schema that contains itself under not, if or oneOf breaking', async (t) => {
  const nest =
    (inner: Json, maxLength = 5) =>
    (parts: Json) => {
      const node = { $ref: '#/components/schemas/Node' };
      parts.schemas.Node = {
        properties: { v: { maxLength }, w: inner({ type: 'object', required: ['k'], properties: { k: node } }) },
      };
      parts.NewPet.properties.node = node;
    };
  const told = 'breaking: createPet body.node: stands within itself, under not, if, oneOf or contains';
  const reversing: ((node: Json) => Json)[] = [
    (node) => ({ not: node }),
    (node) => ({ items: { if: node, else: false } }),
    (node) => ({ oneOf: [{ minProperties: 1 }, node] }),
  ];
  const verdict = 'compatible: createPet body.node.v: maxLength changed from 5 to 10';
  for (const inner of reversing) {
    const before = edited(nest(inner));
    judgesEach(t, before, [
      [nest(inner, 10), [verdict, told]],
      [({ schemas }) => (schemas.Node.title = 'Node'), ['documentation: createPet body.node: title changed']],
      [
        ({ NewPet: { properties } }) => (properties.more = TEXT),
        ['compatible: createPet body.more: was added, and is optional'],
      ],
    ]);
  }
  const refused = edited(nest((node: Json) => ({ not: node })));
  const refusedLess = edited(({ schemas }) => schemas.Node.properties.w.not.required.push('l'), refused);
  t.ok(report(refused, refusedLess).some((line) => line.startsWith('breaking: createPet body.node.w: not changed')));
  for (const inner of [
    (node: Json) => ({ items: node }),
    (node: Json) => ({ oneOf: [TEXT, { ...node, type: 'object' }] }),
  ]) {
    judgesEach(t, edited(nest(inner)), [[nest(inner, 10), [verdict]]]);
  }
});

t.test(
  '`diff` compares the scopes of each security scheme separately; a new scope in an OAuth flow breaks no clients',
  async (t) => {
    const before = edited(({ securitySchemes, listPets }) => {
      const clientCredentials = { tokenUrl: 'https://pets.example/token', scopes: { read: 'Reads.', add: 'Adds.' } };
      securitySchemes.login = { type: 'oauth2', flows: { clientCredentials } };
      listPets.security = [{ login: ['read', 'add'], bearerAuth: [] }];
    });
    const flow = 'security scheme login flow clientCredentials';
    const scopes = (more: object) => JSON.stringify({ read: 'Reads.', ...more });
    const changed = (more: object) => `scopes changed from ${scopes({ add: 'Adds.' })} to ${scopes(more)}`;
    // biome-ignore format: a table
    judgesEach(t, before, [
    [({ listPets }) => (listPets.security = [{ login: [], bearerAuth: ['read'] }]), [
      'breaking: listPets: security lost bearerAuth and login add read and gained bearerAuth read and login',
    ]],
    [({ listPets }) => (listPets.security = [{ bearerAuth: [], login: ['add', 'read'] }]),
      ['documentation: contract: is arranged in another way']],
    [({ securitySchemes: { login: { flows } } }) => (flows.clientCredentials.scopes.drop = 'Drops.'),
      `compatible: ${flow}: ${changed({ add: 'Adds.', drop: 'Drops.' })}`],
    [({ securitySchemes: { login: { flows } } }) => delete flows.clientCredentials.scopes.add, `breaking: ${flow}: ${changed({})}`],
    [({ securitySchemes: { login: { flows } } }) => (flows.clientCredentials.tokenUrl = 'https://pets.example/t'),
      `breaking: ${flow}: tokenUrl changed from https://pets.example/token to https://pets.example/t`],
    [({ securitySchemes: { login: { flows } } }) => (flows.password = flows.clientCredentials),
      ['compatible: security scheme login flow password: was added, and is optional']],
  ]);
  },
);

t.test("removing a media type from a form field's list breaks clients, and reordering the list does not", async (t) => {
  const form = (body: Json) => body.content['multipart/form-data'];
  const before = edited(({ body }) => {
    const schema = { properties: { photo: { ...TEXT, format: 'binary' } }, additionalProperties: false };
    body.content = { 'multipart/form-data': { schema, encoding: { photo: { contentType: 'image/png, image/gif' } } } };
  });
  const of = (what: string) => `createPet body.photo: contentType ${what}`;
  const from = 'changed from image/png, image/gif to';
  // biome-ignore format: a table
  judgesEach(t, before, [
    [({ body }) => (form(body).encoding.photo.contentType = 'image/gif'), [`breaking: ${of(`${from} image/gif`)}`]],
    [({ body }) => (form(body).encoding.photo.contentType += ',image/webp'),
      [`compatible: ${of(`${from} image/png, image/gif,image/webp`)}`]],
    [({ body }) => delete form(body).encoding, [`compatible: ${of('image/png, image/gif was removed')}`]],
    [({ body }) => {
      form(body).schema.properties.film = { ...TEXT, format: 'binary' };
      form(body).encoding.film = { contentType: 'video/mp4' };
    }, ['compatible: createPet body.film: was added, and is optional']],
    [({ body }) => delete form(body).schema.properties.photo.format,
      ['breaking: createPet body.photo: format binary was removed']],
  ]);
  const free = edited(({ body }) => delete form(body).encoding, before);
  t.strictSame(report(free, before), [`breaking: ${of('image/png, image/gif was added')}`]);
});

t.test("`diff` reports no change if a schema's $ref becomes an allOf with only this $ref", async (t) => {
  const wrapped: Edit = ({ body: { content } }) => {
    content['application/json'].schema = { allOf: [content['application/json'].schema] };
  };
  t.strictSame(report(SOURCE, edited(wrapped)), []);
});

t.test('`diff` compares an undeclared required field by the additionalProperties of its object', async (t) => {
  const of = (properties: Json, additionalProperties: Json) =>
    edited(({ NewPet }) => Object.assign(NewPet, { properties, required: ['name'], additionalProperties }));
  const worst = (before: string, after: string) =>
    report(before, after).filter((line) => line.startsWith('breaking') && line.includes('body.name'));
  t.strictSame(
    worst(of({ name: TEXT }, false), of({}, false)),
    ['breaking: createPet body.name: may no longer be there'],
    'a field that the schema no longer allows breaks requests',
  );
  t.match(worst(of({ name: { type: 'integer' } }, TEXT), of({}, TEXT)), [/type changed from integer to string$/]);
  t.strictSame(
    worst(of({}, TEXT), of({ name: TEXT }, TEXT)),
    [],
    'a field declared like additionalProperties allows the same values',
  );
});

t.test('setting an x-sunset that has passed breaks clients, because the operation ends immediately', async (t) => {
  const until = (date: string) =>
    edited(({ listPets }) => Object.assign(listPets, { deprecated: true, 'x-sunset': date }));
  const ends = `breaking: listPets: ends at once: its x-sunset, ${TODAY}, has passed`;
  t.ok(report(SOURCE, until(TODAY)).includes(ends));
  t.ok(report(until('2026-12-01'), until(TODAY)).includes(ends));
  t.notMatch(report(SOURCE, until('2026-11-21')).join('\n'), 'breaking');
  t.strictSame(report(until(TODAY), until(TODAY)), [], 'the operation had ended before the change');
});

t.test('removing allowReserved or the JSON content of a parameter breaks clients', async (t) => {
  const before = edited(({ status, after }) => {
    status.content = { 'application/json': { schema: status.schema } };
    delete status.schema;
    after.allowReserved = true;
  });
  judgesEach(t, before, [
    [
      ({ status }) => (status.content['application/json'].example = 'sold'),
      ['documentation: listPets query.status: example changed'],
    ],
    [({ after }) => delete after.allowReserved, ['breaking: listPets query.after: is no longer allowReserved']],
    [
      ({ status }) => {
        status.schema = status.content['application/json'].schema;
        delete status.content;
      },
      'breaking: listPets query.status: is no longer written as content',
    ],
  ]);
});

t.test('a new status breaks clients if its reply contradicts the 4xx reply that covered it', async (t) => {
  const byClass = edited(({ getPet: { responses } }) => {
    rename(responses, '404', '4xx');
    delete responses.default;
  });
  judgesEach(t, byClass, [
    [({ getPet: { responses } }) => (responses['409'] = responses['4xx']), ['compatible: getPet 409: was added']],
    [
      ({ getPet: { responses } }) => (responses['409'] = { content: { 'application/json': { schema: TEXT } } }),
      'breaking: getPet 409 body: type changed from object to string',
    ],
  ]);
});

t.test('removing a value of a variable in a server URL breaks clients, and adding a value does not', async (t) => {
  const before = edited(({ contract }) =>
    contract.servers.push({
      url: 'https://{region}.example/v1',
      variables: { region: { default: 'a', enum: ['a', 'b'] } },
    }),
  );
  const region = 'server https://{region}.example: variable region: enum';
  judgesEach(t, before, [
    [({ contract }) => contract.servers.at(-1).variables.region.enum.push('c'), [`compatible: ${region} gained c`]],
    [({ contract }) => contract.servers.at(-1).variables.region.enum.pop(), [`breaking: ${region} lost b`]],
  ]);
});

t.test("changing the default of a variable in a server's path breaks clients, as it changes the prefix", async (t) => {
  const before = edited(({ contract }) => {
    contract.servers = [{ url: '/{version}/', variables: { version: { default: 'v1' } } }];
  });
  judgesEach(t, before, [
    [
      ({ contract }) => (contract.servers[0].variables.version.default = 'v2'),
      [
        'breaking: servers: path prefix changed from /v1 to /v2',
        'breaking: server of this document: variable version: default changed from v1 to v2',
      ],
    ],
  ]);
});

t.test('`diff` ignores changes of comments, layout and key order', async (t) => {
  t.strictSame(report(SOURCE, `# A comment.\n${SOURCE}`), []);
  const same = edited(() => {});
  t.strictSame(report(SOURCE, same), []);
});

t.test('`diff` calls a rearranged contract with the same meaning a change of documentation', async (t) => {
  const rearranged: Edit[] = [
    // As the interface describes a pet: the fields of a new pet, plus an identifier.
    ({ schemas, Pet }) => {
      const { id, ...fields } = Pet.properties;
      schemas.PetFields = { type: 'object', required: ['name', 'categoryId'], properties: fields };
      schemas.Pet = {
        description: Pet.description,
        allOf: [{ $ref: '#/components/schemas/PetFields' }, { required: ['id'], properties: { id } }],
      };
    },
    ({ headers, created }) => {
      headers.Location = created.headers.Location;
      created.headers.Location = { $ref: '#/components/headers/Location' };
    },
    ({ created }) => rename(created.headers, 'Location', 'location'),
    ({ PetStatus }) => PetStatus.enum.reverse(),
    ({ listPets }) => listPets.parameters.reverse(),
    ({ PetName }) => Object.assign(PetName, { uniqueItems: false }),
    ({ PetStatus }) => Object.assign(PetStatus, { minLength: 0 }),
  ];
  for (const edit of rearranged) {
    t.strictSame(report(SOURCE, edited(edit)), ['documentation: contract: is arranged in another way']);
  }
});

t.test('`diff` ignores the order of tags and of alternative security requirements', async (t) => {
  const twofold = edited(({ listPets }) => {
    listPets.tags = ['pets', 'lists'];
    listPets.security = [{ bearerAuth: [] }, { partnerKey: [] }];
  });
  const reversed = edited(({ listPets: { tags, security } }) => {
    tags.reverse();
    security.reverse();
  }, twofold);
  t.strictSame(report(twofold, reversed), ['documentation: contract: is arranged in another way']);
});

t.test('adding an error status to an operation without a default reply breaks no clients', async (t) => {
  const strict = edited(({ getPet }) => delete getPet.responses.default);
  const more = edited(({ getPet, responses }) => (getPet.responses['413'] = responses.PayloadTooLarge), strict);
  t.strictSame(report(strict, more), ['compatible: getPet 413: was added']);
});

t.test('`diff` finds a change in a recursive schema, and does not loop forever', async (t) => {
  const family = edited(({ Pet }) => {
    Pet.properties.parents = { type: 'array', items: { $ref: '#/components/schemas/Pet' } };
  });
  t.strictSame(report(family, family), []);
  const cut = edited(({ Pet }) => Pet.required.pop(), family);
  t.ok(report(family, cut).includes('breaking: getPet 200 body.categoryId: is no longer required'));
});

t.test('`diff` compares a newly declared field with the additionalProperties that covered it before', async (t) => {
  const map = edited(({ Pet, NewPet }) => {
    for (const { properties } of [Pet, NewPet])
      properties.map = { type: 'object', additionalProperties: { minLength: 2 } };
  });
  const toB =
    (b: Json): Edit =>
    ({ Pet, NewPet }) => {
      for (const { properties } of [Pet, NewPet]) properties.map.properties = { b };
    };
  judgesEach(t, map, [
    [toB({ minLength: 1 }), 'breaking: getPet 200 body.map.b: minLength changed from 2 to 1'],
    [toB({ minLength: 1 }), 'compatible: createPet body.map.b: minLength changed from 2 to 1'],
    [toB({ minLength: 3 }), 'breaking: createPet body.map.b: minLength changed from 2 to 3'],
    [toB({ minLength: 3 }), 'compatible: getPet 200 body.map.b: minLength changed from 2 to 3'],
  ]);
});

/** Moves `unevaluatedProperties` into the list of `allOf`, where it does not see the fields of the other schemas. */
const blind = ({ allOf, unevaluatedProperties }: Json) => ({ allOf: [...allOf, { unevaluatedProperties }] });

t.test('`diff` compares each schema of an allOf, anyOf or oneOf with its counterpart before the change', async (t) => {
  const parted = edited(({ NewPet, Pet, schemas }) => {
    schemas.Never = false;
    schemas.Twice = {
      allOf: [{ minLength: 1 }, { minLength: 2 }, { properties: { a: TEXT } }, { properties: { a: { minLength: 5 } } }],
    };
    Object.assign(NewPet.properties, {
      any: { anyOf: [TEXT, { type: 'integer', maximum: 9 }] },
      all: { allOf: [{ ...TEXT, minLength: 1 }, { minLength: 2 }] },
      named: { allOf: [{ patternProperties: { a: TEXT } }, { patternProperties: { b: TEXT } }] },
      twice: { $ref: '#/components/schemas/Twice', allOf: [{ minLength: 3 }, { minLength: 4 }] },
      unique: { type: 'array', items: TEXT, uniqueItems: true },
      never: { $ref: '#/components/schemas/Never' },
      neverEither: { allOf: [TEXT, false] },
      seeing: { allOf: [{ properties: { a: TEXT } }], unevaluatedProperties: false },
      seeingAll: { allOf: [{ unevaluatedProperties: true }], unevaluatedProperties: TEXT },
      seeingIn: { properties: { in: { properties: { a: TEXT }, unevaluatedProperties: false } } },
    });
    Object.assign(Pet.properties, {
      some: { allOf: [{ additionalProperties: false, properties: { a: TEXT } }, { properties: { b: TEXT } }] },
      more: { allOf: [{ unevaluatedProperties: false, properties: { a: TEXT } }, { properties: { b: TEXT } }] },
    });
  });
  // biome-ignore format: a table
  const cases: [edit: Edit, reported: string][] = [
    [({ NewPet: { properties } }) => properties.any.anyOf.reverse(),
      'documentation: contract: is arranged in another way'],
    [({ NewPet: { properties } }) => properties.any.anyOf.pop(),
      'breaking: createPet body.any: anyOf lost {"type":"integer","maximum":9}'],
    [({ NewPet: { properties } }) => properties.any.anyOf.push({ const: 0 }),
      'compatible: createPet body.any: anyOf gained {"const":0}'],
    [({ NewPet: { properties } }) => (properties.any.anyOf[1].maximum = 8),
      'breaking: createPet body.any: a part of anyOf: maximum changed from 9 to 8'],
    [({ NewPet: { properties } }) => (properties.any = true),
      'compatible: createPet body.any: anyOf [{"type":"string"},{"type":"integer","maximum":9}] was removed'],
    [({ NewPet: { properties } }) => (properties.any = false), 'breaking: createPet body.any: may no longer be there'],
    [({ NewPet: { properties } }) => (properties.any.not = TEXT),
      'breaking: createPet body.any: not {"type":"string"} was added'],
    [({ NewPet: { properties } }) => (properties.all.anyOf = [TEXT]),
      'breaking: createPet body.all: anyOf [{"type":"string"}] was added'],
    [({ NewPet: { properties } }) => properties.twice.allOf.pop(),
      'compatible: createPet body.twice: allOf lost {"minLength":4}'],
    [({ schemas }) => delete schemas.Twice.allOf[3].properties.a.minLength,
      'compatible: createPet body.twice.a: minLength 5 was removed'],
    [({ NewPet: { properties } }) => delete properties.unique.uniqueItems,
      'compatible: createPet body.unique: is no longer uniqueItems'],
    [({ NewPet: { properties } }) => (properties.twice.uniqueItems = true),
      'breaking: createPet body.twice: became uniqueItems'],
    [({ NewPet: { properties } }) => delete properties.unique.items,
      'compatible: createPet body.unique[]: type string was removed'],
    [({ NewPet: { properties } }) => properties.all.allOf.pop(),
      'compatible: createPet body.all: allOf lost {"minLength":2}'],
    [({ NewPet: { properties } }) => (properties.all.allOf[1].minLength = 3),
      'breaking: createPet body.all: a part of allOf: minLength changed from 2 to 3'],
    [({ NewPet: { properties } }) => (properties.named.allOf[0].patternProperties.a = { maxLength: 9 }),
      'breaking: createPet body.named: a part of allOf: ' +
      'patternProperties changed from {"a":{"type":"string"}} to {"a":{"maxLength":9}}'],
    [({ schemas }) => (schemas.Never = TEXT), 'compatible: createPet body.never: may be there now'],
    [({ NewPet: { properties } }) => properties.neverEither.allOf.pop(),
      'compatible: createPet body.neverEither: may be there now'],
    [({ NewPet: { properties } }) => (properties.seeing = blind(properties.seeing)),
      'breaking: createPet body.seeing.a: was removed'],
    [({ NewPet: { properties } }) => (properties.seeingAll = blind(properties.seeingAll)),
      'breaking: createPet body.seeingAll: allOf gained {"unevaluatedProperties":{"type":"string"}}'],
    [({ NewPet: { properties } }) =>
      (properties.seeingIn = { allOf: [
        { properties: { in: { properties: { a: TEXT } } } }, { properties: { in: { unevaluatedProperties: false } } },
      ] }), 'breaking: createPet body.seeingIn.in.a: was removed'],
    [({ Pet: { properties } }) => delete properties.some.allOf[0].properties.a,
      'breaking: getPet 200 body.some: a part of allOf.a: was removed'],
    [({ Pet: { properties } }) => (properties.more.allOf[0].unevaluatedProperties = TEXT),
      'breaking: getPet 200 body.more: a part of allOf: any other field: may be there now'],
  ];
  judgesEach(t, parted, cases);
});

/** Compares a contract with edited copies. The expected report of each edit is all lines, or one of the lines. */
function judgesEach(t: Test, before: string, cases: [edit: Edit, reported: string | string[]][]): void {
  for (const [edit, reported] of cases) {
    const changes = report(before, edited(edit, before));
    if (Array.isArray(reported)) t.strictSame(changes, reported);
    else t.ok(changes.includes(reported), reported, { changes });
  }
}

t.test('`diff` ignores read-only fields in requests and write-only fields in replies', async (t) => {
  const marked = edited(({ NewPet, Pet }) => {
    Object.assign(NewPet.properties, { made: { ...TEXT, readOnly: true }, note: TEXT });
    NewPet.properties.open = { properties: { made: { ...TEXT, readOnly: true } } };
    Object.assign(Pet.properties, { secret: { ...TEXT, writeOnly: true }, note: TEXT });
    NewPet.required.push('made');
  });
  // biome-ignore format: a table
  judgesEach(t, marked, [
    [({ NewPet: { properties } }) => (properties.note.readOnly = true), ['breaking: createPet body.note: was removed']],
    [({ NewPet: { properties } }) => delete properties.made.readOnly,
      ['breaking: createPet body.made: was added, and is required']],
    [({ NewPet }) => { delete NewPet.properties.made.readOnly; NewPet.required.pop(); },
      ['compatible: createPet body.made: was added, and is optional']],
    [({ NewPet: { properties } }) => (properties.made.maxLength = 9),
      ['documentation: contract: is arranged in another way']],
    [({ NewPet: { properties } }) => (properties.other = { ...TEXT, readOnly: true }),
      ['documentation: contract: is arranged in another way']],
    [({ NewPet: { properties: { open } } }) => delete open.properties.made.readOnly,
      ['compatible: createPet body.open.made: may be there now']],
    [({ NewPet: { properties: { open } } }) => (open.properties.other = { ...TEXT, readOnly: true }),
      ['breaking: createPet body.open.other: was added']],
    [({ Pet: { properties } }) => (properties.note.writeOnly = true), 'breaking: getPet 200 body.note: was removed'],
    [({ Pet: { properties } }) => delete properties.secret.writeOnly, 'compatible: getPet 200 body.secret: was added'],
    [({ Pet: { properties } }) => (properties.note.readOnly = true),
      'documentation: getPet 200 body.note: became readOnly'],
    [({ NewPet: { properties } }) => (properties.note.writeOnly = true),
      ['documentation: createPet body.note: became writeOnly']],
  ]);
  const identified = edited(({ Pet }) => (Pet.properties.id.readOnly = true));
  t.strictSame(reportOfStoredPets(identified), []);
  const stricter = edited(({ Pet }) => Object.assign(Pet.properties.id, { readOnly: true, maximum: 9 }));
  t.match(reportOfStoredPets(stricter), ['stored pets.id: maximum 9 was added']);
});

t.test("`diff` compares the schemas that a discriminator's values select, not the text of its mapping", async (t) => {
  const part = (name: string) => `#/components/schemas/${name}`;
  const chosen = edited(({ NewPet, Pet, schemas }) => {
    const fields = { properties: { kind: TEXT } };
    const toys = [{ $ref: part('Ball') }, { $ref: part('Kit') }];
    const inner = { oneOf: toys, discriminator: { propertyName: 'kind' } };
    Object.assign(schemas, { Ball: { ...fields, type: 'object' }, Kit: { properties: { kind: TEXT, inner } } });
    schemas.Toy = { oneOf: toys, discriminator: { propertyName: 'kind', mapping: { kit: part('Kit') } } };
    NewPet.properties.toy = Pet.properties.toy = { $ref: part('Toy') };
    const tagged = (tag: object) => ({ properties: { kind: tag }, required: ['kind'] });
    NewPet.properties.tagged = { anyOf: [tagged({ const: 'a' }), tagged({ enum: ['b', 'c'] })] };
    NewPet.properties.inline = {
      anyOf: [{ properties: { kind: { const: 'a' } } }, { properties: { kind: { const: 'b' } } }],
      discriminator: { propertyName: 'kind' },
    };
  });
  const KIT = '{"propertyName":"kind","chosen":{"Ball":"Ball","kit":"Kit"}}';
  const changed = (to: string) => `discriminator changed from ${KIT} to {"propertyName":"kind","chosen":${to}}`;
  // biome-ignore format: a table
  judgesEach(t, chosen, [
    [({ schemas }) => delete schemas.Toy.discriminator, `breaking: createPet body.toy: discriminator ${KIT} was removed`],
    [({ schemas }) => delete schemas.Toy.discriminator, `breaking: getPet 200 body.toy: discriminator ${KIT} was removed`],
    [({ schemas }) => (schemas.Toy.discriminator.propertyName = 'type'),
      `breaking: createPet body.toy: discriminator changed from ${KIT} to {"propertyName":"type","chosen":{"Ball":"Ball","kit":"Kit"}}`],
    [({ schemas }) => (schemas.Toy.discriminator.mapping.set = 'Kit'),
      `compatible: createPet body.toy: ${changed('{"Ball":"Ball","kit":"Kit","set":"Kit"}')}`],
    [({ schemas }) => (schemas.Toy.discriminator.mapping.set = 'Kit'),
      `breaking: getPet 200 body.toy: ${changed('{"Ball":"Ball","kit":"Kit","set":"Kit"}')}`],
    [({ schemas }) => (schemas.Toy.discriminator.mapping = { kit: part('Ball'), Kit: 'Kit' }),
      `breaking: getPet 200 body.toy: ${changed('{"kit":"Ball","Kit":"Kit"}')}`],
    [({ schemas }) => delete schemas.Toy.discriminator.mapping,
      `breaking: createPet body.toy: ${changed('{"Ball":"Ball","Kit":"Kit"}')}`],
    [({ schemas }) => (schemas.Toy.discriminator.mapping.Ball = 'Ball'),
      ['documentation: contract: is arranged in another way']],
    [({ NewPet: { properties } }) => (properties.tagged.discriminator = { propertyName: 'kind' }),
      ['documentation: contract: is arranged in another way']],
    [({ NewPet: { properties } }) => (properties.inline.anyOf[0].properties.kind = { enum: ['a'] }),
      ['documentation: contract: is arranged in another way']],
    [({ NewPet: { properties } }) => (properties.inline.anyOf[1].properties.kind.const = 'c'),
      'breaking: createPet body.inline: discriminator changed from {"propertyName":"kind","chosen":{"a":"","b":""}} ' +
      'to {"propertyName":"kind","chosen":{"a":"","c":""}}'],
    [({ NewPet }) => (NewPet.discriminator = { propertyName: 'kind' }),
      ['documentation: contract: is arranged in another way']],
  ]);
});

t.test(
  'a new limit on undeclared fields, on the values of a field or on the size of a body breaks clients',
  async (t) => {
    const open = edited(({ NewPet, Pet, createPet }) => {
      NewPet.additionalProperties = true;
      Pet.additionalProperties = false;
      delete createPet.requestBody['x-max-bytes'];
    });
    const changes = report(
      open,
      edited(({ NewPet, Pet }) => {
        NewPet.properties.note = Pet.properties.note = TEXT;
      }, open),
    );
    t.ok(changes.includes('breaking: createPet body.note: was added'));
    t.ok(changes.includes('breaking: getPet 200 body.note: was added'));
    t.ok(report(open, SOURCE).includes('breaking: createPet body: any other field: may no longer be there'));
    t.ok(report(open, SOURCE).includes('breaking: createPet body: x-max-bytes 16384 was added'));
  },
);

t.test('`diff` distinguishes two integers that round to the same double', async (t) => {
  const after = SOURCE.replace('value: { id: 1, name: Rex', 'value: { id: 9007199254740993, name: Rex');
  t.strictSame(report(after.replace('9007199254740993', '9007199254740992'), after), [
    'documentation: createPet 201 body: examples changed',
  ]);
});

t.test('`diff` treats a field as an ordinary field even if its name is an OpenAPI keyword (allOf, $ref)', async (t) => {
  const before = edited(({ NewPet }) => {
    for (const name of NAMES) NewPet.properties[name] = { type: 'string', maxLength: 9 };
    NewPet.properties.any = { examples: [{ $ref: '#/nowhere', allOf: 1 }] };
  });
  t.strictSame(
    report(before, before.replaceAll('"maxLength":9', '"maxLength":8')),
    NAMES.map((name) => `breaking: createPet body.${name}: maxLength changed from 9 to 8`),
  );
});

t.test('`diff` compares scopes and schemas with names such as toString or constructor like others', async (t) => {
  const before = edited(({ securitySchemes, NewPet, getPet }) => {
    const flow = { tokenUrl: 'https://pets.example/token', scopes: { read: 'Reads.', toString: 'Writes.' } };
    securitySchemes.login = { type: 'oauth2', flows: { clientCredentials: flow } };
    NewPet.properties.odd = { constructor: 'x' };
    getPet.valueOf = 'x';
    NewPet.properties.whole = { properties: { a: TEXT }, allOf: [{ properties: { toString: TEXT } }] };
  });
  judgesEach(t, before, [
    [
      ({ securitySchemes: { login } }) => delete login.flows.clientCredentials.scopes.toString,
      'breaking: security scheme login flow clientCredentials: scopes changed from ' +
        '{"read":"Reads.","toString":"Writes."} to {"read":"Reads."}',
    ],
    [
      ({ NewPet }) => delete NewPet.properties.odd.constructor,
      'compatible: createPet body.odd: constructor x was removed',
    ],
    [({ getPet }) => delete getPet.valueOf, 'breaking: getPet: valueOf x was removed'],
    [
      ({ NewPet }) => (NewPet.properties.whole.allOf[0].properties.toString = {}),
      'compatible: createPet body.whole.toString: type string was removed',
    ],
  ]);
});

t.test('`diff` reports an added field with the name constructor', async (t) => {
  const after = edited(({ NewPet }) => Object.assign(NewPet.properties, { constructor: TEXT }));
  t.strictSame(report(SOURCE, after), ['compatible: createPet body.constructor: was added, and is optional']);
});

t.test('`diff` fails for a $ref without a target', async (t) => {
  const broken = SOURCE.replace('$ref: "#/components/schemas/Pets"', '$ref: "#/components/schemas/Dogs"');
  t.throws(() => report(SOURCE, broken), {
    message: 'The contract has nothing at #/components/schemas/Dogs.',
  });
});

t.test('`diff` requires a version number that fits the changes since the newest release', async (t) => {
  const describe: Edit = ({ contract }) => Object.assign(contract.info, { description: 'New.' });
  const extend: Edit = ({ Pet }) => Object.assign(Pet.properties, { note: TEXT });
  const cut: Edit = ({ Pet }) => delete Pet.properties.status;
  const move = withPrefix('/v2');
  const cases: [version: string, edits: Edit[], problems: string[]][] = [
    ['1.9.0', [], []],
    ['1.9.1', [], []],
    ['1.8.0', [], ['info.version 1.8.0 is lower than 1.9.0, which is released.']],
    ['1.9.0', [describe], ['After 1.9.0, changes of the documentation need the version 1.9.1, not 1.9.0.']],
    ['1.9.1', [describe], []],
    ['1.9.1', [extend], ['After 1.9.0, compatible changes need the version 1.10.0, not 1.9.1.']],
    ['1.10.0', [extend, describe], []],
    [
      '1.10.0',
      [cut],
      [
        'After 1.9.0, breaking changes need the version 2.0.0, not 1.10.0.',
        'After 1.9.0, breaking changes need the path prefix /v2 in servers, not /v1.',
      ],
    ],
    ['2.0.0', [cut], ['After 1.9.0, breaking changes need the path prefix /v2 in servers, not /v1.']],
    ['1.10.0', [cut, move], ['After 1.9.0, breaking changes need the version 2.0.0, not 1.10.0.']],
    ['2.0.0', [cut, move], []],
    ['2.0', [], ['info.version must be three numbers, as in 1.2.3, not 2.0.']],
    ['2.0.0-rc.1', [], ['info.version must be three numbers, as in 1.2.3, not 2.0.0-rc.1.']],
  ];
  for (const [version, edits, problems] of cases) {
    const contract = edited((parts) => {
      parts.contract.info.version = version;
      for (const edit of edits) edit(parts);
    });
    const folder = t.testdir({
      'petstore.yaml': contract,
      released: { '1.9.0.yaml': SOURCE, '1.8.0.yaml': 'none', '1.10.yaml': 'none', 'README.md': '' },
    });
    const judgement = await judgeContract(`${folder}/petstore.yaml`, `${folder}/released`, domain);
    t.equal(judgement.released, '1.9.0');
    t.strictSame(judgement.problems, problems, `${version} with ${edits.length} edits`);
  }
});

t.test('a new major version needs no new path prefix if the prefix does not contain the version', async (t) => {
  const inShop = withPrefix('/shop');
  const broken = edited((parts) => {
    inShop(parts);
    parts.contract.info.version = '2.0.0';
    delete parts.Pet.properties.status;
  });
  const folder = t.testdir({ 'petstore.yaml': broken, released: { '1.0.0.yaml': edited(inShop) } });
  const { changes, problems } = await judgeContract(`${folder}/petstore.yaml`, `${folder}/released`, domain);
  t.ok(changes.some(({ effect }) => effect.verdict === 'breaking'));
  t.strictSame(problems, []);
});

/** Runs a command of contract-first with these files. */
const MAIN = 'src/contract-first/cli/main.ts';

function run(command: string, ...files: string[]) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [...NODE_ARGS, MAIN, command, ...files], {
    cwd: fileURLToPath(new URL('../../..', import.meta.url)),
    encoding: 'utf8',
  });
  return { status, stdout, stderr };
}

t.test(
  'if the version is too low, `contract:diff` fails and prints each change once with all its positions',
  async (t) => {
    const contract = edited(({ contract, PetStatus, listPets }) => {
      contract.info.version = '1.1.0';
      PetStatus.enum.pop();
      listPets.summary = 'Animals';
    });
    const folder = t.testdir({ 'petstore.yaml': contract, released: { '1.0.0.yaml': SOURCE } });
    const { status, stdout } = run('diff', `${folder}/petstore.yaml`, `${folder}/released`);
    t.equal(status, 1);
    t.equal(
      stdout,
      `Version 1.1.0, compared with the released 1.0.0:

Breaking:
  listPets query.status
  createPet body.status
      enum lost sold. Requests that were fine may be refused now.

Compatible:
  listPets 200 body[].status
  createPet 201 body.status
  getPet 200 body.status
      enum lost sold. Clients work as before.

Compatible (documentation):
  listPets
      summary changed. Only people read it.

Stored data is affected (a start with records that do not fit refuses, and counts them):
  stored pets.status
      enum lost sold

Refused:
  After 1.0.0, breaking changes need the version 2.0.0, not 1.1.0.
  After 1.0.0, breaking changes need the path prefix /v2 in servers, not /v1.
`,
    );
  },
);

t.test('`contract:diff` succeeds if the version fits, and without arguments reads the own contract', async (t) => {
  const longer = edited(({ contract, limit }) => {
    contract.info.version = '1.1.0';
    limit.schema.maximum = 200;
  });
  const folder = t.testdir({ 'petstore.yaml': longer, released: { '1.0.0.yaml': SOURCE }, empty: {} });
  const judge = (released: string) => judgeContract(`${folder}/petstore.yaml`, `${folder}/${released}`, domain);
  t.match(
    renderComparison(await judgeContract(`${folder}/released/1.0.0.yaml`, `${folder}/released`, domain)),
    /^ {2}no change\.$/m,
  );
  const fitting = await judge('released');
  t.strictSame(fitting.problems, []);
  t.match(renderComparison(fitting), /^Compatible:\n {2}listPets query.limit\n {6}maximum changed from 100 to 200\./m);
  t.match(renderComparison(fitting), /It may be released as 1\.1\.0\.$/m);
  t.match(renderComparison(await judge('empty')), /Nothing is released yet/);
  t.match(renderComparison(await judgeContract(...filesToCompare([]), domain)), /compared with the released/);
});

t.test('`contract:diff` prints one line for a file that is empty or not YAML', async (t) => {
  const folder = t.testdir({ 'empty.yaml': '', 'broken.yaml': 'info: [', released: {} });
  t.match(run('diff', `${folder}/empty.yaml`), {
    status: 1,
    stderr: /^[^\n]*empty\.yaml is not a contract: .*\n$/,
  });
  await t.rejects(
    judgeContract(`${folder}/broken.yaml`, `${folder}/released`, domain),
    /broken\.yaml:1:8: Flow sequence/,
  );
});

t.test('`contract:release` saves the contract byte for byte, and saves each version only once', async (t) => {
  const folder = t.testdir({ 'petstore.yaml': SOURCE, released: {} });
  const files = [`${folder}/petstore.yaml`, `${folder}/released`];
  t.match(run('release', ...files), { status: 0, stdout: /^Released: .*\/1\.0\.0\.yaml$/m });
  t.equal(readFileSync(`${folder}/released/1.0.0.yaml`, 'utf8'), SOURCE);
  t.match(run('release', ...files), { status: 1, stderr: /^1\.0\.0 is released already/ });
});

t.test('`contract:release` writes a changelog with the changes of each release, the newest first', async (t) => {
  const folder = t.testdir({ 'petstore.yaml': SOURCE, released: {} });
  const releaseIt = () => release(`${folder}/petstore.yaml`, `${folder}/released`);
  await releaseIt();
  const longer = edited(({ contract, limit, listPets }) => {
    contract.info.version = '1.1.0';
    limit.schema.maximum = 200;
    const name = 'a\n\n## 9.9.9';
    listPets.parameters.push({ ...limit, name });
  });
  writeFileSync(`${folder}/petstore.yaml`, longer);
  await releaseIt();
  t.equal(
    readFileSync(`${folder}/CHANGELOG.md`, 'utf8'),
    `# Changes of the contract

Written by \`contract-first release\`, the newest first.

## 1.1.0

- compatible: listPets query.limit: maximum changed from 100 to 200
- compatible: listPets query.a\\u{a}\\u{a}## 9.9.9: was added, and is optional

## 1.0.0

The first release.
`,
  );
});

t.test('`contract:release` rejects an invalid or breaking contract, but ignores rules of style', async (t) => {
  const invalid = edited(({ contract, PetName }) => {
    contract.info.version = '1.0.1';
    PetName.example = 7;
  });
  const unstyled = edited(({ contract, Pet }) => {
    contract.info.version = '1.0.1';
    delete Pet.description;
  });
  const breaking = edited(({ contract, limit }) => {
    contract.info.version = '1.1.0';
    limit.schema.maximum = 50;
  });
  const folder = t.testdir({
    'invalid.yaml': invalid,
    'unstyled.yaml': unstyled,
    'redocly.yaml': 'rules: { contract-first/descriptions: error }',
    'breaking.yaml': breaking,
    released: { '1.0.0.yaml': SOURCE },
  });
  const releaseOf = (file: string) => release(`${folder}/${file}`, `${folder}/released`);
  await t.rejects(releaseOf('invalid.yaml'), /does not fit its schema/);
  await t.rejects(releaseOf('breaking.yaml'), /breaking changes need the version 2\.0\.0, not 1\.1\.0/);
  t.strictSame(readdirSync(`${folder}/released`), ['1.0.0.yaml']);
  t.match(await releaseOf('unstyled.yaml'), /1\.0\.1\.yaml$/);
});
