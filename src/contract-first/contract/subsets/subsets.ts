/**
 * Proves that every value of one schema fits another schema. If a function here returns false, there is only no proof.
 */
import { isDeepStrictEqual } from 'node:util';
import { isMap, type Keywords, type Schema } from '../../engine/schema/json.ts';
import { ANNOTATION } from '../../engine/schema/keys.ts';
import { mapSubschemas, targetOf } from '../../engine/schema/subschemas.ts';
import { mergeAllOf } from '../../engine/schema/value-types.ts';
import {
  allowedTypesOf,
  appliesToOtherTypes,
  fieldOf,
  isOfType,
  isType,
  isWithinLimit,
  JOINT,
  RULES as OF_KEYWORDS,
  type SubsetRule,
  valuesOf,
} from './keyword-subsets.ts';

/**
 * The remaining number of comparisons. A proof that needs more comparisons fails. The limit is a number and not a time,
 * so that a busy machine proves as much as an idle one.
 */
export interface Steps {
  left: number;
}

const NO_LIMIT: Steps = { left: Infinity };
let steps = NO_LIMIT;

/** True if every value of `inner` is proven to fit `outer`. */
export function isSubset(inner: Schema, outer: Schema, limit = NO_LIMIT): boolean {
  steps = limit;
  return fits(toBare(inner), toBare(outer));
}

const bare = new WeakMap<Keywords, Schema>();

/**
 * Removes annotations, and replaces each recursive reference by a number for its target, so that two schemas with the
 * same rules are deeply equal. The result is cached for each schema.
 */
function toBare(schema: Schema): Schema {
  if (typeof schema === 'boolean') return schema;
  const known = bare.get(schema);
  if (known !== undefined) return known;
  const target = targetOf(schema);
  const entries = Object.entries(mapSubschemas(schema, toBare)).filter(([keyword]) => !ANNOTATION.test(keyword));
  const isNever = entries.some(([keyword, value]) => keyword === 'not' && value === true);
  const made = target
    ? { recursion: numberOf(target) }
    : !isNever && (entries.length === 0 || Object.fromEntries(entries));
  bare.set(schema, made);
  return made;
}

const numbers = new WeakMap<object, number>();
let next = 0;

function numberOf(target: Keywords): number {
  const number = numbers.get(target) ?? next++;
  numbers.set(target, number);
  return number;
}

/** True if a schema allows no fields except those in `properties`. */
export const isClosed = ({ additionalProperties, patternProperties }: Keywords) =>
  additionalProperties === false && patternProperties === undefined;

function fits(inner: Schema, outer: Schema): boolean {
  if (outer === true || inner === false) return true;
  if (outer === false || steps.left-- <= 0) return false;
  const given = mergeAllOf(inner);
  const isOpen = (keyword: string) => JOINT.test(keyword) || !isDeepStrictEqual(given[keyword], outer[keyword]);
  return isDeepStrictEqual(inner, outer) || proves(given, Object.keys(outer).filter(isOpen), outer);
}

/** True if each alternative of `given` is proven to fit these keywords of `outer`. */
function proves(given: Keywords, keywords: string[], outer: Keywords): boolean {
  const alternatives = keywords.length > 0 ? alternativesOf(given) : [];
  if (alternatives.length > 0) return alternatives.every((one) => proves(one, keywords, outer));
  return keywords.every((keyword) => appliesToOtherTypes(keyword, given) || holds(keyword, outer, given));
}

function alternativesOf({ anyOf, oneOf, ...rest }: Keywords): Keywords[] {
  const choices = anyOf ?? oneOf ?? [];
  if (choices.length > 0) return choices.map((choice) => mergeAllOf({ allOf: [choice, rest] }));
  if (Array.isArray(rest.type)) return rest.type.map((type) => ({ ...rest, type }));
  const { enum: values = [], ...others } = rest;
  const typed = values.filter((one) => isOfType(one, others));
  return 'const' in others ? [] : typed.map((one) => ({ ...others, const: one }));
}

const RULES = new Map<string, SubsetRule>(
  Object.entries({
    ...OF_KEYWORDS,
    allOf: ({ allOf = [] }, given) => allOf.every((part) => fits(given, part)),
    anyOf: ({ anyOf = [] }, given) => anyOf.some((part) => fits(given, part)),
    oneOf: ({ oneOf = [] }, given) =>
      oneOf.some(
        (part, index) => fits(given, part) && oneOf.every((other, at) => at === index || isApart(given, other)),
      ),
    not: ({ not = false }, given) => isApart(given, not) || (given.not !== undefined && fits(not, given.not)),
    properties: ({ properties = {} }, given) =>
      Object.entries(properties).every(([name, field]) => fits(fieldOf(name, given), field)),
    propertyNames: ({ propertyNames = true }, given) => namesOf(given).every((name) => fits(name, propertyNames)),
  } satisfies Record<string, SubsetRule>),
);

/**
 * True if every value of `given` is proven to fit one keyword of `outer`. If `RULES` lacks a rule for the keyword, only
 * an equal value of the keyword in `given` is a proof.
 */
function holds(keyword: string, outer: Keywords, given: Keywords): boolean {
  if ('const' in given && isWithinLimit(keyword, outer[keyword], given.const)) return true;
  const rule = RULES.get(keyword);
  if (rule) return rule(outer, given, fits, keyword);
  return !JOINT.test(keyword) && isDeepStrictEqual(given[keyword], outer[keyword]);
}

/** Returns schemas for the possible names of fields. */
const namesOf = (given: Keywords): Schema[] =>
  isClosed(given)
    ? Object.keys(given.properties ?? {}).map((name) => ({ const: name }))
    : [given.propertyNames ?? true];

/**
 * Returns the same text for equal values; a number and a `bigint` of the same value count as equal. The text is the
 * same for all objects, so different texts prove that two values differ.
 */
const toText = (value: unknown): string =>
  JSON.stringify(value, (_name, inner) => {
    if (typeof inner === 'bigint') return Number(inner);
    return isMap(inner) ? {} : inner;
  });

/**
 * True if no value fits both schemas, because of their types, their listed values, or a field that one of them
 * requires.
 */
function isApart(one: Schema, other: Schema): boolean {
  if (one === false || other === false) return true;
  const [left, right] = [mergeAllOf(one), mergeAllOf(other)];
  const [types, others] = [allowedTypesOf(left), allowedTypesOf(right)];
  if (!types || !others) return false;
  if (!types.some((type) => others.some((wide) => isType(type, wide) || isType(wide, type)))) return true;
  const [values, listed] = [valuesOf(left)?.map(toText), valuesOf(right)?.map(toText)];
  if (values && listed) return !values.some((value) => listed.includes(value));
  const required = new Set([left, right].flatMap((schema) => schema.required ?? []));
  const areObjects = [...types, ...others].every((type) => type === 'object');
  return areObjects && [...required].some((name) => isApart(fieldOf(name, left), fieldOf(name, right)));
}
