/** Which fields a part of a schema has seen, for `unevaluatedProperties`: those of alternatives that do not fit do not count. */
import { _, type CodeKeywordDefinition, type KeywordCxt, type Name } from 'ajv/dist/2020.js';
import type { Keywords } from './json.ts';

/** Keywords whose schemas are about the same value. */
const PARTS = ['allOf', 'anyOf', 'oneOf', 'if', 'dependentSchemas'];

/**
 * ajv notes the fields in a variable. Where a schema has none yet, it takes over that of its first part, which may not fit, or never have
 * been tried: then fields count that do not, or the check throws. So a schema with parts begins with a variable of its own, which
 * inherits no `constructor`.
 */
export const seenFields: CodeKeywordDefinition = {
  keyword: 'seenFields',
  before: 'not',
  code: ({ gen, it }) => {
    it.props = gen.var('props', _`Object.create(null)`);
  },
};

export function withSeenFields(schema: Keywords): Keywords {
  return PARTS.some((keyword) => keyword in schema) ? { ...schema, seenFields: true } : schema;
}

/** ajv leaves out an `if` without a branch that says something, and with it what it has seen: `not: false` says as little as can be said. */
export function withBranch(schema: Keywords): Keywords {
  if (!('if' in schema) || schema.then === false) return schema;
  // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
  return { ...schema, then: { not: false, ...Object(schema.then) } };
}

/** ajv counts what `if` has seen, fits it or not. `definition` is that of `if`. */
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
