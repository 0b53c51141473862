/**
 * Corrects ajv's `unevaluatedProperties`: the fields of an alternative that the value does not fit must not count as
 * evaluated.
 */
import { _, type CodeKeywordDefinition, type KeywordCxt, type Name } from 'ajv/dist/2020.js';
import type { Keywords } from './json.ts';

/** Keywords with schemas that apply to the same value. */
const SAME_VALUE_KEYWORDS = ['allOf', 'anyOf', 'oneOf', 'if', 'dependentSchemas'];

/**
 * ajv notes evaluated fields in a variable. A schema without its own variable uses that of its first subschema. If that
 * subschema does not fit, or was not tried, then the wrong fields count as evaluated, or the check throws. This keyword
 * gives the schema its own variable. Its object has no prototype, so that a field called `constructor` is not found in
 * it.
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
 * Adds `not: false`, which accepts every value, to `then`. Without an effective branch, ajv would skip the `if`, so the
 * fields that the `if` evaluates would not count.
 */
export function withBranch(schema: Keywords): Keywords {
  if (!('if' in schema) || schema.then === false) return schema;
  // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
  return { ...schema, then: { not: false, ...Object(schema.then) } };
}

/**
 * Changes ajv's `if` (`definition`): the fields that `if` evaluates count only if the value fits it. ajv would always
 * count them.
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
