/** Corrects ajv's `unevaluatedProperties`: fields of alternatives that do not fit must not count as evaluated. */
import { _, type CodeKeywordDefinition, type KeywordCxt, type Name } from 'ajv/dist/2020.js';
import type { Keywords } from './json.ts';

/** Keywords with schemas that describe the same value. */
const SAME_VALUE_KEYWORDS = ['allOf', 'anyOf', 'oneOf', 'if', 'dependentSchemas'];

/**
 * ajv notes evaluated fields in a variable. A schema without one takes over the variable of its first part, which may not fit, or may not
 * have been tried: then fields count wrongly, or the check throws. So a schema with parts gets its own variable, without a
 * prototype, so that no field `constructor` is found in it.
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

/** ajv skips an `if` without an effective branch, and with it the fields that `if` evaluates. `not: false` is a branch without effect. */
export function withBranch(schema: Keywords): Keywords {
  if (!('if' in schema) || schema.then === false) return schema;
  // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
  return { ...schema, then: { not: false, ...Object(schema.then) } };
}

/** Counts the fields that `if` evaluates only if it fits; ajv counts them always. `definition` is ajv's `if`. */
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
