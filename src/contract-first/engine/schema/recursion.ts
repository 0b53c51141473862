/** Recursive schemas: where a schema refers to itself, the reference stays, since replacing it would never end. */
import { type Keywords, keywordsOf, type Schema } from './json.ts';

const targets = new WeakMap<object, () => Keywords>();

/** A schema that only refers to another, which may not be resolved yet. */
export function toRecursion(name: string, target: () => Keywords): Keywords {
  const schema = { $ref: `contract:${name.replace(/^(contract:|#)/, '')}` };
  targets.set(schema, target);
  return schema;
}

export const isRecursion = (schema: Schema): boolean => targets.has(keywordsOf(schema));

/** The target of such a reference; undefined for any other schema. */
export const targetOf = (schema: Schema): Keywords | undefined => targets.get(keywordsOf(schema))?.();
