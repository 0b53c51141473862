/**
 * Rules that prove that all values of one schema (`given`) fit a keyword of a second schema (`outer`). A rule for
 * `type`, `enum` or a limit reads only this keyword. A rule for fields, items or conditions also reads the keywords
 * that this keyword depends on.
 */
import { isDeepStrictEqual } from 'node:util';
import { isMap, type Keywords, keywordsOf, type Schema } from '../../engine/schema/json.ts';
import { subschemasOf, targetOf, toInnerPointer } from '../../engine/schema/subschemas.ts';
import { isMultiple } from '../../json/exact-number.ts';

/** True if every value of `inner` is proven to fit `outer`. */
type Fits = (inner: Schema, outer: Schema) => boolean;

/** True if every value of `given` fits `then` or `else` (`keyword`) of `outer`, if that applies. */
function isConditioned(outer: Keywords, given: Keywords, fits: Fits, keyword: string): boolean {
  const [wanted = true, own = true] = keyword === 'then' ? [outer.then, given.then] : [outer.else, given.else];
  if (outer.if === undefined) return true;
  if (isDeepStrictEqual(outer.if, given.if)) return fits({ allOf: [own, given] }, wanted);
  if (keyword === 'else') return fits(given, wanted);
  const { required = [] } = keywordsOf(outer.if);
  const needed = requiredOf(given).filter(([name]) => required.includes(name));
  return fits({ allOf: [...needed.map(([, part]) => part), outer.if, given] }, wanted);
}

const requiredOf = ({ dependentRequired = {} }: Keywords) =>
  Object.entries(dependentRequired).map(([name, names]): [name: string, part: Schema] => [name, { required: names }]);

/**
 * Returns pairs of a field's name and a schema: an object that contains the field must fit the schema. Such pairs come
 * from `dependentRequired`, `dependentSchemas`, and an `if` that only requires one field.
 */
function dependentsOf(schema: Keywords): [name: string, part: Schema][] {
  const { dependentSchemas = {}, if: condition, then = true } = schema;
  const [name, ...others] = keywordsOf(condition).required ?? [];
  const isOne = name !== undefined && others.length === 0 && Object.keys(keywordsOf(condition)).length === 1;
  return [
    ...requiredOf(schema),
    ...Object.entries(dependentSchemas),
    ...(isOne ? [[name, then] as [string, Schema]] : []),
  ];
}

/** True if every object of `given` fits the schemas that `outer` demands if the object contains certain fields. */
function isDependent(outer: Keywords, given: Keywords, fits: Fits): boolean {
  return dependentsOf(outer).every(([name, part]) => {
    const own = dependentsOf(given).filter(([field]) => field === name);
    return fits({ allOf: [...own.map(([, said]) => said), { required: [name] }, given] }, part);
  });
}

/** True if in every list of `given`, the limits of `outer` allow the number of items that fit `contains`. */
function isContained(outer: Keywords, given: Keywords, fits: Fits, keyword: string): boolean {
  const { contains, minContains = 1, maxContains = Infinity } = outer;
  const { contains: own, minContains: least = 1, maxContains: most = Infinity } = given;
  if (keyword === 'minContains' || contains === undefined) return true;
  if (keyword === 'maxContains') return own !== undefined && most <= maxContains && fits(contains, own);
  return Number(minContains) === 0 || (own !== undefined && least >= minContains && fits(own, contains));
}

/** True if the items of every list of `given` fit `items` or `prefixItems` (`keyword`) of `outer`. */
function isOfItems(outer: Keywords, given: Keywords, fits: Fits, keyword: string): boolean {
  const { items = true, prefixItems = [] } = outer;
  const { items: others = true, prefixItems: own = [], maxItems = Infinity } = given;
  if (keyword === 'prefixItems') {
    return prefixItems.every((item, index) => maxItems <= index || fits(own[index] ?? others, item));
  }
  return (
    maxItems <= prefixItems.length || [...own.slice(prefixItems.length), others].every((item) => fits(item, items))
  );
}

