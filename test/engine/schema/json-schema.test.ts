/**
 * JSON Schema in OpenAPI 3.1. Each test adds an operation to the contract, which answers with the body that it
 * received.
 */
import t from 'tap';
import { type Json, startEcho } from '../routes/echo.ts';

const INT64 = { type: 'integer', format: 'int64' };
const LARGE = '9007199254740993';

t.test("keywords next to the $ref of a parameter's schema take effect", async (t) => {
  const q = { $ref: '#/components/schemas/Limit', default: 30, maximum: 50 };
  const { send, given } = await startEcho(t, { q });
  await send('1');
  await send('1', '?q=50');
  t.strictSame(
    given.map(({ query }) => query.q),
    [30, 50],
  );
  t.equal(await send('1', '?q=51'), 'query.q must be at most 50');
  t.equal(await send('1', '?q=1.5'), 'query.q must be of type integer');
});

t.test('the default of a 64-bit parameter is a bigint, like its other values', async (t) => {
  const { send, given } = await startEcho(t, { q: { $ref: '#/components/schemas/Least', default: 12 } });
  await send('1');
  await send('1', '?q=13');
  t.strictSame(
    given.map(({ query }) => query.q),
    [12n, 13n],
  );
});

t.test('keywords next to a $ref do not relax the referenced schema', async (t) => {
  const { send, given } = await startEcho(t, { q: { $ref: '#/components/schemas/Limit', maximum: 500, minimum: 5 } });
  await send('1');
  t.equal(given[0]?.query.q, 20);
  t.equal(await send('1', '?q=101'), 'query.q must be at most 100');
  t.equal(await send('1', '?q=4'), 'query.q must be at least 5');
});

t.test("keywords next to the $ref of a body's schema take effect", async (t) => {
  const name = { $ref: '#/components/schemas/PetName', default: 'Rex', maxLength: 3 };
  const status = { $ref: '#/components/schemas/PetStatus', default: 'sold' };
  const pet = { $ref: '#/components/schemas/NewPet', required: ['status'] };
  const { send } = await startEcho(t, { body: { type: 'object', properties: { name, status, pet } } });
  t.equal(await send('{}'), '{"name":"Rex","status":"sold"}');
  t.equal(await send('{"name":"Rexx"}'), 'body.name must have at most 3 characters');
  t.equal(await send('{"name":""}'), 'body.name must have at least 1 characters');
  t.equal(await send('{"pet":{"name":"Mia","categoryId":7}}'), 'body.pet.status is missing');
  t.equal(
    await send('{"pet":{"name":"Mia","categoryId":7,"status":"sold","age":1}}'),
    'body.pet.age is not a known field',
  );
});

t.test('bounds of 64-bit integers are checked to the last digit, anywhere in a schema', async (t) => {
  const schemas: [name: string, schema: Json, problem: string][] = [
    ['beside a reference', { $ref: '#/components/schemas/Least', maximum: 1000 }, 'body.n must be at most 1000'],
    ['in allOf', { allOf: [INT64, { type: 'integer', maximum: 1000 }] }, 'body.n must be at most 1000'],
    // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
    ['in then', { ...INT64, if: { minimum: 10 }, then: { maximum: 1000 } }, 'body.n must be at most 1000'],
    [
      'in else',
      { ...INT64, if: { exclusiveMaximum: 10 }, else: { exclusiveMaximum: 1000 } },
      'body.n must be less than 1000',
    ],
    ['in anyOf', { ...INT64, anyOf: [{ maximum: 1000 }] }, 'body.n must be at most 1000'],
  ];
  for (const [name, schema, problem] of schemas) {
    const { send, given } = await startEcho(t, { body: { type: 'object', properties: { n: schema } }, reply: {} });
    t.match(await send(`{"n":${LARGE}}`), problem, name);
    t.match(await send('{"n":1001}'), problem, name);
    await send('{"n":999}');
    t.equal(given[0]?.body.n, 999n, name);
  }
});

t.test('a bound of a field also applies if it is in a `then` of the schema around the field', async (t) => {
  const body = {
    type: 'object',
    properties: { kind: { type: 'string' }, n: INT64 },
    if: { properties: { kind: { const: 'small' } } },
    // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
    then: { properties: { n: { maximum: 1000 } } },
  };
  const { send } = await startEcho(t, { body });
  t.match(await send(`{"kind":"small","n":${LARGE}}`), 'body.n must be at most 1000');
  t.equal(await send(`{"kind":"large","n":${LARGE}}`), `{"kind":"large","n":${LARGE}}`);
});

