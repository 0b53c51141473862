/**
 * Compares keywords that depend on other keywords of the same schema, such as `discriminator`. A rule for each one alone would be wrong.
 */
import { isDeepStrictEqual } from 'node:util';
import { isSubset } from '../../contract/subsets/subsets.ts';
import { type Keywords, keywordsOf, type Schema } from '../../engine/schema/json.ts';
import { subschemasOf } from '../../engine/schema/subschemas.ts';
import { COMPONENT_NAME } from './expand.ts';
import { type ContractChanges, type Direction, relateSets, UNKNOWN, type ValuesRelation } from './rules.ts';

/** Returns changes that count as breaking unless a proof shows the opposite. The given schemas no longer contain documentation. */
export function* compareTogether(
  before: Keywords,
  after: Keywords,
  location: string,
  direction: Direction,
): ContractChanges {
  if (isSeenOtherwise(before, after)) {
    yield { location, what: 'other fields or items may count as unnamed', effect: UNKNOWN };
  }
  // A value that fits two parts does not fit `oneOf`. So if one part changes, the values of the other parts may also change.
  const isSame = !before.oneOf || !after.oneOf || isDeepStrictEqual(before.oneOf, after.oneOf);
  const isSafe = isSame || isChoice(direction === 'request' ? after : before);
  if (!isSafe) yield { location, what: 'values may fit two parts of oneOf', effect: UNKNOWN };
}

/** Keywords for unnamed fields and items, and the keywords that name fields and items for each of them. */
const UNEVALUATED = ['unevaluatedProperties', 'unevaluatedItems'];
const SEEN = [
  ...['allOf', 'anyOf', 'oneOf', 'if', 'then', 'else', '$ref', 'dependentSchemas', 'patternProperties'],
  ...['prefixItems', 'items', 'contains'],
];

function isSeenOtherwise(...schemas: [before: Keywords, after: Keywords]): boolean {
  const has = (key: string) => schemas.some((schema) => key in schema);
  // `additionalProperties` depends only on patterns.
  const seen = (UNEVALUATED.some(has) ? SEEN : ['patternProperties']).filter(has);
  if (seen.length === 0) return false;
  const [old, now] = schemas.map((schema) => [
    Object.keys(schema.properties ?? {}).sort(),
    ...seen.map((key) => schema[key]),
  ]);
  return !isDeepStrictEqual(old, now);
}

/** Whether every value fits at most one part of `oneOf`. */
function isChoice({ oneOf = [], discriminator, ...rest }: Keywords): boolean {
  if (discriminator) return true;
  const whole = oneOf.map((part) => ({ allOf: [part, rest] }));
  return whole.every((part, index) => whole.slice(index + 1).every((other) => isSubset(part, { not: other })));
}

/** Keywords, such as `not`, that may make the whole schema narrower if an inner schema becomes wider. */
const REVERSING = ['not', 'if', 'oneOf', 'contains'];

/**
 * Returns for each reference under such a keyword whether its target is a surrounding schema (`within`) or another one (`outside`). The
 * target may have changed although the reference is equal, so a proof for one version is not valid for the other.
 */
export function reversedIn(schema: Schema, isReversed = false, around: string[] = []): ('within' | 'outside')[] {
  const { $ref, ...keywords } = keywordsOf(schema);
  const inner = subschemasOf(keywords).flatMap(({ subschema, keyword }) => {
    if (!refers(subschema)) return [];
    const isOdd = isReversed || (REVERSING.includes(keyword) && !(keyword === 'oneOf' && isChoice(keywords)));
    return reversedIn(subschema, isOdd, [...around, `#/components/schemas/${keywordsOf(subschema)[COMPONENT_NAME]}`]);
  });
  return isReversed && $ref !== undefined ? [around.includes($ref) ? 'within' : 'outside', ...inner] : inner;
}

const refers = (schema: Schema): boolean =>
  '$ref' in keywordsOf(schema) || subschemasOf(schema).some(({ subschema }) => refers(subschema));

/** A `discriminator` with `oneOf` or `anyOf`: the schemas that its field chooses by name. */
interface Choice {
  propertyName: string;
  /** The name of the schema that each value of the field chooses; empty for a schema without a name. */
  chosen: Record<string, string>;
}

/**
 * Returns undefined if the discriminator has no effect: if there are no alternatives, or if each alternative itself restricts the field to
 * its names.
 */
export function toChoice({ discriminator, oneOf, anyOf }: Keywords): Choice | undefined {
  const branches = (oneOf ?? anyOf ?? []).map(keywordsOf);
  if (!discriminator) return undefined;
  const { propertyName, mapping = {} } = discriminator;
  const isTagged = ({ properties = {}, required = [] }: Keywords) =>
    required.includes(propertyName) && tagsOf(properties[propertyName]).length > 0;
  if (branches.every(isTagged)) return undefined;
  const chosen = branches.flatMap((branch) => {
    // A schema inside itself stays a reference.
    const { [COMPONENT_NAME]: name = '', $ref = String(name) } = branch;
    const schema = $ref.replace(/.*\//, '');
    const named = [schema, `#/components/schemas/${schema}`];
    const mapped = Object.keys(mapping).filter((name) => named.includes(mapping[name] as string));
    const own = tagsOf(branch.properties?.[propertyName]);
    const names = mapped.length > 0 ? mapped : own.length > 0 ? own : [schema];
    return names.map((name) => [name, schema]);
  });
  return { propertyName, chosen: Object.fromEntries(chosen) };
}

function tagsOf(field: Schema | undefined): string[] {
  const { const: only, enum: several } = keywordsOf(field);
  return (several ?? [only ?? []].flat()).map(String);
}

/**
 * Relates the values of two discriminators. Other values fit if only one version has a discriminator, if the field differs, or if a name
 * chooses another schema.
 */
export function relateChoices(before: Choice | undefined, after: Choice | undefined): ValuesRelation {
  if (before?.propertyName !== after?.propertyName) return 'other';
  const [old, now] = [before, after].map((choice) => (choice as Choice).chosen) as [Choice['chosen'], Choice['chosen']];
  if (Object.keys(old).some((name) => Object.hasOwn(now, name) && now[name] !== old[name])) return 'other';
  return relateSets(Object.keys(old), Object.keys(now));
}
