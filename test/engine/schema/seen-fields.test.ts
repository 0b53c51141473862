import t from 'tap';
import { buildChecks } from '../../../src/contract-first/engine/schema/checks.ts';
import type { Json } from '../../any-json.ts';

const check = (schema: Json) => {
  const problemsOf = buildChecks({ isJudged: true })(schema, { name: 'body', at: '/body' }, (words) => t.fail(words));
  return (value: unknown) => problemsOf(value)?.map(String);
};

t.test('unevaluatedProperties: false also forbids a field named like an inherited JavaScript property', (t) => {
  const allOf = [{ properties: { a: {} } }, { anyOf: [{ minProperties: 1 }] }];
  for (const name of ['constructor', '__proto__', 'toString', 'b'])
    t.strictSame(check({ allOf, unevaluatedProperties: false })(JSON.parse(`{"a":1,"${name}":{}}`)), [
      `body.${name} is not a known field`,
    ]);
  t.end();
});

t.test('unevaluatedProperties in a `then` also checks fields that only the `if` has evaluated', (t) => {
  // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
  const problemsOf = check({ if: { additionalProperties: true }, then: { unevaluatedProperties: { type: 'string' } } });
  t.strictSame(problemsOf({ a: {} }), ['body.a must be of type string']);
  t.equal(problemsOf({ a: '' }), undefined);
  t.end();
});
