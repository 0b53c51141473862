/**
 * Writes values as JSON. Values of simple schemas (objects, arrays and scalars of one type each) are written by
 * fast-json-stringify.
 */
import fastJson, { type AnySchema } from 'fast-json-stringify';
import { stringify } from 'lossless-json';
import type { Keywords, Schema } from './json.ts';
import { SUBSCHEMA_KEYWORDS } from './subschemas.ts';

/** Writes a value as JSON, with every field that the schema allows and every digit of a bigint. */
export type WriteJson = (value: unknown) => string;

const SCALARS = ['string', 'integer', 'number', 'boolean', 'null'];
const PLAIN_KEYWORDS = ['properties', 'items', 'additionalProperties'];

export function buildWriteJson(schema: Schema): WriteJson {
  const plain = toPlain(schema);
  if (!plain) return writeAny;
  let write: WriteJson | undefined;
  return (value) => {
    write ??= fastJson(plain as AnySchema);
    try {
      return write(value);
    } catch {
      // fast-json-stringify throws for a bigint in a field that the schema does not name.
      return writeAny(value);
    }
  };
}

const writeAny: WriteJson = (value) => stringify(value) as string;

/**
 * Copies only the types of a schema, because fast-json-stringify would also fill in defaults. Returns undefined if the
 * schema uses keywords that fast-json-stringify does not support, such as several alternatives.
 */
function toPlain(schema: Schema): Keywords | undefined {
  if (typeof schema !== 'object' || schema === null) return undefined;
  if (SUBSCHEMA_KEYWORDS.some((keyword) => keyword in schema && !PLAIN_KEYWORDS.includes(keyword))) return undefined;
  const { type, items = false, properties, required, additionalProperties = true } = schema;
  if (SCALARS.includes(type as string)) return { type };
  if (type === 'array') {
    const plain = toPlain(items);
    return plain && { type, items: plain };
  }
  if (type !== 'object' || !properties || typeof additionalProperties !== 'boolean') return undefined;
  const fields = Object.entries(properties).flatMap(([name, field]) => {
    const plain = toPlain(field);
    return plain ? [[name, plain] as const] : [];
  });
  if (fields.length < Object.keys(properties).length) return undefined;
  return { type, required, properties: Object.fromEntries(fields), additionalProperties };
}

/**
 * Returns a value as JSON would represent it: without fields that JSON omits, and with the results of `toJSON`. A value
 * that JSON represents unchanged is returned itself, without a copy.
 */
export const toWritten = (value: unknown): unknown => (isPlain(value) ? value : toPlainCopy(value));

function isPlain(value: unknown): boolean {
  if (typeof value !== 'object') return value !== undefined && typeof value !== 'function' && typeof value !== 'symbol';
  if (value === null) return true;
  if (Array.isArray(value)) {
    for (const item of value) if (!isPlain(item)) return false;
    return true;
  }
  const prototype = Object.getPrototypeOf(value);
  if ((prototype !== Object.prototype && prototype !== null) || isConvertible(value)) return false;
  for (const name in value) if (!isPlain(value[name as keyof typeof value])) return false;
  return true;
}

const isConvertible = (value: object): value is { toJSON: () => unknown } =>
  typeof (value as { toJSON?: unknown }).toJSON === 'function';

/** Returns undefined for values that JSON omits, such as functions. */
function toPlainCopy(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return isPlain(value) ? value : undefined;
  if (isConvertible(value)) return toPlainCopy(value.toJSON());
  if (Array.isArray(value)) return Array.from(value, (item) => toPlainCopy(item) ?? null);
  const fields = Object.entries(value).map(([name, inside]) => [name, toPlainCopy(inside)] as const);
  return Object.fromEntries(fields.filter(([, inside]) => inside !== undefined));
}
