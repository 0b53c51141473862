/** Whether all values of one schema are values of another: true only where that is plain to see. */
import { isDeepStrictEqual } from 'node:util';
import type { Json } from './json.ts';
import { targetOf } from './recursion.ts';
import { ANNOTATION } from './references.ts';
import { mapSubschemas } from './subschemas.ts';

/** Whether what fits `inner` fits `outer`, and has no field that `outer` does not name. */
export function isWithin(inner: Json, outer: Json): boolean {
  const [given, wanted] = [toBare(inner), toBare(outer)];
  return isNamed(given, wanted) && fits(given, wanted);
}

/** Without what says nothing about values; what refers to itself is known by its target. */
function toBare(schema: Json): Json {
  if (typeof schema === 'boolean') return schema;
  const target = targetOf(schema);
  if (target) return { recursion: numberOf(target) };
  const entries = Object.entries(mapSubschemas(schema, toBare)).filter(([keyword]) => !ANNOTATION.test(keyword));
  return Object.fromEntries(entries);
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
  if (!schema.allOf) return schema;
  const { allOf, ...own } = schema;
  const parts: Json[] = [own, ...allOf.map(toFlat)];
  const properties = Object.assign({}, ...parts.toReversed().map((part) => part.properties));
  const required = parts.flatMap((part) => part.required ?? []);
  return { ...Object.assign({}, ...parts.toReversed()), properties, required };
}

/** Whether what fits `inner` has no field that `outer` does not name; one that names none is free to have any. */
function isNamed(inner: Json, outer: Json): boolean {
  if (typeof inner === 'boolean' || typeof outer === 'boolean') return true;
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
  if (typeof inner === 'boolean' || typeof outer === 'boolean') return outer === true || inner === false;
  if (isDeepStrictEqual(inner, outer)) return true;
  const given = toFlat(inner);
  return Object.keys(outer).every((keyword) => holds(keyword, outer, given));
}

/** Keywords that are understood by others beside them: an equal one may mean something else there. */
const JOINT = /^(contains|(min|max)Contains|if|then|else|prefixItems|unevaluated(Items|Properties))$/;

/** Whether a keyword of `outer` holds for all that fits a schema. */
function holds(keyword: string, outer: Json, given: Json): boolean {
  const [own, value] = [given[keyword], outer[keyword]];
  switch (keyword) {
    case 'allOf':
      return value.every((part: Json) => fits(given, part));
    case 'type':
      return own !== undefined && [own].flat().every((type) => [value].flat().some((wide) => isType(type, wide)));
    case 'required':
      return value.every((name: string) => given.required?.includes(name));
    case 'enum':
      return own?.every((one: Json) => value.some((other: Json) => isDeepStrictEqual(one, other))) ?? false;
    case 'properties':
      return Object.entries(value).every(([name, field]) => fits(fieldOf(name, given), field));
    case 'additionalProperties': {
      const others = Object.entries(given.properties ?? {}).filter(([name]) => !(name in (outer.properties ?? {})));
      const rest = fieldOf('', { ...given, properties: {} });
      return value === true || (fits(rest, value) && others.every(([, field]) => fits(field, value)));
    }
    case 'items':
      return own !== undefined && !given.prefixItems && !outer.prefixItems && fits(own, value);
    case 'minimum':
    case 'minLength':
    case 'minItems':
      return value === 0 ? keyword !== 'minimum' || own >= 0 : own >= value;
    case 'maximum':
    case 'maxLength':
    case 'maxItems':
      return own <= value;
    default:
      return !JOINT.test(keyword) && isDeepStrictEqual(own, value);
  }
}

/** What is known of a field. */
function fieldOf(name: string, { properties = {}, patternProperties, additionalProperties = {} }: Json): Json {
  if (Object.hasOwn(properties, name)) return properties[name];
  return patternProperties === undefined ? additionalProperties : {};
}

const isType = (type: string, wide: string) => type === wide || (type === 'integer' && wide === 'number');
