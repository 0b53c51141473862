/** Tests the words for each keyword that a value breaks. */
import { Ajv2020 } from 'ajv/dist/2020.js';
import t from 'tap';
import { toProblems } from '../../../src/contract-first/engine/schema/problems.ts';

t.test('the error for an invalid value describes in words the keyword that the value breaks', (t) => {
  for (const [schema, value, words] of [
    [{ enum: [1, null, { a: 1 }] }, 2, 'be one of 1, null, {"a":1}'],
    [{ const: 'a' }, 'b', 'be a'],
    [{ type: 'string' }, 1, 'be of type string'],
    [{ minLength: 1 }, '', 'have at least 1 characters'],
    [{ maxLength: 1 }, 'ab', 'have at most 1 characters'],
    [{ minItems: 1 }, [], 'have at least 1 items'],
    [{ maxItems: 1 }, [1, 2], 'have at most 1 items'],
    [{ minProperties: 1 }, {}, 'have at least 1 fields'],
    [{ maxProperties: 1 }, { a: 1, b: 2 }, 'have at most 1 fields'],
    [{ pattern: '^a$' }, 'b', 'match ^a$'],
    [{ minimum: 1 }, 0, 'be at least 1'],
    [{ maximum: 1 }, 2, 'be at most 1'],
  ] as const) {
    const check = new Ajv2020({ strict: false }).compile(schema);
    check(value);
    t.strictSame(toProblems(check.errors ?? [], '/body').map(String), [`body must ${words}`]);
  }
  t.end();
});

t.test('if an invisible character is the only fault of a text, the error names the character', (t) => {
  const pattern = '^[a-z\n]*$';
  const long = 'a'.repeat(1000);
  for (const [schema, value, problem] of [
    [{ pattern }, 'a\n\0b', 'body must not have the character U+0000'],
    [{ pattern }, '\x7f', 'body must not have the character U+007F'],
    [{ properties: { 'a/b~%': { pattern } } }, { 'a/b~%': '\0' }, 'body.a/b~% must not have the character U+0000'],
    [{ items: { pattern } }, ['a', '\u0085'], 'body.1 must not have the character U+0085'],
    [{ propertyNames: { pattern } }, { '\0': 1 }, 'the name of body.\0 must not have the character U+0000'],
    [{ pattern }, 'A\0', `body must match ${pattern}`],
    [{ pattern }, `\0${long}`, `body must match ${pattern}`],
  ] as const) {
    const check = new Ajv2020({ strict: false, allErrors: true }).compile(schema);
    check(value);
    t.strictSame(toProblems(check.errors ?? [], '/body', value).map(String), [problem]);
  }
  t.end();
});
