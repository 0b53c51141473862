import { inspect } from 'node:util';
import { type Schema, Validator } from '@cfworker/json-schema';
import fc from 'fast-check';
import t from 'tap';
import { isSubset } from '../../../src/contract-first/contract/subsets/subsets.ts';
import { toRecursion } from '../../../src/contract-first/engine/schema/subschemas.ts';
import type { Json } from '../../any-json.ts';
import { pair, value } from './schema-pairs.ts';

const text = { type: 'string' };
const pet = { type: 'object', required: ['name'], properties: { name: text }, additionalProperties: false };

t.test('the subset check finds that a schema is a subset of another one with fewer restrictions', async (t) => {
  const within: [inner: Json, outer: Json][] = [
    [text, true],
    [false, text],
    [text, { type: ['string', 'null'], description: 'Any.' }],
    [{ type: 'integer' }, { type: 'number' }],
    [{ enum: ['a'] }, { enum: ['a', 'b'] }],
    [
      { type: 'string', maxLength: 3 },
      { type: 'string', maxLength: 3, minLength: 0 },
    ],
    [
      { type: 'integer', minimum: 2, maximum: 5 },
      { minimum: 0, maximum: 9 },
    ],
    [
      { type: 'array', items: text },
      { type: 'array', items: text, minItems: 0 },
    ],
    [{ type: 'string', minLength: 3 }, { minLength: 2 }],
    [pet, { ...pet, required: [] }],
    [
      { type: 'object', additionalProperties: false },
      { type: 'object', properties: { name: text } },
    ],
    [pet, { ...pet, properties: { ...pet.properties, status: text } }],
    [pet, { allOf: [pet, { type: 'object' }] }],
    [
      { type: 'array', items: pet },
      { type: 'array', items: { ...pet, required: [] } },
    ],
    [
      { type: 'array', items: pet },
      { type: 'array', items: { type: 'object', properties: { id: text } } },
    ],
    [
      { type: 'object', properties: { name: {} } },
      { type: 'object', properties: { name: {}, id: {} } },
    ],
  ];
  for (const [inner, outer] of within) t.equal(isSubset(inner, outer), true, JSON.stringify([inner, outer]));
});

t.test('the subset check never accepts a schema that allows a value that the other schema rejects', async (t) => {
  const others: [inner: Json, outer: Json][] = [
    [text, false],
    [true, text],
    [{}, text],
    [text, { enum: ['a'] }],
    [{ enum: ['a', 'b'] }, { enum: ['a'] }],
    [text, { type: 'string', maxLength: 3 }],
    [{ type: 'integer' }, { type: 'integer', minimum: 0 }],
    [text, { type: 'string', pattern: 'a' }],
    [{ type: 'array' }, { type: 'array', items: text }],
    [
      { type: 'array', items: text },
      { type: 'array', items: text, maxItems: 1 },
    ],
    [{ ...pet, required: [] }, pet],
    [pet, { ...pet, required: ['name', 'status'] }],
    [pet, { ...pet, properties: {} }],
    [
      { ...pet, additionalProperties: true },
      { ...pet, properties: { ...pet.properties, status: text } },
    ],
    [
      { type: 'array', items: pet },
      { type: 'array', items: { ...pet, properties: { id: text } } },
    ],
  ];
  const closed = { type: 'object', properties: { name: text }, additionalProperties: false };
  const both = { ...pet, properties: { name: text, id: text } };
  const needs = (name: string) => ({ required: [name] });
  // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
  const branch = { if: needs('a'), then: needs('b') };
  others.push(
    // A part without additional fields forbids the fields of another part.
    [both, { allOf: [closed, { properties: { id: text } }] }],
    [{ allOf: [closed, both] }, { additionalProperties: false, properties: {} }],
    [pet, { properties: {}, additionalProperties: { type: 'integer' } }],
    [
      { ...pet, properties: { constructor: text } },
      { properties: {}, additionalProperties: { type: 'integer' } },
    ],
    // Keywords whose meaning depends on the keywords beside them.
    [{ items: text, prefixItems: [{}] }, { items: text }],
    [{ allOf: [{ if: needs('a') }, { ...branch, if: needs('c') }] }, branch],
    [{ contains: text, minContains: 0 }, { contains: text }],
    [both, { ...both, unevaluatedProperties: false, properties: { name: text } }],
  );
  for (const [inner, outer] of others) t.equal(isSubset(inner, outer), false, JSON.stringify([inner, outer]));
});

