/**
 * Rewrites a schema for ajv. Keywords are replaced by our own if ajv's do not support bigint, or take more than linear
 * time.
 */
import { isDeepStrictEqual } from 'node:util';
import { BOUND_NAMES } from './int64-keywords.ts';
import { type Int64Map, int64sOf, int64sUnder } from './int64-map.ts';
import { type Keywords, keywordsOf, type Schema } from './json.ts';
import { ANNOTATION } from './keys.ts';
import { withBranch, withSeenFields } from './seen-fields.ts';
import { isRecursion, mapSubschemas, SUBSCHEMA_KEYWORDS, subschemasOf } from './subschemas.ts';
import type { Compiler } from './validator-cache.ts';

/** Keywords with a schema that applies to any number of items or fields. */
const REPEATED = ['items', 'additionalProperties', 'patternProperties', 'unevaluatedItems', 'unevaluatedProperties'];

const SIZES = ['maxLength', 'maxItems', 'maxProperties'];
/** Keywords that read the contents of a value, together with the keywords that only work next to them. */
const DEEP = [
  ...['pattern', 'format', 'uniqueItems', 'equals', 'propertyNames', 'minContains', 'maxContains', 'seenFields'],
  ...SUBSCHEMA_KEYWORDS,
];

/**
 * A schema with more subschemas than this gets its own validation function. With a higher limit, equal subschemas would
 * be compiled more often; with a lower limit, functions would call each other more often.
 */
const LARGEST = 20;
/**
 * The limit that is used instead of LARGEST inside a schema with more than HUGE subschemas: otherwise a single function
 * could take up to 90 ms to compile. The lower limit is not used for all schemas, because more calls make requests
 * slower.
 */
const LARGEST_OF_HUGE = 5;
const HUGE = 200;

const sizes = new WeakMap<object, number>();

/** Counts a schema and the schemas inside it. An inner schema with its own function counts as one. */
function sizeOf(schema: Schema): number {
  if (typeof schema === 'boolean') return 1;
  const known = sizes.get(schema);
  if (known !== undefined) return known;
  const size = subschemasOf(schema).reduce(
    (sum, { subschema }) => sum + (isLarge(subschema) ? 1 : sizeOf(subschema)),
    1,
  );
  sizes.set(schema, size);
  return size;
}

const isLarge = (schema: Schema, largest = LARGEST) => isRecursion(schema) || sizeOf(schema) > largest;

/** Keywords with a schema that a valid value may break. */
const TRIED = ['anyOf', 'oneOf', 'not', 'if', 'contains', 'propertyNames'];

/** The types that annotations must have. An annotation of a wrong type is kept, so that ajv reports it. */
const ANNOTATION_TYPES = new Map([
  ...['title', 'description'].map((keyword) => [keyword, 'string'] as const),
  ...['deprecated', 'readOnly', 'writeOnly'].map((keyword) => [keyword, 'boolean'] as const),
]);
const isSilent = (keyword: string, value: unknown) =>
  ANNOTATION.test(keyword) &&
  (keyword === 'examples' ? Array.isArray(value) : typeof value === (ANNOTATION_TYPES.get(keyword) ?? typeof value));

interface Filling {
  /** If true, missing fields get their defaults. */
  fillsDefaults: boolean;
  /** If true, a default that cannot be filled in is an error. */
  isStrict: boolean | undefined;
}

