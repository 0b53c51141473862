/** What a value breaks, in words. */
import { Ajv2020 } from 'ajv/dist/2020.js';
import t from 'tap';
import { toProblems } from '../../../src/engine/schema/problems.ts';

t.test('each keyword that a value breaks is told in words', (t) => {
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
