/** Writes values of plain schemas quickly: objects, arrays and scalars of one type each. */
import fastJson, { type AnySchema } from 'fast-json-stringify';
import type { Keywords, Schema } from './json.ts';
import { SUBSCHEMA_KEYWORDS } from './subschemas.ts';

const SCALARS = ['string', 'integer', 'number', 'boolean', 'null'];
const PLAIN = ['properties', 'items', 'additionalProperties'];

/** Undefined if the schema has what fast-json-stringify does not support, such as a bigint in one of several alternatives. */
export function buildWritePlain(schema: Schema): ((value: unknown) => string) | undefined {
  const plain = toPlain(schema);
  let write: ((value: unknown) => string) | undefined;
  const writeFirst = (value: unknown) => {
    write ??= fastJson(plain as AnySchema);
    return write(value);
  };
  return plain && writeFirst;
}

/** Keeps only the types: fast-json-stringify would fill in defaults, too. */
function toPlain(schema: Schema): Keywords | undefined {
  if (typeof schema !== 'object' || schema === null) return undefined;
  if (SUBSCHEMA_KEYWORDS.some((keyword) => keyword in schema && !PLAIN.includes(keyword))) return undefined;
  const { type, items = false, properties, required, additionalProperties = false } = schema;
  if (SCALARS.includes(type as string)) return { type };
  if (type === 'array') {
    const plain = toPlain(items);
    return plain && { type, items: plain };
  }
  if (type !== 'object' || !properties || additionalProperties) return undefined;
  const fields = Object.entries(properties).flatMap(([name, field]) => {
    const plain = toPlain(field);
    return plain ? [[name, plain] as const] : [];
  });
  if (fields.length < Object.keys(properties).length) return undefined;
  return { type, required, properties: Object.fromEntries(fields) };
}
