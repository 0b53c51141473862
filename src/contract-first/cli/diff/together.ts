/**
 * Compares keywords that depend on other keywords of the same schema, such as `discriminator`. Comparing each keyword
 * alone would give wrong results.
 */
import { isDeepStrictEqual } from 'node:util';
import { isSubset } from '../../contract/subsets/subsets.ts';
import { type Keywords, keywordsOf, type Schema } from '../../engine/schema/json.ts';
import { subschemasOf } from '../../engine/schema/subschemas.ts';
import { COMPONENT_NAME } from './expand.ts';
import { type ContractChanges, type Direction, relateSets, UNKNOWN, type ValuesRelation } from './rules.ts';

/**
 * Returns changes that count as breaking, unless a later proof shows that they are harmless. `before` and `after` no
 * longer contain documentation.
 */
export function* compareTogether(
  before: Keywords,
  after: Keywords,
  location: string,
  direction: Direction,
): ContractChanges {
  if (isSeenOtherwise(before, after)) {
    yield { location, what: 'other fields or items may count as unnamed', effect: UNKNOWN };
  }
  // `oneOf` rejects a value that fits two of its subschemas. So if one subschema changes, values of the other
  // subschemas may become invalid.
  const isSame = !before.oneOf || !after.oneOf || isDeepStrictEqual(before.oneOf, after.oneOf);
  const isSafe = isSame || isChoice(direction === 'request' ? after : before);
  if (!isSafe) yield { location, what: 'values may fit two parts of oneOf', effect: UNKNOWN };
}

/** Keywords for fields and items that no other keyword describes. */
const UNEVALUATED = ['unevaluatedProperties', 'unevaluatedItems'];
/** Keywords that describe fields or items, so that `UNEVALUATED` keywords do not apply to these. */
const SEEN = [
  ...['allOf', 'anyOf', 'oneOf', 'if', 'then', 'else', '$ref', 'dependentSchemas', 'patternProperties'],
  ...['prefixItems', 'items', 'contains'],
];

function isSeenOtherwise(...schemas: [before: Keywords, after: Keywords]): boolean {
  const has = (key: string) => schemas.some((schema) => key in schema);
  // `additionalProperties` depends only on `properties`, which is compared below, and on `patternProperties`.
  const seen = (UNEVALUATED.some(has) ? SEEN : ['patternProperties']).filter(has);
  if (seen.length === 0) return false;
  const [old, now] = schemas.map((schema) => [
    Object.keys(schema.properties ?? {}).sort(),
    ...seen.map((key) => schema[key]),
  ]);
  return !isDeepStrictEqual(old, now);
}

/** True if every value fits at most one subschema of `oneOf`. */
function isChoice({ oneOf = [], discriminator, ...rest }: Keywords): boolean {
  if (discriminator) return true;
  const whole = oneOf.map((part) => ({ allOf: [part, rest] }));
  return whole.every((part, index) => whole.slice(index + 1).every((other) => isSubset(part, { not: other })));
}

/** Keywords that may make a schema narrower when a schema inside them becomes wider. */
const REVERSING = ['not', 'if', 'oneOf', 'contains'];

/**
 * Finds references inside the keywords of `REVERSING`. Returns `within` for each reference to a schema around it, and
 * `outside` for each other reference. For these references, comparing only the references proves nothing, because their
 * targets may have changed.
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

/** The effect of a `discriminator` next to `oneOf` or `anyOf`: the value of a field selects one of the alternatives. */
interface Choice {
  propertyName: string;
  /** For each value of the field, the name of the selected schema. The name is empty for a schema without a name. */
  chosen: Record<string, string>;
}

/**
 * Reads a discriminator. Returns undefined without a discriminator, or if each alternative itself requires one of its
 * names in the field.
 */
export function toChoice({ discriminator, oneOf, anyOf }: Keywords): Choice | undefined {
  const branches = (oneOf ?? anyOf ?? []).map(keywordsOf);
  if (!discriminator) return undefined;
  const { propertyName, mapping = {} } = discriminator;
  const isTagged = ({ properties = {}, required = [] }: Keywords) =>
    required.includes(propertyName) && tagsOf(properties[propertyName]).length > 0;
  if (branches.every(isTagged)) return undefined;
  const chosen = branches.flatMap((branch) => {
    // A recursive schema is not expanded, and contains a `$ref` instead of its name.
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
 * Compares the sets of values that two discriminators allow. Returns `other` if only one version has a discriminator,
 * if the field differs, or if a value of the field selects another schema than before.
 */
export function relateChoices(before: Choice | undefined, after: Choice | undefined): ValuesRelation {
  if (before?.propertyName !== after?.propertyName) return 'other';
  const [old, now] = [before, after].map((choice) => (choice as Choice).chosen) as [Choice['chosen'], Choice['chosen']];
  if (Object.keys(old).some((name) => Object.hasOwn(now, name) && now[name] !== old[name])) return 'other';
  return relateSets(Object.keys(old), Object.keys(now));
}
