/** Compares the keywords of two schemas whose meaning depends on others beside them: fields, items and conditions. */
import { isDeepStrictEqual } from 'node:util';
import type { Keywords, Schema } from '../../engine/schema/json.ts';
import { isMatch } from './value-bounds.ts';

/** Whether every value of one schema fits another. */
type Fits = (inner: Schema, outer: Schema) => boolean;

/** Whether every value of `given` fits a condition of `outer`. */
function isConditioned(keyword: string, outer: Keywords, given: Keywords, fits: Fits): boolean {
  const [wanted = true, own = true] = keyword === 'then' ? [outer.then, given.then] : [outer.else, given.else];
  if (outer.if === undefined) return true;
  return fits(isDeepStrictEqual(outer.if, given.if) ? { allOf: [own, given] } : given, wanted);
}

function dependentsOf({ dependentRequired = {}, dependentSchemas = {} }: Keywords): [name: string, part: Schema][] {
  const required = Object.entries(dependentRequired).map(([name, names]): [string, Schema] => [
    name,
    { required: names },
  ]);
  return [...required, ...Object.entries(dependentSchemas)];
}

/** Whether every value of `given` that has a field fits what `outer` says of such values. */
function isDependent(_keyword: string, outer: Keywords, given: Keywords, fits: Fits): boolean {
  return dependentsOf(outer).every(([name, part]) => {
    const own = dependentsOf(given).filter(([field]) => field === name);
    return fits({ allOf: [...own.map(([, said]) => said), { required: [name] }, given] }, part);
  });
}

/** Whether every list of `given` has as many items that fit `contains` as `outer` says. */
function isContained(keyword: string, outer: Keywords, given: Keywords, fits: Fits): boolean {
  const { contains, minContains = 1, maxContains = Infinity } = outer;
  const { contains: own, minContains: least = 1, maxContains: most = Infinity } = given;
  if (keyword === 'minContains' || contains === undefined) return true;
  if (keyword === 'maxContains') return own !== undefined && most <= maxContains && fits(contains, own);
  return Number(minContains) === 0 || (own !== undefined && least >= minContains && fits(own, contains));
}

/** Whether every list of `given` has items that fit those of `outer`. */
function isOfItems(keyword: string, outer: Keywords, given: Keywords, fits: Fits): boolean {
  const { items = true, prefixItems = [] } = outer;
  const { items: others = true, prefixItems: own = [], maxItems = Infinity } = given;
  if (keyword === 'prefixItems') {
    return prefixItems.every((item, index) => maxItems <= index || fits(own[index] ?? others, item));
  }
  return (
    maxItems <= prefixItems.length || [...own.slice(prefixItems.length), others].every((item) => fits(item, items))
  );
}

/** The schema of a field, or one that allows more. */
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

/** Whether every object of `given` has fields of these names that fit, and others that fit what `outer` says of them. */
function isOfFields(keyword: string, outer: Keywords, given: Keywords, fits: Fits): boolean {
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

type Rule = (keyword: string, outer: Keywords, given: Keywords, fits: Fits) => boolean;

/** `if` by itself says nothing. */
const RULES: [keywords: RegExp, rule: Rule][] = [
  [/^if$/, () => true],
  [/^(then|else)$/, isConditioned],
  [/^(contains|(min|max)Contains)$/, isContained],
  [/^(items|prefixItems)$/, isOfItems],
  [/^(additional|pattern)Properties$/, isOfFields],
  [/^dependent(Required|Schemas)$/, isDependent],
];

/** Says whether every value of `given` fits a keyword of `outer`. Nothing for keywords that are none of these. */
export const ruleOf = (keyword: string): Rule | undefined => RULES.find(([keywords]) => keywords.test(keyword))?.[1];