/**
 * Returns the schema of a field. The schema may allow too many values if a pattern in `patternProperties` is invalid or
 * too slow, so that it is unknown whether the pattern matches the field's name.
 */
export function fieldOf(name: string, { properties = {}, patternProperties, additionalProperties }: Keywords): Schema {
  const own = Object.hasOwn(properties, name) ? [properties[name] as Schema] : [];
  const patterns = Object.entries(patternProperties ?? {}).map(([pattern, said]) => ({
    said,
    isNamed: isMatch(pattern, name),
  }));
  const all = [...own, ...patterns.filter(({ isNamed }) => isNamed).map(({ said }) => said)];
  if (all.length > 0) return all.length === 1 ? (all[0] as Schema) : { allOf: all };
  return patterns.some(({ isNamed }) => isNamed === undefined) ? {} : (additionalProperties ?? {});
}

/** True if all fields of every object of `given` fit `additionalProperties` or `patternProperties` of `outer`. */
function isOfFields(outer: Keywords, given: Keywords, fits: Fits, keyword: string): boolean {
  const { properties = {}, patternProperties = {}, additionalProperties: others = true } = outer;
  const { additionalProperties: rest = true, patternProperties: patterned = {} } = given;
  const own = Object.entries(given.properties ?? {});
  if (keyword === 'additionalProperties') {
    const isOther = (name: string) =>
      !Object.hasOwn(properties, name) && !Object.keys(patternProperties).some((pattern) => isMatch(pattern, name));
    const fields = own.filter(([name]) => isOther(name)).map(([, field]) => field);
    const unknown = Object.entries(patterned).filter(([pattern]) => !Object.hasOwn(patternProperties, pattern));
    return [...fields, ...unknown.map(([, field]) => field), rest].every((field) => fits(field, others));
  }
  return Object.entries(patternProperties).every(([pattern, wanted]) => {
    const fields = own.filter(([name]) => isMatch(pattern, name) !== false).map(([, field]) => field);
    const all = [...fields, ...Object.values(patterned), rest];
    return fits(patterned[pattern] ?? true, wanted) || all.every((field) => fits(field, wanted));
  });
}

/**
 * Matches keywords with a meaning that depends on other keywords of the same schema. Two schemas with an equal keyword
 * of this list may therefore still accept different values.
 */
export const JOINT =
  /^(contains|(min|max)Contains|if|then|else|items|prefixItems|additionalProperties|unevaluated(Items|Properties))$/;

/** The types that a keyword applies to. Values of other types always fit. */
const TYPES_OF_KEYWORDS: [keywords: RegExp, types: string[]][] = [
  [/^((min|max)Length|pattern)$/, ['string']],
  [/^((min|max)imum|exclusive(Min|Max)imum|multipleOf)$/, ['number', 'integer']],
  [/^((min|max)(Items|Contains)|uniqueItems|items|prefixItems|contains|unevaluatedItems)$/, ['array']],
  [
    /^(required|(min|max)Properties|propertyNames|(p|additionalP|patternP|unevaluatedP)roperties|dependent.*)$/,
    ['object'],
  ],
];

export function appliesToOtherTypes(keyword: string, given: Keywords): boolean {
  const types = TYPES_OF_KEYWORDS.find(([keywords]) => keywords.test(keyword))?.[1];
  return types !== undefined && (allowedTypesOf(given)?.every((type) => !types.includes(type)) ?? false);
}

type Bound = number | bigint | undefined;

const isAtLeast = (one: Bound, other: Bound) => one !== undefined && other !== undefined && one >= other;
const isMore = (one: Bound, other: Bound) => one !== undefined && other !== undefined && one > other;

/** The maximum number of ways to match a pattern that is tried. Trying them all takes some milliseconds. */
const WAYS = 1_000_000;

