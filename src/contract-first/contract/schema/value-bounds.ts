/** Compares the keywords of two schemas that contain no other schema: types, listed values, limits. */
import { isDeepStrictEqual } from 'node:util';
import type { Keywords } from '../../engine/schema/json.ts';
import { isMultiple } from '../../json/exact-number.ts';

/** Keywords whose meaning depends on keywords beside them: equal ones may have another meaning elsewhere. */
export const JOINT =
  /^(contains|(min|max)Contains|if|then|else|items|prefixItems|additionalProperties|unevaluated(Items|Properties))$/;

/** The types that a keyword applies to. Values of other types always fit. */
const TYPES: [keywords: RegExp, types: string[]][] = [
  [/^((min|max)Length|pattern)$/, ['string']],
  [/^((min|max)imum|exclusive(Min|Max)imum|multipleOf)$/, ['number', 'integer']],
  [/^((min|max)(Items|Contains)|uniqueItems|items|prefixItems|contains|unevaluatedItems)$/, ['array']],
  [
    /^(required|(min|max)Properties|propertyNames|(p|additionalP|patternP|unevaluatedP)roperties|dependent.*)$/,
    ['object'],
  ],
];

export function appliesToOtherTypes(keyword: string, given: Keywords): boolean {
  const types = TYPES.find(([keywords]) => keywords.test(keyword))?.[1];
  return types !== undefined && (typesOf(given)?.every((type) => !types.includes(type)) ?? false);
}

type Bound = number | bigint | undefined;

const isAtLeast = (one: Bound, other: Bound) => one !== undefined && other !== undefined && one >= other;
const isMore = (one: Bound, other: Bound) => one !== undefined && other !== undefined && one > other;

function isMultipleOf(value: Bound, { multipleOf, type }: Keywords): boolean {
  const own = multipleOf ?? (type === 'integer' ? 1 : undefined);
  return own !== undefined && value !== undefined && isMultiple(own, value);
}

/** How many ways through a pattern may be tried: some milliseconds. */
const WAYS = 1_000_000;

/** Whether a pattern matches; undefined where it is none, or could take long. Patterns that are none of Unicode are read as they are written. */
export function isMatch(pattern: string, text: string): boolean | undefined {
  if (waysThrough(pattern, text.length) > WAYS) return undefined;
  for (const flags of ['u', '']) {
    try {
      return new RegExp(pattern, flags).test(text);
    } catch {}
  }
  return undefined;
}

/** At most: within a repeated group, each letter is chosen anew; elsewhere, each repetition once, by its length. */
function waysThrough(pattern: string, length: number): number {
  const syntax = pattern.replace(LETTER, '').replaceAll('(?', '(');
  const count = (parts: RegExp) => syntax.match(parts)?.length ?? 0;
  const [repetitions, choices] = [count(/[*+]|\{\d+,/g), count(/[?|]/g)];
  if (!/\)[*+{]/.test(syntax)) return (length + 1) ** (repetitions + 1) * 2 ** choices;
  const times = [...syntax.matchAll(/[{,](\d+)/g)].reduce((sum, [, one]) => sum + Number(one), 0);
  return (repetitions + choices + times + 1) ** (length + 1);
}

/** A letter that is written as several, or a class of letters, which may have no end. */
const LETTER = /\\.|\[(?:\\.|[^\]\\])*\]?/gs;

/** Whether a value keeps a bound of texts or numbers. */
function isKept(keyword: string, limit: unknown, one: unknown): boolean {
  if (typeof one === 'string') {
    const length = [...one].length;
    if (keyword === 'pattern') return isMatch(limit as string, one) === true;
    return keyword === 'minLength' ? length >= Number(limit) : keyword === 'maxLength' && length <= Number(limit);
  }
  const [bound, number] = [limit, one] as [Bound, Bound];
  if (keyword === 'minimum') return isAtLeast(number, bound);
  return keyword === 'maximum' && isAtLeast(bound, number);
}

/** Whether every value of `given` fits this keyword, which contains no schema. */
export function isBounded(keyword: string, value: unknown, given: Keywords): boolean {
  if ('const' in given && isKept(keyword, value, given.const)) return true;
  const { minimum, exclusiveMinimum, maximum, exclusiveMaximum } = given;
  const [limit, own] = [value, given[keyword]] as [Bound, Bound];
  switch (keyword) {
    case 'minimum':
      return isAtLeast(minimum, limit) || isAtLeast(nextTo(exclusiveMinimum, 1n, given), limit);
    case 'exclusiveMinimum':
      return isAtLeast(exclusiveMinimum, limit) || isMore(minimum, limit);
    case 'maximum':
      return isAtLeast(limit, maximum) || isAtLeast(limit, nextTo(exclusiveMaximum, -1n, given));
    case 'exclusiveMaximum':
      return isAtLeast(limit, exclusiveMaximum) || isMore(limit, maximum);
    case 'multipleOf':
      return isMultipleOf(limit, given);
    case 'uniqueItems':
      return given.uniqueItems === true || value === false;
    case 'minProperties':
      return isAtLeast(own ?? new Set(given.required).size, limit);
    case 'minLength':
    case 'minItems':
      return isAtLeast(own, limit) || Number(value) === 0;
    case 'maxLength':
    case 'maxItems':
    case 'maxProperties':
      return isAtLeast(limit, own);
    default:
      return !JOINT.test(keyword) && isDeepStrictEqual(given[keyword], value);
  }
}

/** The first integer beyond an exclusive limit; for other numbers, the limit itself. */
const nextTo = (bound: Bound, step: bigint, { type }: Keywords): Bound =>
  type === 'integer' && bound !== undefined && Number.isInteger(Number(bound)) ? BigInt(bound) + step : bound;

export const isType = (type: string, wide: string) => type === wide || (type === 'integer' && wide === 'number');

/** Whether a value is of a type of the schema. */
export const isOfType = (one: unknown, { type }: Keywords): boolean =>
  type === undefined || [type].flat().some((wide) => isType(typeOf(one), wide));

/** The types that a value may have, if the schema says so. */
export function typesOf(schema: Keywords): string[] | undefined {
  return schema.type === undefined ? valuesOf(schema)?.map(typeOf) : [schema.type].flat();
}

function typeOf(value: unknown): string {
  if (typeof value === 'bigint' || Number.isInteger(value)) return 'integer';
  if (value === null) return 'null';
  return Array.isArray(value) ? 'array' : typeof value;
}

/** All values that fit, if they are listed. */
export function valuesOf(schema: Keywords): unknown[] | undefined {
  if ('const' in schema) return [schema.const];
  return schema.enum ?? (schema.type === 'null' ? [null] : undefined);
}
