/** Where a schema refers to itself, a reference stays: to replace it would never end. */
import type { Json } from './json.ts';

const targets = new WeakMap<object, () => Json>();

/** A schema that only refers to another, which may not be known yet. ajv finds its target by this name. */
export function toRecursion(name: string, target: () => Json): Json {
  const schema = { $ref: `contract:${name.replace(/^(contract:|#)/, '')}` };
  targets.set(schema, target);
  return schema;
}

export const isRecursion = (schema: Json): boolean => targets.has(schema);

/** What such a schema refers to; undefined for any other schema. */
export const targetOf = (schema: Json): Json | undefined => targets.get(schema)?.();
