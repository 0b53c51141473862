import t from 'tap';
import { buildChecks } from '../../../src/contract-first/engine/schema/checks.ts';
import type { Json } from '../../any-json.ts';

const check = (schema: Json) => {
  const problemsOf = buildChecks({ isJudged: true })(schema, { name: 'body', at: '/body' }, t.fail);
  return (value: unknown) => problemsOf(value)?.map(String);
};

t.test('fields named by a pattern are checked beside alternatives that have seen none', async (t) => {
  const named = { type: 'object', patternProperties: { '^[ab]$': { maxProperties: 0 } } };
  const several = [{ additionalProperties: { type: 'string' } }, { minProperties: 2 }];
  for (const beside of [{ oneOf: several }, { anyOf: several }, { oneOf: several, unevaluatedProperties: false }]) {
    const problemsOf = check({ ...named, ...beside });
    t.equal(problemsOf({ a: {}, b: {} }), undefined);
    t.strictSame(problemsOf({ a: { d: 1 }, b: {} }), ['body.a must have at most 0 fields']);
  }
});

t.test('fields that only an alternative names which does not fit are unevaluated', async (t) => {
  const anyOf = [{ maxProperties: 0, patternProperties: { '^a$': {} } }, { minProperties: 1 }];
  t.strictSame(check({ anyOf, unevaluatedProperties: { type: 'string' } })({ a: null }), [
    'body.a must be of type string',
  ]);
  t.equal(check({ anyOf, unevaluatedProperties: { type: 'string' } })({ a: '' }), undefined);
});

t.test('a field whose name every object inherits is unevaluated like any other', (t) => {
  const allOf = [{ properties: { a: {} } }, { anyOf: [{ minProperties: 1 }] }];
  for (const name of ['constructor', '__proto__', 'toString', 'b'])
    t.strictSame(check({ allOf, unevaluatedProperties: false })(JSON.parse(`{"a":1,"${name}":{}}`)), [
      `body.${name} is not a known field`,
    ]);
  t.end();
});

t.test('what an `if` has seen is unevaluated in its `then`: only keywords beside it count', (t) => {
  // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
  const problemsOf = check({ if: { additionalProperties: true }, then: { unevaluatedProperties: { type: 'string' } } });
  t.strictSame(problemsOf({ a: {} }), ['body.a must be of type string']);
  t.equal(problemsOf({ a: '' }), undefined);
  t.end();
});

t.test('what an `if` has seen that does not fit is unevaluated', (t) => {
  const seen = [{ properties: { a: { type: 'string' } } }, { patternProperties: { '^a$': { type: 'string' } } }];
  for (const part of seen) {
    const problemsOf = check({ if: part, else: { maxProperties: 1 }, unevaluatedProperties: false });
    t.strictSame(problemsOf({ a: null }), ['body.a is not a known field']);
    t.equal(problemsOf({ a: '' }), undefined);
    t.equal(problemsOf({}), undefined);
  }
  t.end();
});

t.test('what an `if` has seen that fits counts, whatever stands beside it', (t) => {
  const seen = { if: { required: ['a'], properties: { a: {} } }, unevaluatedProperties: false };
  // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
  for (const beside of [{}, { then: true }, { then: {}, else: {} }, { then: { description: 'All.' } }]) {
    const problemsOf = check({ ...seen, ...beside });
    t.equal(problemsOf({ a: 1 }), undefined);
    t.strictSame(problemsOf({ b: 1 }), ['body.b is not a known field']);
  }
  // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
  t.strictSame(check({ ...seen, then: false })({ a: 1 }), ['body boolean schema is false']);
  t.end();
});
