/** Where 64-bit integers are in the values that a schema describes, also when a part such as `allOf` says so. */
import type { Json, Refuse } from './json.ts';
import { targetOf } from './recursion.ts';
import { scopeOf, subschemasOf } from './subschemas.ts';

/** A value, or one within it. */
export interface Int64Place {
  isInt64: boolean;
  /** Whether it is a 64-bit integer in every alternative. */
  isAlwaysInt64: boolean;
  /** Whether some part of the schema declares a number without `format: int64`. */
  isOtherNumber: boolean;
  /** Keywords that compare it with a number: not supported for bigint. */
  comparisons: Set<string>;
  fields: Map<string, Int64Place>;
  /** Every field and item that has no place of its own. */
  rest: Int64Place | undefined;
  /** The places of the schemas that refer to themselves, and describe this value, too. */
  recursions: Set<Int64Place>;
}

/** Refuses what would have two types, or could not be compared. `name` is the value's name in problems. */
export function findInt64s(schema: Json, name: string, refuse: Refuse): Int64Place {
  const root = newPlace();
  collect(schema, root, true);
  checkPlace(root, name, refuse);
  return root;
}

/** The place that a schema under this keyword describes. */
export function placeUnder(place: Int64Place, keyword: string, name: string): Int64Place {
  const scope = scopeOf(keyword);
  if (scope === 'value') return place;
  if (scope === 'fields') {
    place.rest ??= newPlace();
    return place.rest;
  }
  const field = place.fields.get(name) ?? newPlace();
  place.fields.set(name, field);
  return field;
}

/** Of an object with this field. */
export function fieldPlace(name: string, inside: Int64Place): Int64Place {
  return { ...newPlace(), fields: new Map([[name, inside]]) };
}

function newPlace(): Int64Place {
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

function collect(schema: Json, place: Int64Place, isAlways: boolean): void {
  if (typeof schema === 'boolean') return;
  const target = targetOf(schema);
  if (target) place.recursions.add(placeOfTarget(target));
  const { type, format } = schema;
  if ([type].flat().some((name) => name === 'integer' || name === 'number')) {
    if (format === 'int64') place.isInt64 = true;
    else place.isOtherNumber = true;
    place.isAlwaysInt64 ||= isAlways && format === 'int64';
  }
  for (const keyword of ['enum', 'const', 'multipleOf']) {
    if ([schema[keyword]].flat().some((value) => typeof value === 'number')) place.comparisons.add(keyword);
  }
  for (const { subschema, keyword, name } of subschemasOf(schema)) {
    const isStill = isAlways && (keyword === 'allOf' || scopeOf(keyword) !== 'value');
    collect(subschema, placeUnder(place, keyword, name), isStill);
  }
}

const ofTargets = new WeakMap<object, Int64Place>();

function placeOfTarget(target: Json): Int64Place {
  const known = ofTargets.get(target);
  if (known) return known;
  const place = newPlace();
  ofTargets.set(target, place);
  collect(target, place, true);
  return place;
}

function checkPlace(place: Int64Place, name: string, refuse: Refuse): void {
  if (place.isInt64) {
    for (const keyword of place.comparisons) refuse(`${name}: ${keyword} is not supported for int64`);
    if (place.isOtherNumber && !place.isAlwaysInt64) refuse(`${name}: is int64 in one alternative and not in another`);
  }
  for (const recursion of place.recursions) checkRecursion(place, recursion, name, refuse);
  for (const [field, inside] of place.fields) checkPlace(inside, `${name}.${field}`, refuse);
  if (place.rest) checkPlace(place.rest, `${name}.*`, refuse);
}

/** What is in a recursion was checked where it begins. */
function checkRecursion(place: Int64Place, recursion: Int64Place, name: string, refuse: Refuse): void {
  if (recursion.recursions.has(recursion)) refuse(`${name}: its schema is nothing but itself`);
  for (const [field, inside] of place.fields) {
    const other = recursion.fields.get(field);
    const both = other ? [inside, other] : [];
    const isMixed = both.some(({ isInt64 }) => isInt64) && both.some(({ isOtherNumber }) => isOtherNumber);
    if (isMixed) refuse(`${name}.${field}: is int64 in one alternative and not in another`);
  }
}