t.test(
  'the subset check finds that no value fits two schemas with disjoint types, enums or required fields',
  async (t) => {
    const kind = (field: Json) => ({ type: 'object', required: ['kind'], properties: { kind: field } });
    const none = { type: 'object', additionalProperties: false };
    const cases: [isApart: boolean, one: Json, other: Json][] = [
      [true, text, { type: 'integer' }],
      [true, { enum: ['a', 'b'] }, { const: 'c' }],
      [true, kind({ const: 'a' }), kind({ enum: ['b'] })],
      [true, kind({ const: 'a' }), { ...kind({ const: 'b' }), required: [] }],
      [true, { ...none, required: [] }, kind({})],
      [false, { const: 1 }, { const: 1n }],
      [false, { ...kind({ const: 'a' }), required: [] }, { ...kind({ const: 'b' }), required: [] }],
      [
        false,
        { ...kind({ const: 'a' }), type: ['object', 'null'] },
        { ...kind({ const: 'b' }), type: ['object', 'null'] },
      ],
      [false, kind({ const: 'a' }), kind({})],
      [false, {}, text],
    ];
    for (const [isApart, one, other] of cases) t.equal(isSubset(one, { not: other }), isApart, inspect([one, other]));
  },
);

t.test('the subset check takes linear time for required fields that are nested in each other', async (t) => {
  const depths = Array.from({ length: 40 });
  const nest = (inner: Json) =>
    depths.reduce<Json>((field) => ({ type: 'object', required: ['a'], properties: { a: field } }), inner);
  t.equal(isSubset(nest(text), { not: nest(text) }), false);
  t.equal(isSubset(nest(text), { not: nest({ type: 'integer' }) }), true);
});

t.test('the subset check treats recursive schemas with the same $ref target as one schema', async (t) => {
  const unlike = (name: string, target: Json) => ({ ...pet, not: toRecursion(name, () => target) });
  const target = { required: ['a'] };
  t.equal(isSubset(unlike('One', target), unlike('Other', target)), true);
  t.equal(isSubset(unlike('One', target), unlike('One', { ...target })), false);
});

const LISTED = [[1], 'a', 1.5, 2n, null];

t.test('the subset check finds that two spellings of a schema, such as enum and const, are equal', async (t) => {
  const whole = { type: 'integer' };
  const same: [one: Json, other: Json][] = [
    [{ type: ['string', 'null'], maxLength: 3 }, { anyOf: [{ type: 'string', maxLength: 3 }, { type: 'null' }] }],
    [{ type: ['string', 'null'] }, { oneOf: [text, { const: null }] }],
    [
      { ...whole, minimum: 1, maximum: 9 },
      { ...whole, exclusiveMinimum: 0, exclusiveMaximum: 10 },
    ],
    [
      { ...whole, minimum: 2n ** 60n },
      { ...whole, exclusiveMinimum: 2n ** 60n - 1n },
    ],
    [{ const: 'a' }, { enum: ['a'] }],
    [{ enum: LISTED }, { enum: LISTED, type: ['array', 'string', 'number', 'null'] }],
    [{}, { items: {}, minItems: 0, additionalProperties: true, uniqueItems: false, propertyNames: {} }],
    [whole, { ...whole, multipleOf: 1 }],
    [{ anyOf: [text, whole] }, { anyOf: [whole, text] }],
  ];
  for (const [one, other] of same) {
    t.equal(isSubset(one, other), true, inspect([one, other]));
    t.equal(isSubset(other, one), true, inspect([other, one]));
  }
});

