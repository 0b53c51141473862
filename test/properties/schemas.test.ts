/**
 * Compares the server's checks of random values and random schemas with another validator, which shares no code with
 * ajv.
 */
import { Validator } from '@cfworker/json-schema';
import fc, { type Arbitrary } from 'fast-check';
import t from 'tap';
import { buildResolve } from '../../src/contract-first/contract/read/references.ts';
import { buildChecks } from '../../src/contract-first/engine/schema/checks.ts';
import { parseExactJson } from '../../src/contract-first/json/exact-json.ts';
import type { Json } from '../any-json.ts';

const { RUNS = '50', SEED = Date.now() % 2 ** 31 } = process.env;

const NAMES = ['a', 'b', 'c', '1'];
const REF = { $ref: '#/components/schemas/Node' };
const small = fc.nat(3);
const text = fc.constantFrom('', 'a', 'b', 'ab', 'aab', '😀');
const scalar = fc.oneof(fc.constantFrom(null, true, false, 0, 1, -1, 1.5, 1e21), text);

const { value } = fc.letrec<{ value: Json }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    scalar,
    fc.array(tie('value'), { maxLength: 4 }),
    fc.array(fc.tuple(fc.constantFrom(...NAMES), tie('value')), { maxLength: 3 }).map(toObject),
  ),
}));

function toObject(fields: [string, Json][]): Json {
  return JSON.parse(
    `{${[...new Map(fields)].map(([name, inside]) => `${JSON.stringify(name)}:${JSON.stringify(inside)}`)}}`,
  );
}

/**
 * Generates schemas. With `isInside`, the schema describes something inside a value, and may therefore refer to itself.
 */
function schemas(depth: number, isInside: boolean): Arbitrary<Json> {
  const least: Arbitrary<Json>[] = [
    fc.boolean(),
    fc.constantFrom('string', 'integer', 'array', 'object').map((type) => ({ type })),
  ];
  if (isInside) least.push(fc.constant(REF));
  if (depth === 0) return fc.oneof(...least);
  const same = schemas(depth - 1, false);
  const inner = schemas(depth - 1, true);
  const byName = fc.array(fc.tuple(fc.constantFrom(...NAMES), inner), { maxLength: 3 }).map(toObject);
  const several = fc.array(same, { minLength: 1, maxLength: 3 });
  const keywords = fc.record(
    {
      type: fc.constantFrom('string', 'number', 'array', 'object', ['array', 'object'], ['string', 'null']),
      enum: fc.uniqueArray(value, { minLength: 1, maxLength: 3, selector: (one) => JSON.stringify(one) }),
      const: value,
      minimum: small,
      exclusiveMaximum: small,
      maxLength: small,
      minLength: small,
      pattern: fc.constantFrom('^a', 'b$', '^(ab?)+$'),
      maxItems: small,
      minItems: small,
      uniqueItems: fc.boolean(),
      items: inner,
      contains: inner,
      maxProperties: small,
      minProperties: small,
      required: fc.uniqueArray(fc.constantFrom(...NAMES), { maxLength: 2 }),
      properties: byName,
      patternProperties: inner.map((schema) => ({ '^[ab]$': schema })),
      additionalProperties: inner,
      unevaluatedProperties: inner,
      propertyNames: fc.constantFrom({ maxLength: 1 }, { pattern: 'a', maxLength: 3 }, true),
      dependentSchemas: same.map((schema) => ({ a: schema })),
      allOf: several,
      anyOf: several,
      oneOf: several,
      not: same,
      if: same,
      // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
      then: same,
      else: same,
    },
    { requiredKeys: [] },
  );
  // Schemas get only a few keywords at a time, because hardly any value would fit all of them.
  const few = fc
    .tuple(keywords, fc.array(fc.nat(28), { minLength: 1, maxLength: 5 }))
    .map(([schema, chosen]) => Object.fromEntries(Object.entries(schema).filter((_, index) => chosen.includes(index))))
    .filter(isKnownToBoth);
  return fc.oneof({ arbitrary: few, weight: 5 }, ...least);
}

/**
 * False for schemas on which the other validator is wrong: it lets `then` and `else` see the fields that `if` has
 * evaluated. By JSON Schema (2020-12 Core, section 11.3), only keywords next to `unevaluatedProperties` count, and the
 * schemas that they apply.
 */
function isKnownToBoth({ then: one, else: other }: { then?: Json; else?: Json }): boolean {
  return !JSON.stringify([one, other]).includes('unevaluatedProperties');
}

t.test('the server accepts a value exactly if an independent JSON Schema validator accepts it', async (t) => {
  let compared = 0;
  let fitting = 0;
  const cases = fc.record({
    schema: schemas(2, true),
    node: schemas(2, false),
    values: fc.array(value, { minLength: 5, maxLength: 10 }),
  });
  const property = fc.property(cases, ({ schema, node, values }) => {
    const components = { schemas: { Node: node } };
    const root = typeof schema === 'boolean' ? { allOf: [schema] } : schema;
    const problems: string[] = [];
    const document = { components, schema: root };
    const resolved = buildResolve(document)({ schema: root }, () => {}).schema;
    const check = buildChecks({ isJudged: true })(resolved, { name: 'value' }, (problem) => problems.push(problem));
    if (problems.length > 0) return;
    const other = new Validator({ ...root, components }, '2020-12');
    for (const one of values) {
      const json = JSON.stringify(one);
      const found = check(parseExactJson(json));
      const isFit = other.validate(JSON.parse(json)).valid;
      compared++;
      if (isFit) fitting++;
      if (isFit !== (found === undefined)) throw new Error(`${json}: the other ${isFit}, ours ${found?.join('; ')}`);
    }
  });
  const details = fc.check(property, { numRuns: Number(RUNS), seed: Number(SEED) });
  t.notOk(details.failed, fc.defaultReportMessage(details) ?? '');
  t.ok(compared > Number(RUNS) && fitting > compared / 10, `SEED=${SEED}: ${compared} values, ${fitting} of them fit`);
});
