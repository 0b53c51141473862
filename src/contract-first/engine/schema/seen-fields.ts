/**
 * Corrects ajv's `unevaluatedProperties`: the fields of an alternative that the value does not fit must not count as
 * evaluated.
 */
import { _, type CodeKeywordDefinition, type KeywordCxt, type Name } from 'ajv/dist/2020.js';
import type { Keywords } from './json.ts';

/** Keywords with schemas that apply to the same value. */
const SAME_VALUE_KEYWORDS = ['allOf', 'anyOf', 'oneOf', 'if', 'dependentSchemas'];

/**
 * The keyword `seenFields` gives a schema its own variable for evaluated fields. ajv notes evaluated fields in a
 * variable, and a schema without its own uses the variable of its first subschema. If that subschema does not fit or
 * was not tried, the wrong fields count as evaluated, or the check throws. The variable's object is made without a
 * prototype, so that a field called `constructor` does not count as evaluated.
 */
export const seenFields: CodeKeywordDefinition = {
  keyword: 'seenFields',
  before: 'not',
  code: ({ gen, it }) => {
    it.props = gen.var('props', _`Object.create(null)`);
  },
};

export function withSeenFields(schema: Keywords): Keywords {
  return SAME_VALUE_KEYWORDS.some((keyword) => keyword in schema) ? { ...schema, seenFields: true } : schema;
}

/**
 * Adds `not: false` to `then`; this accepts every value. The addition is needed because ajv skips an `if` without an
 * effective `then` or `else`, and the fields that the `if` evaluates would then not count as evaluated.
 */
export function withBranch(schema: Keywords): Keywords {
  if (!('if' in schema) || schema.then === false) return schema;
  // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
  return { ...schema, then: { not: false, ...Object(schema.then) } };
}

/**
 * Changes ajv's definition of the keyword `if`: fields that the `if` evaluates only count as evaluated if the value
 * fits the `if`. ajv itself would always count them.
 */
export function countWhereIfFits(definition: CodeKeywordDefinition): void {
  const { code } = definition;
  definition.code = (cxt) => {
    const own: KeywordCxt = Object.create(cxt);
    let fits: Name;
    own.subschema = (part, valid) => {
      if (part.keyword === 'if') fits = valid;
      return cxt.subschema(part, valid);
    };
    own.mergeEvaluated = (part) => {
      cxt.mergeValidEvaluated(part, fits);
    };
    code(own);
  };
}
