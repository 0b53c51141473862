/**
 * Generates pairs of schemas of which one is sometimes a subset of the other, and values that are valid for some of
 * them.
 */
import fc from 'fast-check';
import type { Json } from '../../any-json.ts';

const NAMES = ['a', 'b', 'c'];

/** These schemas are so small that many pairs of them are related. */
function schemas(depth: number): fc.Arbitrary<Json> {
  const field = depth === 0 ? fc.constantFrom<Json>(true, {}, false) : fc.oneof(fc.constant(true), schemas(depth - 1));
  const parts = fc.array(field, { minLength: 1, maxLength: 2 });
  const small = fc.nat({ max: 2 });
  const keywords: Record<string, fc.Arbitrary<Json>> = {
    type: fc.constantFrom(
      'object',
      'array',
      'string',
      'integer',
      'number',
      ['integer', 'string'],
      ['string', 'null'],
      'null',
      'boolean',
    ),
    properties: fc.dictionary(fc.constantFrom(...NAMES), field, { minKeys: 1, maxKeys: 2 }),
    required: fc.subarray(NAMES),
    additionalProperties: fc.oneof(fc.constant(false), field),
    patternProperties: fc.dictionary(fc.constantFrom('^a', '.'), field, { maxKeys: 1 }),
    enum: fc.subarray(['x', 'xx', 0, 1], { minLength: 1 }),
    const: fc.constantFrom('x', 0, null),
    ...{ items: field, prefixItems: parts, contains: field, minContains: small, unevaluatedProperties: field },
    ...{ allOf: parts, anyOf: parts, oneOf: parts, not: field, if: field, propertyNames: field },
    // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
    then: field,
    else: field,
    maxContains: small,
    dependentRequired: fc.dictionary(fc.constantFrom(...NAMES), fc.subarray(NAMES), { maxKeys: 2 }),
    dependentSchemas: fc.dictionary(fc.constantFrom(...NAMES), field, { maxKeys: 2 }),
    ...{ minimum: small, maximum: small, minLength: small, maxLength: small, minItems: small, maxItems: small },
    ...{ exclusiveMinimum: small, exclusiveMaximum: small, minProperties: small, maxProperties: small },
    ...{ multipleOf: fc.constantFrom(0.5, 1, 2), uniqueItems: fc.boolean(), pattern: fc.constantFrom('x', '^xx$') },
  };
  return fc
    .subarray(Object.keys(keywords), { minLength: 1, maxLength: 3 })
    .chain((names) => fc.record(Object.fromEntries(names.map((name) => [name, keywords[name] as fc.Arbitrary<Json>]))));
}

export const { value } = fc.letrec<{ value: Json }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 2 },
    fc.constantFrom('', 'x', 'xx', 0, 1, 2, 0.5, null),
    fc.array(tie('value'), { maxLength: 2 }),
    fc.dictionary(fc.constantFrom(...NAMES), tie('value'), { maxKeys: 3 }),
  ),
}));
/** Two schemas that have much in common: both are made of parts of the same schemas, merged or in `allOf`. */
export const pair = fc.array(schemas(1), { minLength: 2, maxLength: 3 }).chain((parts) => {
  const some = fc.shuffledSubarray(parts, { minLength: 1 });
  const whole = fc.oneof(
    some.map((chosen) => Object.assign({}, ...chosen)),
    some.map((chosen) => ({ allOf: chosen })),
    some.map(([first, ...others]) => ({ ...first, allOf: others })),
  );
  return fc.tuple(whole, whole);
});

/** Puts a schema into another one, at places where keywords depend on each other. */
const WITHIN: ((schema: Json, other: Json) => Json)[] = [
  (schema, other) => ({ ...other, unevaluatedProperties: schema }),
  (schema, other) => ({ ...other, ...schema }),
  (schema, other) => ({ anyOf: [schema, other], unevaluatedProperties: false }),
  (schema, other) => ({ anyOf: [{ ...schema, unevaluatedProperties: false }, other] }),
  (schema, other) => ({ ...other, items: schema }),
  (schema, other) => ({ ...other, not: schema }),
  (schema, other) => ({ ...other, if: schema }),
  // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
  (schema, other) => ({ if: { required: ['a'] }, then: other, else: schema }),
  (schema, other) => ({ ...other, contains: schema }),
  (schema, other) => ({ ...other, prefixItems: [schema] }),
  (schema, other) => ({ ...other, dependentSchemas: { a: schema } }),
  (schema, other) => ({ ...other, additionalProperties: schema }),
  (schema, other) => ({ ...other, patternProperties: { '^a': schema } }),
  (schema, other) => ({ ...other, allOf: [{ ...schema, additionalProperties: false }] }),
  (schema, other) => ({ ...other, anyOf: [schema, other] }),
  (schema, other) => ({ oneOf: [other, schema] }),
  (schema, other) => ({ ...other, oneOf: [schema, { type: 'string' }] }),
];

/** An edit deep inside a schema. */
export const edit = fc
  .tuple(pair, pair, fc.constantFrom(...WITHIN), fc.constantFrom(...WITHIN))
  .map(([[before, after], [inner, outer], first, second]) => {
    const whole = (schema: Json) => second(first(schema, inner), outer);
    return [whole(before), whole(after)] as const;
  });

/** An alternative or a part that is added to a schema, or removed from it. */
export const growth = fc
  .tuple(pair, pair, fc.constantFrom('anyOf', 'oneOf', 'allOf'), fc.boolean())
  .map(([[one], [first, beside], keyword, isAdded]) => {
    const [fewer, more] = [[first], [first, one]].map((parts) => ({ ...beside, [keyword]: parts }));
    return isAdded ? ([fewer, more] as const) : ([more, fewer] as const);
  });
