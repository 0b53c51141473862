/**
 * Applies random changes to schemas. If the diff calls a change compatible, another validator must confirm it with
 * random values.
 */
import { type Schema, Validator } from '@cfworker/json-schema';
import fc from 'fast-check';
import t from 'tap';
import { expandContract } from '../../../src/contract-first/cli/diff/expand.ts';
import { compareSchemas } from '../../../src/contract-first/cli/diff/schemas.ts';
import type { Json } from '../../any-json.ts';
import { edit, growth, pair, value } from '../../contract/subsets/schema-pairs.ts';

/** The seed is fixed, so that each run tries the same cases; `RUNS=100000 SEED=7` tries others. */
const { RUNS = '1000', SEED = '1' } = process.env;

const expanded = (schema: Json) => expandContract({ schema }).schema;

t.test(
  'after a change that `diff` does not call breaking, old requests are valid, and new replies fit the old schema',
  async (t) => {
    let fine = 0;
    const values = fc.array(value, { minLength: 10, maxLength: 10 });
    const property = fc.property(
      fc.oneof(pair, edit, growth),
      values,
      fc.constantFrom('request', 'response'),
      ([before, after], sent, direction) => {
        const changes = [...compareSchemas(expanded(before), expanded(after), 'it', direction)];
        if (changes.some(({ effect }) => effect.verdict === 'breaking')) return true;
        fine += Number(changes.length > 0);
        const [inner, outer] = direction === 'request' ? [before, after] : [after, before];
        const [ofInner, ofOuter] = [inner, outer].map((one) => new Validator(one as Schema, '2020-12', true));
        return sent.every((one) => !ofInner?.validate(one).valid || ofOuter?.validate(one).valid);
      },
    );
    fc.assert(property, { numRuns: Number(RUNS), seed: Number(SEED) });
    t.ok(fine > Number(RUNS) / 20, `${fine} changes break nobody`);
  },
);