/**
 * True if a pattern matches the text. Returns undefined if the pattern is invalid or could take too long. A pattern
 * that is invalid with the flag `u` is tried without this flag.
 */
export function isMatch(pattern: string, text: string): boolean | undefined {
  if (waysThrough(pattern, text.length) > WAYS) return undefined;
  for (const flags of ['u', '']) {
    try {
      return new RegExp(pattern, flags).test(text);
    } catch {}
  }
  return undefined;
}

/**
 * Yields the schema, the schemas inside it and the targets of its recursive references, each once. Skips schemas in
 * `seen`.
 */
export function* schemasIn(schema: Schema | undefined, seen?: Set<unknown>): Generator<Keywords> {
  for (const [one] of locatedSchemasIn(schema, '', seen)) yield one;
}

/** Yields the same schemas as `schemasIn`, each with its JSON Pointer. `at` is the pointer to `schema`. */
export function* locatedSchemasIn(
  schema: Schema | undefined,
  at: string,
  seen = new Set<unknown>(),
): Generator<[schema: Keywords, pointer: string]> {
  if (!isMap(schema) || seen.has(schema)) return;
  seen.add(schema);
  yield [schema, at];
  yield* locatedSchemasIn(targetOf(schema), at, seen);
  yield* locatedSchemasIn(schema.propertyNames, `${at}/propertyNames`, seen);
  for (const inner of subschemasOf(schema)) yield* locatedSchemasIn(inner.subschema, at + toInnerPointer(inner), seen);
}

/** Returns the patterns inside a schema, both for texts and for names of fields. */
export const patternsIn = (schema: Schema | undefined): string[] =>
  [...schemasIn(schema)].flatMap(({ pattern = [], patternProperties = {} }) =>
    [pattern, Object.keys(patternProperties)].flat(),
  );

/**
 * Returns an upper bound for the number of ways to match a text of this length with a pattern. A repetition such as
 * `a*` can end after any letter. A repeated group can choose among all its alternatives again at each letter, so the
 * number grows exponentially with the length.
 */