export function buildRewriteForAjv({ fillsDefaults, isStrict }: Filling): Compiler['rewriteForAjv'] {
  return function rewriteForAjv(part, call) {
    const { schema, int64s, isTried } = part;
    if (typeof schema === 'boolean') return schema;
    const largest = sizeOf(schema) > HUGE ? LARGEST_OF_HUGE : LARGEST;
    const inside = (schema: Schema, keyword: string, int64s: Int64Map): Schema => {
      const own = { schema, int64s, isTried: isTried || (fillsDefaults && TRIED.includes(keyword)) };
      return isLarge(schema, largest) ? call(own) : rewriteForAjv(own, call);
    };
    const prepared = mapSubschemas(schema, (subschema, keyword, name) => {
      const made = inside(subschema, keyword, int64sUnder(int64s, keyword, name));
      return REPEATED.includes(keyword) && typeof made === 'object' ? { untilMaxErrors: made } : made;
    });
    const { propertyNames, properties = {} } = schema;
    // ajv would ignore a field called `__proto__`.
    if (Object.hasOwn(properties, '__proto__'))
      throw new Error('nothing can be called __proto__: give it another name');
    if (propertyNames) {
      prepared.propertyNames = inside(propertyNames, 'propertyNames', int64sOf(propertyNames));
    }
    for (const [key, value] of Object.entries(prepared)) if (isSilent(key, value)) delete prepared[key];
    // ajv would accept null for `nullable: true`, which OpenAPI 3.1 does not define.
    if (!isStrict) delete prepared.nullable;
    const { properties: fields = {} } = prepared;
    for (const [name, field] of Object.entries(fillsDefaults ? properties : {})) {
      const { default: own } = keywordsOf(field);
      // ajv would fill in a default before it checks `required`. So a required field is given no default here: the
      // request is invalid if the field is missing.
      if (own === undefined || schema.required?.includes(name)) continue;
      if (isTried && isStrict) throw new Error(`strict mode: default is ignored for: ${name}`);
      if (!isTried) fields[name] = { ...keywordsOf(fields[name]), default: own };
    }
    const typed = withNumeric(prepared, int64s.isInt64);
    const own = withBranch(withEquals(withLargeDefaults(withExactBounds(typed))));
    return withSeenFields(withSizesFirst(withSeenFields(own)));
  };
}

/**
 * Replaces the types `integer` and `number` by our own keywords. Other types in the list `type` are kept: the schema
 * may, for example, also allow a string.
 */
function withNumeric(schema: Keywords, isInt64: boolean): Keywords {
  const { type, format, ...others } = schema;
  const types = [type ?? []].flat();
  const rest = types.filter((name) => name !== 'integer' && name !== 'number');
  if (rest.length === types.length) return schema;
  if (isInt64) return { ...others, int64: rest };
  return { ...others, ...(format !== undefined && { format }), numeric: types };
}

const isNumber = (value: unknown) => typeof value === 'number' || typeof value === 'bigint';

function withExactBounds(schema: Keywords): Keywords {
  const names = BOUND_NAMES.filter((name) => isNumber(schema[name]));
  const made = { ...schema };
  if (names.length > 0) made.bounds = Object.fromEntries(names.map((name) => [name, schema[name]]));
  if (isNumber(schema.multipleOf)) made.multiple = schema.multipleOf;
  for (const name of [...names, 'multipleOf']) if (isNumber(made[name])) delete made[name];
  return made;
}

function withLargeDefaults(schema: Keywords): Keywords {
  const fields = Object.entries(schema.properties ?? {})
    .map(([name, field]) => [name, keywordsOf(field)] as const)
    .filter(([, field]) => typeof field.default === 'bigint');
  if (fields.length === 0) return schema;
  const largeDefaults = Object.fromEntries(fields.map(([name, field]) => [name, field.default]));
  for (const [, field] of fields) delete field.default;
  return { ...schema, largeDefaults };
}

function withEquals(schema: Keywords): Keywords {
  const { const: only, enum: listed, ...others } = schema;
  const isOnly = (value: unknown) => !('const' in schema) || isDeepStrictEqual(value, only);
  const several = listed?.filter(isOnly) ?? [only];
  return [only, ...(listed ?? [])].some(isNoScalar) ? { ...others, equals: several } : schema;
}

/**
 * True if ajv cannot compare a request's value with this value of `enum` or `const`: because this one is an object, or
 * because it is so large that the request's number is parsed as a bigint.
 */
const isNoScalar = (value: unknown) =>
  typeof value === 'number' ? Math.abs(value) > Number.MAX_SAFE_INTEGER : typeof value === 'object' && value !== null;

/** Rewrites the schema so that sizes are checked first. If a value is too long, its contents are then not read. */
function withSizesFirst(schema: Keywords): Keywords {
  const keys = Object.keys(schema);
  const pick = (names: string[]) => Object.fromEntries(names.map((name) => [name, schema[name]]));
  const sizes = keys.filter((key) => SIZES.includes(key));
  const deep = keys.filter((key) => DEEP.includes(key));
  if (sizes.length === 0 || deep.length === 0) return schema;
  const shallow = keys.filter((key) => !deep.includes(key));
  // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
  return { ...pick(shallow), if: pick(sizes), then: pick(deep) };
}
