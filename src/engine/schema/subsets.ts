/** Whether all values of one schema are values of another: true only where that is plain to see. */
import { isDeepStrictEqual } from 'node:util';
import type { Json } from './json.ts';
import { targetOf } from './recursion.ts';
import { ANNOTATION } from './references.ts';
import { mapSubschemas } from './subschemas.ts';
import { isBounded, isType, JOINT, speaksOfOthers, typesOf, valuesOf } from './value-bounds.ts';

/** Whether what fits `inner` fits `outer`, and has no field that `outer` does not name. */
export function isWithin(inner: Json, outer: Json): boolean {
  const [given, wanted] = [toBare(inner), toBare(outer)];
  return isNamed(given, wanted) && fits(given, wanted);
}

/** Whether what fits `inner` fits `outer`. */
export const isSubset = (inner: Json, outer: Json): boolean => fits(toBare(inner), toBare(outer));

/** Without what says nothing about values; what refers to itself is known by its target. */
function toBare(schema: Json): Json {
  if (typeof schema === 'boolean') return schema;
  const target = targetOf(schema);
  if (target) return { recursion: numberOf(target) };
  const entries = Object.entries(mapSubschemas(schema, toBare)).filter(([keyword]) => !ANNOTATION.test(keyword));
  return entries.length === 0 || Object.fromEntries(entries);
}

const numbers = new WeakMap<object, number>();
let next = 0;

function numberOf(target: Json): number {
  const number = numbers.get(target) ?? next++;
  numbers.set(target, number);
  return number;
}

/** The parts of `allOf` in one. What two of them say of the same keyword, the first says: enough for what is known of a value. */
export function toFlat(schema: Json): Json {
  if (!schema.allOf) return schema === true ? {} : schema;
  const { allOf, ...own } = schema;
  const parts: Json[] = [own, ...allOf.map(toFlat)];
  const properties = Object.assign({}, ...parts.toReversed().map((part) => part.properties));
  const required = parts.flatMap((part) => part.required ?? []);
  return { ...Object.assign({}, ...parts.toReversed()), properties, required };
}

/** Whether what fits `inner` has no field that `outer` does not name; one that names none is free to have any. */
function isNamed(inner: Json, outer: Json): boolean {
  if (typeof outer === 'boolean' || inner === false) return true;
  const [given, known] = [toFlat(inner), toFlat(outer)];
  if (known.items && mayBe('array', given) && !isNamed(given.items ?? {}, known.items)) return false;
  if (!mayBe('object', given)) return true;
  const names = Object.keys(known.properties ?? {});
  if (names.length === 0) return !PARTS.some((keyword) => keyword in known);
  return (
    isClosed(given) &&
    Object.entries(given.properties ?? {}).every(
      ([name, field]) => names.includes(name) && isNamed(field, known.properties[name]),
    )
  );
}

/** Keywords whose parts may name fields. */
const PARTS = ['anyOf', 'oneOf', 'if', 'dependentSchemas', 'patternProperties', 'prefixItems', 'recursion'];

/** Whether a value of this type may fit. */
function mayBe(type: string, { type: types = type, anyOf, oneOf }: Json): boolean {
  const choices: Json[] | undefined = anyOf ?? oneOf;
  return [types].flat().includes(type) && (!choices || choices.some((choice) => mayBe(type, choice)));
}

const isClosed = ({ additionalProperties, patternProperties }: Json) =>
  additionalProperties === false && patternProperties === undefined;

function fits(inner: Json, outer: Json): boolean {
  if (outer === true || inner === false) return true;
  if (outer === false) return false;
  const given = toFlat(inner);
  const isOpen = (keyword: string) => JOINT.test(keyword) || !isDeepStrictEqual(given[keyword], outer[keyword]);
  return isDeepStrictEqual(inner, outer) || proves(given, Object.keys(outer).filter(isOpen), outer);
}

/** Each alternative of what is given proves them by itself. */
function proves(given: Json, keywords: string[], outer: Json): boolean {
  const alternatives = keywords.length > 0 ? alternativesOf(given) : [];
  if (alternatives.length > 0) return alternatives.every((one) => proves(one, keywords, outer));
  return keywords.every((keyword) => speaksOfOthers(keyword, given) || holds(keyword, outer[keyword], outer, given));
}

function alternativesOf({ anyOf, oneOf, ...rest }: Json): Json[] {
  const choices: Json[] = anyOf ?? oneOf ?? [];
  if (choices.length > 0) return choices.map((choice) => toFlat({ allOf: [choice, rest] }));
  return Array.isArray(rest.type) ? rest.type.map((type: string) => ({ ...rest, type })) : [];
}

/** Whether a keyword of `outer` holds for all that fits a schema. */
function holds(keyword: string, value: Json, outer: Json, given: Json): boolean {
  const own = given[keyword];
  switch (keyword) {
    case 'allOf':
      return value.every((part: Json) => fits(given, part));
    case 'anyOf':
      return value.some((part: Json) => fits(given, part));
    case 'oneOf':
      return value.some(
        (part: Json, index: number) =>
          fits(given, part) && value.every((other: Json, at: number) => at === index || isApart(given, other)),
      );
    case 'not':
      return isApart(given, value) || (own !== undefined && fits(value, own));
    case 'type':
      return typesOf(given)?.every((type) => [value].flat().some((wide) => isType(type, wide))) ?? false;
    case 'required':
      return value.every((name: string) => given.required?.includes(name));
    case 'const':
    case 'enum': {
      const values = keyword === 'const' ? [value] : value;
      return valuesOf(given)?.every((one) => values.some((other: Json) => isDeepStrictEqual(one, other))) ?? false;
    }
    case 'properties':
      return Object.entries(value).every(([name, field]) => fits(fieldOf(name, given), field));
    case 'additionalProperties': {
      const others = Object.entries(given.properties ?? {}).filter(([name]) => !(name in (outer.properties ?? {})));
      const rest = fieldOf('', { ...given, properties: {} });
      return fits(rest, value) && others.every(([, field]) => fits(field, value));
    }
    case 'items':
      return value === true || (own !== undefined && !given.prefixItems && !outer.prefixItems && fits(own, value));
    case 'propertyNames':
      return fits(own ?? true, value);
    default:
      return isBounded(keyword, value, given);
  }
}

/** What is known of a field. */
function fieldOf(name: string, { properties = {}, patternProperties, additionalProperties = {} }: Json): Json {
  if (Object.hasOwn(properties, name)) return properties[name];
  return patternProperties === undefined ? additionalProperties : {};
}

/** Where no value fits both: their types are others. */
function isApart(one: Json, other: Json): boolean {
  if (typeof other === 'boolean') return !other;
  const [types, others] = [typesOf(one), typesOf(toFlat(other))];
  if (!types || !others) return false;
  return !types.some((type) => others.some((wide) => isType(type, wide) || isType(wide, type)));
}