t.test('the bound of a 64-bit integer may be a fraction', async (t) => {
  const { send } = await startEcho(t, { body: { ...INT64, minimum: 2.5 } });
  t.equal(await send('2'), 'body must be at least 2.5');
  t.equal(await send('3'), '3');
});

t.test('one alternative of a oneOf or anyOf may be a 64-bit integer, in requests and replies', async (t) => {
  const sizes = { oneOf: [INT64, { type: 'string', enum: ['small', 'large'] }] };
  const shapes = {
    anyOf: [
      { type: 'object', required: ['id'], properties: { id: INT64 } },
      { type: 'object', required: ['ids'], properties: { ids: { type: 'array', items: INT64 } } },
    ],
  };
  const counts = { type: 'object', additionalProperties: INT64, properties: { name: { type: 'string' } } };
  const pair = { type: 'array', prefixItems: [{ type: 'string' }, INT64], minItems: 2, items: false };
  const { send, given } = await startEcho(t, { body: { type: 'object', properties: { sizes, shapes, counts, pair } } });
  for (const text of [
    `{"sizes":${LARGE}}`,
    '{"sizes":"small"}',
    `{"shapes":{"id":${LARGE}}}`,
    `{"shapes":{"ids":[1,${LARGE}]}}`,
    `{"counts":{"name":"Rex","a":1,"b":-${LARGE}}}`,
    `{"pair":["a",${LARGE}]}`,
  ]) {
    t.equal(await send(text), text);
  }
  t.match(await send('{"sizes":1.5}'), /body\.sizes must be a 64-bit integer/);
  t.match(await send('{"shapes":{"id":"1"}}'), /body\.shapes\.id must be a 64-bit integer/);
  await send('{"sizes":1}');
  t.equal(given.at(-1)?.body.sizes, 1n);
});

t.test('a 64-bit integer may be declared as nullable, in requests and replies', async (t) => {
  const owner = { type: ['integer', 'null'], format: 'int64', maximum: 9007199254740991 };
  const tag = { type: ['string', 'integer', 'null'], format: 'int64', maxLength: 3 };
  const { send, given } = await startEcho(t, { body: { type: 'object', properties: { owner, tag } } });
  for (const text of ['{"owner":null}', '{"owner":7}', '{"tag":"a"}', `{"tag":${LARGE}}`]) {
    t.equal(await send(text), text);
  }
  t.equal(given[1]?.body.owner, 7n);
  t.equal(await send('{"tag":"long"}'), 'body.tag must have at most 3 characters');
  t.equal(await send('{"owner":"7"}'), 'body.owner must be a 64-bit integer or null');
  t.equal(await send(`{"owner":${LARGE}}`), 'body.owner must be at most 9007199254740991');
});

t.test("a handler's answer that fits no alternative of a oneOf is not sent", async (t) => {
  const { send } = await startEcho(t, { reply: { oneOf: [INT64, { type: 'boolean' }] } });
  t.equal(await send(LARGE), LARGE);
  t.match(await send('[1]'), '"internal_error"');
});

t.test(
  'the error for an invalid value names the expected constant, the allowed size or the misspelt property',
  async (t) => {
    const properties = {
      kind: { const: 'pet' },
      map: { type: 'object', maxProperties: 1, minProperties: 1, propertyNames: { maxLength: 2 } },
    };
    const { send } = await startEcho(t, { body: { type: 'object', properties } });
    t.equal(await send('{"kind":"dog"}'), 'body.kind must be pet');
    t.equal(await send('{"map":{"abc":1}}'), 'the name of body.map.abc must have at most 2 characters');
    t.equal(await send('{"map":{"a":1,"b":1}}'), 'body.map must have at most 1 fields');
    t.equal(await send('{"map":{}}'), 'body.map must have at least 1 fields');
  },
);

t.test('if a schema has both const and enum, a value must fit both, even if it is an object or an array', async (t) => {
  const { send } = await startEcho(t, { body: { enum: [[1], [2], null], const: [1] } });
  t.strictSame(await send('[1]'), '[1]');
  for (const other of ['[2]', 'null', '[3]']) t.equal(await send(other), 'body must be one of [1]', other);
});

t.test('one schema may refer to recursive schemas with and without 64-bit integers', async (t) => {
  const body = {
    type: 'object',
    properties: { n: INT64, tree: { $ref: '#/components/schemas/Tree' } },
    additionalProperties: { $ref: '#/components/schemas/Tree' },
  };
  const branches = { type: 'array', items: { $ref: '#/components/schemas/Tree' } };
  const schemas = { Tree: { type: 'object', properties: { branches } } };
  const { send, given } = await startEcho(t, { body, schemas });
  await send(`{"n":${LARGE},"tree":{"branches":[{}]}}`);
  t.equal(given[0]?.body.n, BigInt(LARGE));
});
