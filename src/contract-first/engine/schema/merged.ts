/** Merges the parts of `allOf`. */
import { type Keywords, keywordsOf, type Schema } from './json.ts';

/**
 * Merges the parts of `allOf`. If two parts have the same keyword, or keywords that say something together, the first wins: the
 * result allows at least the same values.
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

/** Keywords for what no other names: merged, they would see less than they did beside all choices of a part. */
const UNEVALUATED = ['unevaluatedProperties', 'unevaluatedItems'];

const without = (keys: string[], schema: Keywords): Keywords =>
  Object.fromEntries(Object.entries(schema).filter(([key]) => !keys.includes(key)));

/** Keywords that say something together: those of two schemas say something else beside each other. */
export const COUPLED = [
  ['if', 'then', 'else'],
  ['contains', 'minContains', 'maxContains'],
  ['items', 'prefixItems'],
  ['additionalProperties', 'patternProperties'],
];
