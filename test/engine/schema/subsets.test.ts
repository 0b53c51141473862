import { type Schema, Validator } from '@cfworker/json-schema';
import fc from 'fast-check';
import t from 'tap';
import type { Json } from '../../../src/engine/schema/json.ts';
import { toRecursion } from '../../../src/engine/schema/recursion.ts';
import { isWithin } from '../../../src/engine/schema/subsets.ts';

const text = { type: 'string' };
const pet = { type: 'object', required: ['name'], properties: { name: text }, additionalProperties: false };

t.test('what fits one schema is known to fit another where that is plain to see', async (t) => {
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
    [pet, { ...pet, properties: { ...pet.properties, status: text } }],
    [pet, { allOf: [pet, { type: 'object' }] }],
    [
      { type: 'array', items: pet },
      { type: 'array', items: { ...pet, required: [] } },
    ],
  ];
  for (const [inner, outer] of within) t.equal(isWithin(inner, outer), true, JSON.stringify([inner, outer]));
});

t.test('and any other is not', async (t) => {
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
    // A part that is closed forbids what another part has.
    [both, { allOf: [closed, { properties: { id: text } }] }],
    [{ allOf: [closed, both] }, { additionalProperties: false, properties: {} }],
    [pet, { properties: {}, additionalProperties: { type: 'integer' } }],
    [
      { type: 'object', properties: { name: {} } },
      { type: 'object', properties: { name: {}, id: {} } },
    ],
    // Keywords that mean something else beside others.
    [{ items: text, prefixItems: [{}] }, { items: text }],
    [{ allOf: [{ if: needs('a') }, { ...branch, if: needs('c') }] }, branch],
    [{ contains: text, minContains: 0 }, { contains: text }],
    [both, { ...both, unevaluatedProperties: false, properties: { name: text } }],
  );
  for (const [inner, outer] of others) t.equal(isWithin(inner, outer), false, JSON.stringify([inner, outer]));
});

const NAMES = ['a', 'b', 'c'];

/** Small enough that many pairs of them are related. */
function schemas(depth: number): fc.Arbitrary<Json> {
  const field = depth === 0 ? fc.constantFrom<Json>(true, {}, false) : fc.oneof(fc.constant(true), schemas(depth - 1));
  const parts = fc.array(field, { minLength: 1, maxLength: 2 });
  const small = fc.nat({ max: 2 });
  const keywords: Record<string, fc.Arbitrary<Json>> = {
    type: fc.constantFrom('object', 'array', 'string', 'integer', 'number', ['integer', 'string']),
    properties: fc.dictionary(fc.constantFrom(...NAMES), field, { minKeys: 1, maxKeys: 2 }),
    required: fc.subarray(NAMES),
    additionalProperties: fc.oneof(fc.constant(false), field),
    patternProperties: fc.dictionary(fc.constantFrom('^a', '.'), field, { maxKeys: 1 }),
    enum: fc.subarray(['x', 'xx', 0, 1], { minLength: 1 }),
    ...{ items: field, prefixItems: parts, contains: field, minContains: small, unevaluatedProperties: field },
    ...{ allOf: parts, anyOf: parts, not: field, if: field },
    // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
    then: field,
    ...{ minimum: small, maximum: small, minLength: small, maxLength: small, minItems: small, maxItems: small },
  };
  return fc
    .subarray(Object.keys(keywords), { minLength: 1, maxLength: 3 })
    .chain((names) => fc.record(Object.fromEntries(names.map((name) => [name, keywords[name] as fc.Arbitrary<Json>]))));
}

const { value } = fc.letrec<{ value: Json }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 2 },
    fc.constantFrom('', 'x', 'xx', 0, 1, 2, 0.5, null),
    fc.array(tie('value'), { maxLength: 2 }),
    fc.dictionary(fc.constantFrom(...NAMES), tie('value'), { maxKeys: 3 }),
  ),
}));
/** Two schemas that have much in common: parts of the same ones, side by side or in `allOf`. */
const pair = fc.array(schemas(1), { minLength: 2, maxLength: 3 }).chain((parts) => {
  const some = fc.shuffledSubarray(parts, { minLength: 1 });
  const whole = fc.oneof(
    some.map((chosen) => Object.assign({}, ...chosen)),
    some.map((chosen) => ({ allOf: chosen })),
    some.map(([first, ...others]) => ({ ...first, allOf: others })),
  );
  return fc.tuple(whole, whole);
});

t.test('what refers to itself is known by its target, and by no other name', async (t) => {
  const unlike = (name: string, target: Json) => ({ ...pet, not: toRecursion(name, () => target) });
  const target = { required: ['a'] };
  t.equal(isWithin(unlike('One', target), unlike('Other', target)), true);
  t.equal(isWithin(unlike('One', target), unlike('One', { ...target })), false);
});

t.test('what is known to fit is fitted by every value, as another validator sees it', async (t) => {
  let known = 0;
  fc.assert(
    fc.property(pair, fc.array(value, { minLength: 10, maxLength: 10 }), ([inner, outer], values) => {
      if (!isWithin(inner, outer)) return true;
      known++;
      const [ofInner, ofOuter] = [inner, outer].map((one) => new Validator(one as Schema, '2020-12', true));
      return values.every((one) => !ofInner?.validate(one).valid || ofOuter?.validate(one).valid);
    }),
    { numRuns: 1000 },
  );
  t.ok(known > 100, `${known} pairs are known`);
});