t.test('the subset check compares if, then and else together, and contains with its bounds', async (t) => {
  const short = { maxLength: 3 };
  const longer = { maxLength: 4 };
  const needs = (...required: string[]) => ({ required });
  const when = (then: Json, otherwise: Json = true) => ({ if: needs('a'), then, else: otherwise });
  const object = { type: 'object', additionalProperties: false };
  const fits: [inner: Json, outer: Json][] = [
    [when(short), when(longer)],
    [when(true, short), when(true, longer)],
    [short, when(longer)],
    // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
    [{}, { then: short }],
    [{ dependentRequired: { a: ['b', 'c'] } }, { dependentRequired: { a: ['c'] } }],
    [{ dependentSchemas: { a: needs('b') } }, { dependentRequired: { a: ['b'] } }],
    [when(needs('b')), { dependentRequired: { a: ['b'] } }],
    [{ dependentRequired: { a: ['b', 'c'] } }, when(needs('b'))],
    [{ not: {} }, false],
    [needs('b'), { dependentSchemas: { a: needs('b') } }],
    [{ contains: short, minContains: 2 }, { contains: longer }],
    [{}, { contains: short, minContains: 0 }],
    [{}, { minContains: 2, maxContains: 3 }],
    [
      { contains: longer, maxContains: 1 },
      { contains: short, minContains: 0, maxContains: 2 },
    ],
    [{ prefixItems: [short], items: short }, { items: longer }],
    [{ prefixItems: [short, {}] }, { prefixItems: [longer] }],
    [{ items: short }, { prefixItems: [longer], items: longer }],
    [{ maxItems: 1 }, { prefixItems: [{}, short], items: false }],
    [{ patternProperties: { '^a': short } }, { patternProperties: { '^a': longer } }],
    [{ ...object, properties: { '-': short } }, { patternProperties: { '[\\w-.]': longer } }],
    [
      { ...object, properties: { ab: short } },
      { ...object, patternProperties: { '^a': longer } },
    ],
    [{ patternProperties: { '^a': short }, additionalProperties: short }, { properties: { a: longer, b: longer } }],
    [{ ...object, patternProperties: { '^a': short } }, { additionalProperties: longer }],
    [needs('a', 'b'), { minProperties: 2 }],
    [{ enum: ['a', 'b'] }, { oneOf: [{ const: 'a' }, { const: 'b' }] }],
    [
      { enum: ['ab', 'abc', null], type: 'string' },
      { minLength: 2, maxLength: 3, pattern: '^a', type: 'string' },
    ],
    [{ enum: [2, 3] }, { minimum: 2, maximum: 3 }],
  ];
  for (const [inner, outer] of fits) t.equal(isSubset(inner, outer), true, inspect([inner, outer], { depth: 9 }));
  const others: [inner: Json, outer: Json][] = [
    [when(longer), when(short)],
    [{ ...when(short), if: needs('b') }, when(short)],
    [{ dependentRequired: { a: ['b'] } }, { dependentRequired: { b: ['a'] } }],
    [when(needs('b')), { dependentRequired: { b: ['a'] } }],
    [{ ...when(needs('b')), if: needs('a', 'c') }, { dependentRequired: { a: ['b'] } }],
    [{ dependentRequired: { b: ['c'] } }, when(needs('c'))],
    [{ dependentSchemas: { a: short } }, when(short)],
    [{ contains: longer }, { contains: short }],
    [{ contains: short }, { contains: short, minContains: 2 }],
    [{}, { contains: short, maxContains: 1, minContains: 0 }],
    [
      { contains: short, maxContains: 2 },
      { contains: longer, minContains: 0, maxContains: 2 },
    ],
    [{ prefixItems: [{}], items: short }, { items: longer }],
    [{ allOf: [{ prefixItems: [{}] }, { prefixItems: [{}, {}], items: false }] }, { prefixItems: [{}], items: false }],
    [{ allOf: [{ patternProperties: { '^a': {} } }, { ...object, patternProperties: { '^b': {} } }] }, object],
    [{ allOf: [{ contains: short }, { contains: longer, minContains: 2 }] }, { contains: short, minContains: 2 }],
    [{ patternProperties: { '^a': {} } }, { additionalProperties: short }],
    [{ enum: ['ab', 'a'] }, { minLength: 2 }],
    [{ enum: ['ab', 'b'] }, { pattern: '^a' }],
    [{ enum: [2, 'a'] }, { maximum: 1 }],
  ];
  for (const [inner, outer] of others) t.equal(isSubset(inner, outer), false, inspect([inner, outer], { depth: 9 }));
});

t.test('the subset check does not compare alternatives alone if unevaluatedProperties depends on them', async (t) => {
  const has = (name: string) => ({ type: 'object', properties: { [name]: text }, required: [name] });
  const list = (...prefixItems: Json[]) => ({ type: 'array', prefixItems });
  const cases: [parts: Json[], forbids: Json][] = [
    [[has('a'), has('b')], { unevaluatedProperties: false }],
    [[list(text), list({}, text)], { unevaluatedItems: false }],
  ];
  for (const [parts, forbids] of cases) {
    const each = parts.map((part: Json) => ({ ...part, ...forbids }));
    const kept = { type: parts[0].type, properties: {}, required: [] };
    t.equal(isSubset({ anyOf: parts, ...forbids }, { anyOf: each }), false);
    t.equal(isSubset({ allOf: [{ anyOf: parts, ...forbids }, kept] }, { ...parts[0], ...forbids }), false);
    t.equal(isSubset({ anyOf: each }, { anyOf: each.toReversed() }), true);
  }
});

