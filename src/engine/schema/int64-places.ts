/** Where 64-bit integers are in the values that a schema describes, also when a part such as `allOf` says so. */
import type { Refuse, Schema } from './json.ts';
import { targetOf } from './recursion.ts';
import { scopeOf, subschemasOf } from './subschemas.ts';

/** A value, or one within it. It is made once for each schema, and never changed. */
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
export function findInt64s(schema: Schema, name: string, refuse: Refuse): Int64Place {
  const place = placeOf(schema, true);
  checkPlace(place, name, refuse);
  return place;
}

/** The place that a schema under this keyword describes. */
export function placeUnder(place: Int64Place, keyword: string, name: string): Int64Place {
  const scope = scopeOf(keyword);
  if (scope === 'value') return place;
  return (scope === 'field' ? place.fields.get(name) : place.rest) ?? NOWHERE;
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

const NOWHERE = newPlace();

/** Of schemas in every alternative, and of those in one of several. */
const known = { always: new WeakMap<object, Int64Place>(), sometimes: new WeakMap<object, Int64Place>() };

/** A schema that refers to itself meets its own place, which is not complete then, among its recursions only. */
function placeOf(schema: Schema, isAlways: boolean): Int64Place {
  if (typeof schema === 'boolean') return NOWHERE;
  const places = isAlways ? known.always : known.sometimes;
  const made = places.get(schema);
  if (made) return made;
  const place = newPlace();
  places.set(schema, place);
  const target = targetOf(schema);
  if (target) place.recursions.add(placeOf(target, true));
  const { type, format } = schema;
  if ([type].flat().some((name) => name === 'integer' || name === 'number')) {
    if (format === 'int64') place.isInt64 = true;
    else place.isOtherNumber = true;
    place.isAlwaysInt64 = isAlways && format === 'int64';
  }
  for (const keyword of ['enum', 'const', 'multipleOf']) {
    if ([schema[keyword]].flat().some((value) => typeof value === 'number')) place.comparisons.add(keyword);
  }
  for (const { subschema, keyword, name } of subschemasOf(schema)) {
    const scope = scopeOf(keyword);
    const inside = placeOf(subschema, isAlways && (keyword === 'allOf' || scope !== 'value'));
    if (scope === 'value') add(place, inside);
    else if (scope === 'field') place.fields.set(name, join(place.fields.get(name), inside));
    else place.rest = join(place.rest, inside);
  }
  return place;
}

/** Both are parts of one schema, and describe the same value. */
function join(one: Int64Place | undefined, other: Int64Place): Int64Place {
  if (one === undefined || one === other) return other;
  const place = newPlace();
  add(place, one);
  add(place, other);
  return place;
}

function add(place: Int64Place, part: Int64Place): void {
  for (const word of ['isInt64', 'isAlwaysInt64', 'isOtherNumber'] as const) place[word] ||= part[word];
  for (const keyword of part.comparisons) place.comparisons.add(keyword);
  for (const [name, inside] of part.fields) place.fields.set(name, join(place.fields.get(name), inside));
  if (part.rest) place.rest = join(place.rest, part.rest);
  for (const recursion of part.recursions) place.recursions.add(recursion);
}

const sound = new WeakSet<Int64Place>();

function checkPlace(place: Int64Place, name: string, refuseAny: Refuse): void {
  if (sound.has(place)) return;
  let isSound = true;
  const refuse = (problem: string) => {
    isSound = false;
    refuseAny(problem);
  };
  if (place.isInt64) {
    for (const keyword of place.comparisons) refuse(`${name}: ${keyword} is not supported for int64`);
    if (place.isOtherNumber && !place.isAlwaysInt64) refuse(`${name}: is int64 in one alternative and not in another`);
  }
  for (const recursion of place.recursions) checkRecursion(place, recursion, name, refuse);
  for (const [field, inside] of place.fields) checkPlace(inside, `${name}.${field}`, refuse);
  if (place.rest) checkPlace(place.rest, `${name}.*`, refuse);
  if (isSound) sound.add(place);
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
