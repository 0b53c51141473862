/** Changes of keywords whose meaning depends on others beside them: a rule for one of them alone would judge wrongly. */
import { isDeepStrictEqual } from 'node:util';
import { isSubset } from '../../contract/schema/subsets.ts';
import { type Keywords, keywordsOf, type Schema } from '../../engine/schema/json.ts';
import { subschemasOf } from '../../engine/schema/subschemas.ts';
import { UNKNOWN } from './change.ts';
import { NAME } from './expand.ts';
import type { Changes, Direction } from './rules.ts';

/** Changes that break clients where nothing proves the opposite. The schemas are without words. */
export function* compareTogether(before: Keywords, after: Keywords, place: string, direction: Direction): Changes {
  if (isSeenOtherwise(before, after)) {
    yield { place, what: 'other fields or items may count as unnamed', effect: UNKNOWN };
  }
  // A value that fits two parts does not fit the whole: so one part that widens, or goes, may change what the others allow.
  const isSame = !before.oneOf || !after.oneOf || isDeepStrictEqual(before.oneOf, after.oneOf);
  const isSafe = isSame || isChoice(direction === 'request' ? after : before);
  if (!isSafe) yield { place, what: 'values may fit two parts of oneOf', effect: UNKNOWN };
}

/** Keywords for what no other names, and those whose fields and items they see. */
const UNEVALUATED = ['unevaluatedProperties', 'unevaluatedItems'];
const SEEN = [
  ...['allOf', 'anyOf', 'oneOf', 'if', 'then', 'else', '$ref', 'dependentSchemas', 'patternProperties'],
  ...['prefixItems', 'items', 'contains'],
];

function isSeenOtherwise(...schemas: [before: Keywords, after: Keywords]): boolean {
  const has = (key: string) => schemas.some((schema) => key in schema);
  // `additionalProperties` sees patterns only.
  const seen = (UNEVALUATED.some(has) ? SEEN : ['patternProperties']).filter(has);
  if (seen.length === 0) return false;
  const [old, now] = schemas.map((schema) => [
    Object.keys(schema.properties ?? {}).sort(),
    ...seen.map((key) => schema[key]),
  ]);
  return !isDeepStrictEqual(old, now);
}

/** Whether no value fits two parts of `oneOf`. */
function isChoice({ oneOf = [], discriminator, ...rest }: Keywords): boolean {
  if (discriminator) return true;
  const whole = oneOf.map((part) => ({ allOf: [part, rest] }));
  return whole.every((part, index) => whole.slice(index + 1).every((other) => isSubset(part, { not: other })));
}

/** Keywords under which a schema that allows more may make the whole allow less. */
const REVERSING = ['not', 'if', 'oneOf', 'contains'];

/**
 * For each reference under such a keyword, where its target is: equal references stand for what may have changed, and there a proof
 * for the one says nothing of the other.
 */
export function reversedIn(schema: Schema, isReversed = false, around: string[] = []): ('within' | 'outside')[] {
  const { $ref, ...keywords } = keywordsOf(schema);
  const inner = subschemasOf(keywords).flatMap(({ subschema, keyword }) => {
    if (!refers(subschema)) return [];
    const isOdd = isReversed || (REVERSING.includes(keyword) && !(keyword === 'oneOf' && isChoice(keywords)));
    return reversedIn(subschema, isOdd, [...around, `#/components/schemas/${keywordsOf(subschema)[NAME]}`]);
  });
  return isReversed && $ref !== undefined ? [around.includes($ref) ? 'within' : 'outside', ...inner] : inner;
}

const refers = (schema: Schema): boolean =>
  '$ref' in keywordsOf(schema) || subschemasOf(schema).some(({ subschema }) => refers(subschema));