t.test('the subset check draws no conclusion from an invalid or slow regular expression', async (t) => {
  const long = 'a'.repeat(40);
  const closed = { type: 'object', additionalProperties: false };
  const named = { ...closed, properties: { [long]: text } };
  for (const pattern of ['(', '^(a+)+$', `${'a*'.repeat(20)}b`, '(a?){40}!']) {
    t.equal(isSubset({ const: long }, { pattern }), false, pattern);
    t.equal(isSubset(named, { patternProperties: { [pattern]: { type: 'integer' } } }), false, pattern);
    t.equal(isSubset(named, { patternProperties: { [pattern]: {} }, additionalProperties: false }), false, pattern);
    const patterned = { patternProperties: { [pattern]: {} }, additionalProperties: text };
    t.equal(isSubset(patterned, { properties: { [long]: text } }), false, pattern);
  }
  const names = ['GET', 'POST', 'PUT', 'DELETE', 'PATCH', 'HEAD', 'OPTIONS'];
  const fitting: [one: string, pattern: string][] = [
    ...names.map((one): [string, string] => [one, `^(${names.join('|')})$`]),
    ['long-haired', '^[a-z]+-[a-z]+$'],
    ['a-b-c', '^[a-z]+(-[a-z]+)*$'],
    ['2026-11-20', '^\\d{4}-\\d{2}-\\d{2}$'],
    [long, '^[(+*?)]*a+$'],
  ];
  for (const [one, pattern] of fitting) t.equal(isSubset({ const: one }, { pattern }), true, pattern);
});

t.test(
  'the subset check applies all patternProperties that match a field, and knows the field names of a closed object',
  async (t) => {
    const named = { properties: { ab: text }, patternProperties: { '^a': { minLength: 3 }, b$: { maxLength: 5 } } };
    t.equal(isSubset(named, { properties: { ab: { type: 'string', minLength: 3, maxLength: 5 } } }), true);
    const closed = { type: 'object', additionalProperties: false, properties: { ab: {}, a: {} } };
    t.equal(isSubset(closed, { propertyNames: { maxLength: 2 } }), true);
    t.equal(isSubset(closed, { propertyNames: { maxLength: 1 } }), false);
    t.equal(isSubset({ ...closed, patternProperties: { b: {} } }, { propertyNames: { maxLength: 2 } }), false);
  },
);

t.test(
  'the subset check ignores `contains` in schemas of texts, and compares a bigint and a double by value',
  async (t) => {
    t.equal(isSubset(text, { contains: {}, maxContains: 2 }), true);
    t.equal(isSubset(text, { contains: {}, minContains: 2 }), true);
    for (const [one, other] of [
      [10n ** 21n, 1e21],
      [[10n ** 21n], [1e21]],
      [{ a: 1 }, { a: 1n }],
    ]) {
      t.equal(isSubset({ enum: [one] }, { not: { const: other } }), false, inspect(one));
      t.equal(
        isSubset({ enum: [one] }, { not: { type: 'number', const: other } }),
        typeof one === 'object',
        inspect(one),
      );
    }
    t.equal(isSubset({ const: ['1'] }, { not: { const: [1] } }), true);
  },
);

t.test('the subset check keeps a field named __proto__ when it merges the schemas of an allOf', async (t) => {
  const field = (schema: Json) => JSON.parse(`{"properties": {"__proto__": ${JSON.stringify(schema)}}}`);
  t.equal(isSubset({ allOf: [field({ maxLength: 2 }), { minProperties: 1 }] }, field({ maxLength: 3 })), true);
});

t.test(
  'if the subset check calls one random schema a subset of another, all values that fit the first also fit the second',
  async (t) => {
    let known = 0;
    fc.assert(
      fc.property(pair, fc.array(value, { minLength: 10, maxLength: 10 }), ([inner, outer], values) => {
        if (!isSubset(inner, outer)) return true;
        known++;
        const [ofInner, ofOuter] = [inner, outer].map((one) => new Validator(one as Schema, '2020-12', true));
        return values.every((one) => !ofInner?.validate(one).valid || ofOuter?.validate(one).valid);
      }),
      { numRuns: 1000, seed: 1 },
    );
    t.ok(known > 100, `${known} pairs are known`);
  },
);
