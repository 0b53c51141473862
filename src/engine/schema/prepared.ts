/** A schema as ajv takes it: with our own keywords where its own know no bigint, or may take far longer than the value is worth. */
import { isDeepStrictEqual } from 'node:util';
import { BOUND_NAMES } from './int64-keywords.ts';
import { findInt64s, type Int64Place, placeUnder } from './int64-places.ts';
import type { Json } from './json.ts';
import { targetOf } from './recursion.ts';
import { withBranch, withSeenFields } from './seen-fields.ts';
import { mapSubschemas, SUBSCHEMA_KEYWORDS, scopeOf, subschemasOf } from './subschemas.ts';

/** Keywords whose schemas are tried on any number of items or fields. */
const REPEATED = ['items', 'additionalProperties', 'patternProperties', 'unevaluatedItems', 'unevaluatedProperties'];

const SIZES = ['maxLength', 'maxItems', 'maxProperties'];
/** Keywords that look at what is within a value, and what they read beside them. */
const DEEP = [
  ...['pattern', 'format', 'uniqueItems', 'equals', 'propertyNames', 'minContains', 'maxContains', 'seenFields'],
  ...SUBSCHEMA_KEYWORDS,
];

/** How many schemas a function may check: V8 has no stack for one that checks ten thousands. */
const LARGEST = 300;

const sizes = new WeakMap<object, number>();

/** How many schemas it is made of, each as often as it stands there. */
function sizeOf(schema: Json): number {
  if (typeof schema === 'boolean') return 1;
  const known = sizes.get(schema);
  if (known !== undefined) return known;
  const size = subschemasOf(schema).reduce((sum, { subschema }) => sum + sizeOf(subschema), 1);
  sizes.set(schema, size);
  return size;
}

/** The defaults of required fields are left out: ajv would fill in what must be refused. */
export function prepare(schema: Json, place: Int64Place, numberOf: (target: Json) => number): Json {
  if (typeof schema === 'boolean') return schema;
  const target = targetOf(schema);
  if (target) return { recursion: numberOf(target) };
  const prepared = mapSubschemas(schema, (subschema, keyword, name) => {
    const isApart = scopeOf(keyword) !== 'value' && sizeOf(subschema) > LARGEST;
    const inside = isApart
      ? { recursion: numberOf(subschema) }
      : prepare(subschema, placeUnder(place, keyword, name), numberOf);
    return REPEATED.includes(keyword) && typeof inside === 'object' ? { whileRoom: inside } : inside;
  });
  const { propertyNames } = schema;
  if (propertyNames) {
    prepared.propertyNames = prepare(
      propertyNames,
      findInt64s(propertyNames, '', () => {}),
      numberOf,
    );
  }
  for (const key of Object.keys(prepared)) if (key.startsWith('x-')) delete prepared[key];
  for (const name of schema.required ?? []) delete prepared.properties?.[name]?.default;
  const typed = place.isInt64 ? withInt64(prepared) : withNumeric(prepared);
  const own = withBranch(withEquals(withLargeDefaults(withExactBounds(typed))));
  return withSeenFields(withSizesFirst(withSeenFields(own)));
}

/** Types other than numbers stay: in `anyOf` a 64-bit integer or a string, the string is unchanged. */
function withInt64(schema: Json): Json {
  const { type, format, ...others } = schema;
  const types: string[] = [type ?? []].flat();
  const rest = types.filter((name) => name !== 'integer' && name !== 'number');
  return rest.length === types.length ? schema : { ...others, int64: rest };
}

function withNumeric(schema: Json): Json {
  const { type, ...others } = schema;
  const types: string[] = [type ?? []].flat();
  const isNumeric = types.some((name) => name === 'integer' || name === 'number');
  return isNumeric ? { ...others, numeric: types } : schema;
}

const isNumber = (value: unknown) => typeof value === 'number' || typeof value === 'bigint';

function withExactBounds(schema: Json): Json {
  const names = BOUND_NAMES.filter((name) => isNumber(schema[name]));
  const made = { ...schema };
  if (names.length > 0) made.bounds = Object.fromEntries(names.map((name) => [name, schema[name]]));
  if (isNumber(schema.multipleOf)) made.multiple = schema.multipleOf;
  for (const name of [...names, 'multipleOf']) if (isNumber(made[name])) delete made[name];
  return made;
}

function withLargeDefaults(schema: Json): Json {
  const fields = Object.entries<Json>(schema.properties ?? {}).filter(
    ([, field]) => typeof field?.default === 'bigint',
  );
  if (fields.length === 0) return schema;
  const largeDefaults = Object.fromEntries(fields.map(([name, field]) => [name, field.default]));
  for (const [, field] of fields) delete field.default;
  return { ...schema, largeDefaults };
}

function withEquals(schema: Json): Json {
  const { const: only, enum: listed, ...others } = schema;
  const isOnly = (value: unknown) => !('const' in schema) || isDeepStrictEqual(value, only);
  const several: unknown[] = listed?.filter(isOnly) ?? [only];
  return [only, ...(listed ?? [])].some(isNoScalar) ? { ...others, equals: several } : schema;
}

/** ajv compares texts and numbers as they are; a large number is sent as a bigint. */
const isNoScalar = (value: unknown) =>
  typeof value === 'number' ? Math.abs(value) > Number.MAX_SAFE_INTEGER : typeof value === 'object' && value !== null;

/** What is too long is not looked at any further, by this schema's keywords or by its parts. */
function withSizesFirst(schema: Json): Json {
  const keys = Object.keys(schema);
  const pick = (names: string[]) => Object.fromEntries(names.map((name) => [name, schema[name]]));
  const sizes = keys.filter((key) => SIZES.includes(key));
  const deep = keys.filter((key) => DEEP.includes(key));
  if (sizes.length === 0 || deep.length === 0) return schema;
  const shallow = keys.filter((key) => !deep.includes(key));
  // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
  return { ...pick(shallow), if: pick(sizes), then: pick(deep) };
}
