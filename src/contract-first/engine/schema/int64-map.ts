/**
 * Finds the 64-bit integers in the values that a schema describes. The schemas inside keywords such as `allOf` are also
 * searched.
 */
import type { Schema } from './json.ts';
import { scopeOf, subschemasOf, targetOf } from './subschemas.ts';

/**
 * Describes where a value contains 64-bit integers: whether the value itself is one, and a map for each value inside
 * it. A map is made once for each schema, and never changed afterwards.
 */
export interface Int64Map {
  isInt64: boolean;
  /** True if the value is a 64-bit integer in every alternative of the schema. */
  isAlwaysInt64: boolean;
  /** True if the schema, or a subschema for the same value, declares a number without `format: int64`. */
  isOtherNumber: boolean;
  /**
   * The keywords `enum`, `const` and `multipleOf`, if they contain numbers in this schema. ajv's own versions of these
   * keywords do not support bigint.
   */
  comparisons: Set<string>;
  fields: Map<string, Int64Map>;
  /** The map for all fields and items that are not in `fields`. */
  rest: Int64Map | undefined;
  /** The maps of those recursive schemas that also describe this value. */
  recursions: Set<Int64Map>;
}

/** Returns the map of the values that a schema describes. */
export const int64sOf = (schema: Schema): Int64Map => mapOf(schema, true);

/**
 * Returns the map for the values that the schemas under `keyword` describe. `name` is the name of a field or the index
 * of an item, if the keyword contains a schema for each.
 */
export function int64sUnder(int64s: Int64Map, keyword: string, name: string): Int64Map {
  const scope = scopeOf(keyword);
  if (scope === 'value') return int64s;
  return (scope === 'field' ? int64s.fields.get(name) : int64s.rest) ?? NOWHERE;
}

/** Returns the map of an object with a single field. */
export function int64sOfField(name: string, inside: Int64Map): Int64Map {
  return { ...newMap(), fields: new Map([[name, inside]]) };
}

function newMap(): Int64Map {
  return {
    isInt64: false,
    isAlwaysInt64: false,
    isOtherNumber: false,
    comparisons: new Set(),
    fields: new Map(),
    rest: undefined,
    recursions: new Set(),
  };
}

const NOWHERE = newMap();

const filled = new WeakMap<Int64Map, boolean>();

/**
 * Replaces a map without 64-bit integers by one shared empty map, so that equal schemas have equal maps. `recursions`
 * are ignored, because a recursive schema is compiled with the map of its target.
 */
export const withoutEmpty = (int64s: Int64Map): Int64Map => (isFilled(int64s) ? int64s : NOWHERE);

function isFilled(int64s: Int64Map): boolean {
  const known = filled.get(int64s);
  if (known !== undefined) return known;
  const { isInt64, fields, rest } = int64s;
  const found = isInt64 || [...fields.values()].some(isFilled) || (rest !== undefined && isFilled(rest));
  filled.set(int64s, found);
  return found;
}

/**
 * The maps that were already made. There can be two maps for a schema: one for when it always applies, and one for when
 * it is one of several alternatives.
 */
const known = { always: new WeakMap<object, Int64Map>(), sometimes: new WeakMap<object, Int64Map>() };

/**
 * Builds the map of a schema. Inside a recursive schema, the outer map is still incomplete, so it is only referred to
 * in `recursions`.
 */
function mapOf(schema: Schema, isAlways: boolean): Int64Map {
  if (typeof schema === 'boolean') return NOWHERE;
  const maps = isAlways ? known.always : known.sometimes;
  const made = maps.get(schema);
  if (made) return made;
  const int64s = newMap();
  maps.set(schema, int64s);
  const target = targetOf(schema);
  if (target) int64s.recursions.add(mapOf(target, true));
  const { type, format } = schema;
  if ([type].flat().some((name) => name === 'integer' || name === 'number')) {
    if (format === 'int64') int64s.isInt64 = true;
    else int64s.isOtherNumber = true;
    int64s.isAlwaysInt64 = isAlways && format === 'int64';
  }
  for (const keyword of ['enum', 'const', 'multipleOf']) {
    if ([schema[keyword]].flat().some((value) => typeof value === 'number')) int64s.comparisons.add(keyword);
  }
  for (const { subschema, keyword, name } of subschemasOf(schema)) {
    const scope = scopeOf(keyword);
    const inside = mapOf(subschema, isAlways && (keyword === 'allOf' || scope !== 'value'));
    if (scope === 'value') add(int64s, inside);
    else if (scope === 'field') int64s.fields.set(name, join(int64s.fields.get(name), inside));
    else int64s.rest = join(int64s.rest, inside);
  }
  return int64s;
}

/** Merges two maps that describe the same value. */
function join(one: Int64Map | undefined, other: Int64Map): Int64Map {
  if (one === undefined || one === other) return other;
  const int64s = newMap();
  add(int64s, one);
  add(int64s, other);
  return int64s;
}

function add(int64s: Int64Map, part: Int64Map): void {
  for (const word of ['isInt64', 'isAlwaysInt64', 'isOtherNumber'] as const) int64s[word] ||= part[word];
  for (const keyword of part.comparisons) int64s.comparisons.add(keyword);
  for (const [name, inside] of part.fields) int64s.fields.set(name, join(int64s.fields.get(name), inside));
  if (part.rest) int64s.rest = join(int64s.rest, part.rest);
  for (const recursion of part.recursions) int64s.recursions.add(recursion);
}
