/** The time of a check is proportional to the size of its value, for every schema. */
import t from 'tap';
import { buildResolve } from '../../../src/contract-first/contract/read/references.ts';
import { buildChecks, type Check } from '../../../src/contract-first/engine/schema/checks.ts';
import { parseExactJson } from '../../../src/contract-first/json/exact-json.ts';
import type { Json } from '../../any-json.ts';
import { startEcho } from '../routes/echo.ts';

const INT64 = { type: 'integer', format: 'int64' };
const NODE = { $ref: '#/components/schemas/Node' };

/**
 * The processor time in seconds that a check of half a megabyte or more may take. A check with quadratic or exponential
 * time takes far longer.
 */
const BOUND = 4;

function secondsOf(run: () => void): number {
  const before = process.cpuUsage();
  run();
  return process.cpuUsage(before).user / 1e6;
}

function build(schema: Json, schemas: Record<string, Json> = {}): Check {
  const document = { components: { schemas }, schema };
  const problems: string[] = [];
  const refuse = (problem: string) => problems.push(problem);
  const check = buildChecks({ isJudged: true })(
    buildResolve(document)({ schema }, refuse).schema,
    { name: 'value' },
    refuse,
  );
  t.strictSame(problems, []);
  return check;
}

const list = (count: number, item: (index: number) => string) =>
  `[${Array.from({ length: count }, (_, index) => item(index))}]`;
const object = (count: number, value: string) =>
  `{${Array.from({ length: count }, (_, index) => `"field${index}":${value}`)}}`;
const nested = (depth: number, open: string, close: string, inner: string) =>
  open.repeat(depth) + inner + close.repeat(depth);

const LARGE = list(160_000, (index) => String(index));
const OBJECTS = list(23_636, (index) => `{"name":${index},"id":"a","other${index}":1}`);
const PET = {
  type: 'object',
  required: ['kind'],
  properties: { kind: true, name: { type: 'string' }, id: INT64 },
  additionalProperties: false,
};
const TEXT = JSON.stringify('a'.repeat(1_000_000));
const DEEP = nested(60, '{"child":', '}', '{"n":1}');
const WIDE = list(14_000, () => nested(4, '{"child":', '}', '{}'));

/** Cases by name: a schema, a value, and optionally the schema `Node` of `components.schemas`. */
const CASES: Record<string, [schema: Json, value: string, node?: Json]> = {
  'uniqueItems of int64': [{ type: 'array', items: INT64, uniqueItems: true }, LARGE],
  'uniqueItems beyond maxItems': [{ type: 'array', items: INT64, uniqueItems: true, maxItems: 10 }, LARGE],
  'uniqueItems of anything': [{ uniqueItems: true }, list(50_000, (index) => `{"a":${index}}`)],
  'uniqueItems at each depth': [
    NODE,
    nested(60, '[', ']', list(50_000, String)),
    { type: 'array', uniqueItems: true, items: { anyOf: [NODE, { type: 'integer' }] } },
  ],
  'contains of int64': [{ type: 'array', contains: { ...INT64, minimum: 1e9 } }, LARGE],
  'contains with a recursive schema': [
    { type: 'array', contains: NODE },
    WIDE,
    { type: 'object', required: ['child', 'none'], properties: { child: NODE, none: true } },
  ],
  'minContains and maxContains': [{ type: 'array', contains: INT64, minContains: 2, maxContains: 1e6 }, LARGE],
  'items that are all invalid': [{ type: 'array', items: PET }, OBJECTS],
  'items with alternatives that are all invalid': [
    { type: 'array', items: { anyOf: [PET, { type: 'string' }] } },
    OBJECTS,
  ],
  'recursive items that are all invalid': [
    { type: 'array', items: NODE },
    WIDE,
    { type: 'object', required: ['name'], properties: { name: true, child: NODE } },
  ],
  prefixItems: [{ prefixItems: [INT64, { type: 'string' }], minItems: 2, items: false }, LARGE],
  unevaluatedItems: [{ anyOf: [{ contains: { const: -1 } }, true], unevaluatedItems: { type: 'string' } }, LARGE],
  'additionalProperties: false': [{ type: 'object', additionalProperties: false }, object(60_000, '1')],
  additionalProperties: [{ type: 'object', additionalProperties: { type: 'string' } }, object(60_000, '1')],
  unevaluatedProperties: [
    { type: 'object', allOf: [{ properties: { a: true } }], unevaluatedProperties: false },
    object(60_000, '1'),
  ],
  patternProperties: [{ type: 'object', patternProperties: { '^field': { type: 'string' } } }, object(60_000, '1')],
  propertyNames: [{ type: 'object', propertyNames: { maxLength: 3 } }, object(60_000, '1')],
  dependentRequired: [{ type: 'object', dependentRequired: { field1: ['field2', 'none'] } }, object(60_000, '1')],
  maxProperties: [{ type: 'object', maxProperties: 3, additionalProperties: { type: 'string' } }, object(60_000, '1')],
  'a pattern beyond maxLength': [
    { type: 'string', maxLength: 20, pattern: '^(a+)+$' },
    JSON.stringify(`${'a'.repeat(40)}!`),
  ],
  'a pattern in allOf, beyond maxLength': [
    { allOf: [{ type: 'string', pattern: '^(a+)+$' }], maxLength: 20 },
    JSON.stringify(`${'a'.repeat(40)}!`),
  ],
  'a pattern of names beyond maxLength': [
    { propertyNames: { maxLength: 20, pattern: '^(a+)+$' } },
    `{"${'a'.repeat(40)}!":1}`,
  ],
  'enum of objects': [{ type: 'array', items: { enum: [{ a: 1 }, { a: 2 }] } }, list(50_000, () => '{"a":1}')],
  'const of a list': [{ const: [1, 2] }, LARGE],
  minLength: [{ type: 'string', minLength: 5 }, TEXT],
  'recursion by allOf': [
    NODE,
    DEEP,
    { type: 'object', properties: { child: NODE }, allOf: [{ properties: { child: NODE } }] },
  ],
  'recursion by if and then': [
    NODE,
    DEEP,
    {
      type: 'object',
      properties: { child: NODE },
      if: { properties: { child: NODE } },
      // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
      then: { properties: { child: NODE } },
    },
  ],
  'recursion by dependentSchemas': [
    NODE,
    DEEP,
    { type: 'object', properties: { child: NODE }, dependentSchemas: { child: { properties: { child: NODE } } } },
  ],
  'recursion by not': [
    NODE,
    DEEP,
    { type: 'object', properties: { child: NODE }, not: { properties: { child: NODE }, required: ['n'] } },
  ],
  'recursion by oneOf': [
    NODE,
    DEEP,
    { type: 'object', properties: { child: { oneOf: [NODE, { allOf: [NODE], required: ['n'] }] } } },
  ],
  'recursion by anyOf, all invalid': [
    NODE,
    DEEP,
    { type: 'object', properties: { n: { type: 'string' }, child: { anyOf: [NODE, { allOf: [NODE] }] } } },
  ],
};

