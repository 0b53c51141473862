/** Writes values as JSON: those of plain schemas, with objects, arrays and scalars of one type each, quickly. */
import fastJson, { type AnySchema } from 'fast-json-stringify';
import { stringify } from 'lossless-json';
import type { Int64Map } from './int64-map.ts';
import type { Keywords, Schema } from './json.ts';
import { SUBSCHEMA_KEYWORDS } from './subschemas.ts';

const SCALARS = ['string', 'integer', 'number', 'boolean', 'null'];
const PLAIN_KEYWORDS = ['properties', 'items', 'additionalProperties'];

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
  if (SUBSCHEMA_KEYWORDS.some((keyword) => keyword in schema && !PLAIN_KEYWORDS.includes(keyword))) return undefined;
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

/** For any schema: writes every digit of a bigint, and no fields that the contract does not name. */
export function buildWriteDeclared(int64s: Int64Map): (value: unknown) => string {
  return (value) => stringify(declaredIn(value, [int64s])) as string;
}

/** `described` has the maps that describe the value, to which their recursions are added. Without named fields, an object may have any. */
function declaredIn(value: unknown, described: Int64Map[]): unknown {
  if (typeof value !== 'object' || value === null) return value;
  const maps = [...new Set(described.flatMap((int64s) => [int64s, ...int64s.recursions]))];
  const mapsOf = (name: string) => maps.flatMap(({ fields, rest }) => fields.get(name) ?? rest ?? []);
  if (Array.isArray(value)) return value.map((item, index) => declaredIn(item, mapsOf(String(index))));
  const isFree = maps.every(({ fields }) => fields.size === 0);
  const entries = Object.entries(value).filter(([name]) => isFree || mapsOf(name).length > 0);
  return Object.fromEntries(entries.map(([name, inside]) => [name, declaredIn(inside, mapsOf(name))]));
}