function waysThrough(pattern: string, length: number): number {
  const syntax = pattern.replace(LETTER, '').replaceAll('(?', '(');
  const count = (parts: RegExp) => syntax.match(parts)?.length ?? 0;
  const [repetitions, choices] = [count(/[*+]|\{\d+,/g), count(/[?|]/g)];
  if (!/\)[*+{]/.test(syntax)) return (length + 1) ** (repetitions + 1) * 2 ** choices;
  const times = [...syntax.matchAll(/[{,](\d+)/g)].reduce((sum, [, one]) => sum + Number(one), 0);
  return (repetitions + choices + times + 1) ** (length + 1);
}

/**
 * Matches an escape sequence or a class such as `[a-z]`, which may be unclosed. Every match represents one letter of
 * the text.
 */
const LETTER = /\\.|\[(?:\\.|[^\]\\])*\]?/gs;

/** True if a text or a number respects a limit, such as `maxLength`. */
export function isWithinLimit(keyword: string, limit: unknown, one: unknown): boolean {
  if (typeof one === 'string') {
    const length = [...one].length;
    if (keyword === 'pattern') return isMatch(limit as string, one) === true;
    return keyword === 'minLength' ? length >= Number(limit) : keyword === 'maxLength' && length <= Number(limit);
  }
  const [bound, number] = [limit, one] as [Bound, Bound];
  if (keyword === 'minimum') return isAtLeast(number, bound);
  return keyword === 'maximum' && isAtLeast(bound, number);
}

/** Proves that every value of `given` fits the keyword of `outer`. Returns false without a proof. */
export type SubsetRule = (outer: Keywords, given: Keywords, fits: Fits, keyword: string) => boolean;

const isNoLower: SubsetRule = (outer, given, _fits, keyword) =>
  isAtLeast(given[keyword] as Bound, outer[keyword] as Bound) || Number(outer[keyword]) === 0;
const isNoHigher: SubsetRule = (outer, given, _fits, keyword) =>
  isAtLeast(outer[keyword] as Bound, given[keyword] as Bound);

export const RULES: Record<string, SubsetRule> = {
  type: ({ type = [] }, given) =>
    allowedTypesOf(given)?.every((one) => [type].flat().some((wide) => isType(one, wide))) ?? false,
  const: (outer, given) => isAmong(given, [outer.const]),
  enum: (outer, given) => isAmong(given, outer.enum),
  minimum: ({ minimum: limit }, given) =>
    isAtLeast(given.minimum, limit) || isAtLeast(nextTo(given.exclusiveMinimum, 1n, given), limit),
  exclusiveMinimum: ({ exclusiveMinimum: limit }, { minimum, exclusiveMinimum }) =>
    isAtLeast(exclusiveMinimum, limit) || isMore(minimum, limit),
  maximum: ({ maximum: limit }, given) =>
    isAtLeast(limit, given.maximum) || isAtLeast(limit, nextTo(given.exclusiveMaximum, -1n, given)),
  exclusiveMaximum: ({ exclusiveMaximum: limit }, { maximum, exclusiveMaximum }) =>
    isAtLeast(limit, exclusiveMaximum) || isMore(limit, maximum),
  multipleOf: ({ multipleOf: limit }, { type, multipleOf = type === 'integer' ? 1 : undefined }) =>
    multipleOf !== undefined && limit !== undefined && isMultiple(multipleOf, limit),
  minLength: isNoLower,
  maxLength: isNoHigher,
  minItems: isNoLower,
  maxItems: isNoHigher,
  uniqueItems: ({ uniqueItems }, given) => given.uniqueItems === true || uniqueItems === false,
  minProperties: (outer, { required, minProperties = new Set(required).size }) =>
    isAtLeast(minProperties as Bound, outer.minProperties as Bound),
  maxProperties: isNoHigher,
  required: ({ required = [] }, given) => required.every((name) => given.required?.includes(name)),
  // `if` alone does not restrict values.
  if: () => true,
  // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
  then: isConditioned,
  else: isConditioned,
  contains: isContained,
  minContains: isContained,
  maxContains: isContained,
  items: isOfItems,
  prefixItems: isOfItems,
  additionalProperties: isOfFields,
  patternProperties: isOfFields,
  dependentRequired: isDependent,
  dependentSchemas: isDependent,
};

const isAmong = (given: Keywords, values: unknown[] = []): boolean =>
  valuesOf(given)?.every((one) => values.some((other) => isDeepStrictEqual(one, other))) ?? false;

/**
 * Returns the first integer that an exclusive limit allows. Returns the limit itself if the schema also allows
 * fractions.
 */
const nextTo = (bound: Bound, step: bigint, { type }: Keywords): Bound =>
  type === 'integer' && bound !== undefined && Number.isInteger(Number(bound)) ? BigInt(bound) + step : bound;

export const isType = (type: string, wide: string) => type === wide || (type === 'integer' && wide === 'number');

/** True if the schema's `type` allows the value. */
export const isOfType = (one: unknown, { type }: Keywords): boolean =>
  type === undefined || [type].flat().some((wide) => isType(typeOf(one), wide));

/** Returns the types that a value may have; undefined if the schema does not restrict them. */
export function allowedTypesOf(schema: Keywords): string[] | undefined {
  return schema.type === undefined ? valuesOf(schema)?.map(typeOf) : [schema.type].flat();
}

function typeOf(value: unknown): string {
  if (typeof value === 'bigint' || Number.isInteger(value)) return 'integer';
  if (value === null) return 'null';
  return Array.isArray(value) ? 'array' : typeof value;
}

/** Returns the values that the schema lists by `const` or `enum`; undefined if it lists none. */
export function valuesOf(schema: Keywords): unknown[] | undefined {
  if ('const' in schema) return [schema.const];
  return schema.enum ?? (schema.type === 'null' ? [null] : undefined);
}
