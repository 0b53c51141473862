/** Finds the types of the values that a schema allows, and merges the members of `allOf`. */
import { type Keywords, keywordsOf, type Schema } from './json.ts';

/** The types of values that a parameter writes as one text. */
const SCALAR_TYPES = ['string', 'integer', 'number', 'boolean'];

export const isSimple = (schema: Schema): boolean => typesOf(schema).every((type) => SCALAR_TYPES.includes(type));

/** True if the schema allows arrays of simple values. The schema may also allow a simple value in place of an array. */
export function isList(schema: Schema): boolean {
  const types = typesOf(schema);
  const others = types.filter((type) => type !== 'array');
  const items = itemsOf(schema);
  return (
    others.length < types.length &&
    others.every((type) => SCALAR_TYPES.includes(type)) &&
    items !== undefined &&
    isSimple(items)
  );
}

/** Returns the schema of the items of an array. Returns undefined if items have schemas by position (`prefixItems`). */
export function itemsOf(schema: Schema): Schema | undefined {
  const all = partsOf(schema);
  const items = all.flatMap(({ items: own }): Schema[] => (own === undefined ? [] : [own]));
  if (all.some(({ prefixItems }) => prefixItems)) return undefined;
  return items.length > 1 ? { anyOf: items } : (items[0] ?? {});
}

/** Returns the keywords of a schema, and of the schemas in its `allOf`, `anyOf` and `oneOf`. */
function partsOf(schema: Schema): Keywords[] {
  const keywords = keywordsOf(schema);
  const { allOf = [], anyOf = [], oneOf = [] } = keywords;
  return [keywords, ...[...allOf, ...anyOf, ...oneOf].flatMap(partsOf)];
}

/** Returns the types that a value may have, without `null`; `string` if the schema names none. */
export function typesOf(schema: Schema): string[] {
  const types = [...new Set(saidTypes(schema))].filter((type) => type !== 'null');
  return types.length > 0 ? types : ['string'];
}

function saidTypes(schema: Schema): string[] {
  const { type, properties, enum: values = [], allOf = [], anyOf = [], oneOf = [] } = keywordsOf(schema);
  const parts = [...allOf, ...anyOf, ...oneOf].flatMap(saidTypes);
  const own = [type ?? (properties ? 'object' : [])].flat();
  return own.length + parts.length > 0 ? [...own, ...parts] : values.map((value) => typeof value);
}

/**
 * Merges the members of `allOf` into one schema. If two members contain the same keyword, or keywords that depend on
 * each other, only the keywords of the first member are kept. So the merged schema allows all values that the original
 * allows, and possibly more.
 */
export function mergeAllOf(schema: Schema): Keywords {
  const keywords = keywordsOf(schema);
  const { allOf, ...own } = keywords;
  if (!allOf) return keywords;
  const parts = [own, ...allOf.map(mergeAllOf)].filter((part) => Object.keys(part).length > 0);
  if (parts.length < 2) return parts[0] ?? {};
  for (const group of COUPLED) {
    const others = parts.filter((part) => group.some((key) => key in part)).slice(1);
    for (const part of others) parts[parts.indexOf(part)] = without(group, part);
  }
  const properties = Object.fromEntries(parts.toReversed().flatMap((part) => Object.entries(part.properties ?? {})));
  const required = parts.flatMap((part) => part.required ?? []);
  return without(UNEVALUATED, { ...Object.assign({}, ...parts.toReversed()), properties, required });
}

/**
 * Keywords for undeclared fields and items, dropped from a merged schema because the merge can remove declarations of
 * fields.
 */
const UNEVALUATED = ['unevaluatedProperties', 'unevaluatedItems'];

const without = (keys: string[], schema: Keywords): Keywords =>
  Object.fromEntries(Object.entries(schema).filter(([key]) => !keys.includes(key)));

/**
 * Groups of keywords that depend on each other. A merged schema must not mix keywords of one group from two schemas,
 * because that would change their meaning.
 */
const COUPLED = [
  ['if', 'then', 'else'],
  ['contains', 'minContains', 'maxContains'],
  ['items', 'prefixItems'],
  ['additionalProperties', 'patternProperties'],
];

const larger = <Value>(one: Value, other: Value): Value => (other > one ? other : one);
const smaller = <Value>(one: Value, other: Value): Value => (other < one ? other : one);

/** Functions that choose the stricter of two values of a keyword. */
const STRICTER = {
  ...{ minimum: larger, exclusiveMinimum: larger, minLength: larger, minItems: larger, minProperties: larger },
  ...{ maximum: smaller, exclusiveMaximum: smaller, maxLength: smaller, maxItems: smaller, maxProperties: smaller },
  /**
   * Only texts are compared: of two equal numbers, one may be a number and the other a bigint. Values of other types in
   * the first list are kept. If no value would be left, the whole first list is kept.
   */
  enum: (one: unknown[], other: unknown[]) => {
    const both = one.filter((value) => typeof value !== 'string' || other.includes(value));
    return both.length > 0 ? both : one;
  },
};

/**
 * Collects the strictest limits of several schemas that apply to the same value, in order to show them as one schema.
 * `mergeAllOf` cannot be used for this, because it would keep the first limit.
 */
export function strictestOf(parts: Keywords[]): Keywords {
  const limits = Object.entries(STRICTER).map(([key, choose]) => {
    const values = parts.map((part) => part[key]).filter((value) => value !== undefined);
    return [key, values.length > 0 ? values.reduce(choose as typeof larger) : undefined] as const;
  });
  return Object.fromEntries(limits.filter(([, value]) => value !== undefined));
}