/** Texts that make a regular expression backtrack if they are repeated. */
const UNITS = ['a', '1', '/', '.', ':', 'a@', 'a.', '{a}', '%'];
const FORMATS = [
  ...['date-time', 'date', 'time', 'duration', 'email', 'hostname', 'uri', 'uri-reference', 'uri-template', 'uuid'],
  ...['ipv4', 'ipv6', 'json-pointer', 'byte', 'regex'],
];

t.test('checking the format of a text takes time proportional to the length of the text', async (t) => {
  for (const format of FORMATS) {
    const check = build({ type: 'string', format });
    const seconds = secondsOf(() => {
      for (const unit of UNITS) check(`${unit.repeat(100_000)}\n`);
    });
    t.ok(seconds < BOUND, `${format}: ${seconds} s`);
  }
});

for (const [name, [schema, text, node]] of Object.entries(CASES)) {
  t.test(`checking a value takes time proportional to the size of the value: ${name}`, async (t) => {
    const check = build(schema, node && { Node: node });
    const value = parseExactJson(text);
    let problems: unknown[] = [];
    const seconds = secondsOf(() => {
      problems = check(value) ?? [];
    });
    t.ok(seconds < BOUND, `${seconds} s`);
    t.ok(problems.length <= 21 && JSON.stringify(problems).length < 8000, problems.slice(0, 2).join('; '));
  });
}

t.test('the error reply to a bad request lists at most twenty problems, in at most 8 KB', async (t) => {
  const name = 'n'.repeat(400_000);
  const { send } = await startEcho(t, { body: { type: 'array', items: PET } });
  const message = await send(OBJECTS.slice(0, 900_000).replace(/,[^}]*$/, ']'));
  t.equal(message.split('; ').length, 21);
  t.match(message, /^body\.0\.kind is missing; .*; and more$/);
  for (const text of [
    `[{"kind":1,"${name}":1}]`,
    `[{"${name}":1,"${name}":1}]`,
    list(20, (index) => `{"${'\\u0001'.repeat(3000)}${index}":1}`),
  ]) {
    const message = await send(text);
    t.match(message, /^(body\.|The body )|"malformed_json"/);
    t.ok(JSON.stringify(message).length < 8000);
  }
  t.match(await send(`[{"${name}":1,"kind":1}]`), /^body\.0\.n+ … n+ is not a known field$/);
});

t.test('items of an array with uniqueItems, and values of enum and const, may be objects', async (t) => {
  const place = { type: 'object', properties: { at: { type: 'array' }, kind: true } };
  const { send } = await startEcho(t, {
    body: {
      type: 'object',
      properties: {
        places: { type: 'array', items: place, uniqueItems: true },
        origin: { enum: [{ at: [0, 0] }, 'nowhere', null] },
        end: { const: { at: [1, 2], kind: 'end' } },
        any: { uniqueItems: false },
      },
    },
  });
  for (const text of [
    '{"places":[{"at":[1,2]},{"at":[2,1]},{},{"kind":null},{"kind":{"0":1}},{"kind":[1]},{"kind":"[1]"}]}',
    '{"origin":{"at":[0,0]}}',
    '{"origin":"nowhere"}',
    '{"origin":null}',
    '{"end":{"kind":"end","at":[1,2]}}',
    '{"any":[1,1]}',
  ]) {
    t.equal(await send(text), text);
  }
  t.equal(
    await send('{"places":[{"kind":1,"at":[]},{"at":[],"kind":1.0}]}'),
    'body.places must not have the same item twice',
  );
  const origins = 'body.origin must be one of {"at":[0,0]}, nowhere, null';
  for (const text of [
    '{"at":[0,1]}',
    '{"at":[0]}',
    '{"at":{"0":0,"1":0}}',
    '{"at":[0,0],"more":1}',
    '{"no":[0,0]}',
    '{}',
    '1',
  ]) {
    t.equal(await send(`{"origin":${text}}`), origins);
  }
  t.equal(await send('{"end":null}'), 'body.end must be one of {"at":[1,2],"kind":"end"}');
});
