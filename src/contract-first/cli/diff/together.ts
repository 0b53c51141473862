/** Keywords whose meaning depends on others beside them, `discriminator` among them: a rule for one of them alone would judge wrongly. */
import { isDeepStrictEqual } from 'node:util';
import { isSubset } from '../../contract/subsets/subsets.ts';
import { type Keywords, keywordsOf, type Schema } from '../../engine/schema/json.ts';
import { subschemasOf } from '../../engine/schema/subschemas.ts';
import { COMPONENT_NAME } from './expand.ts';
import { type ContractChanges, type Direction, relateSets, UNKNOWN, type ValuesRelation } from './rules.ts';

/** Changes that break clients where nothing proves the opposite. The schemas are without words. */
export function* compareTogether(
  before: Keywords,
  after: Keywords,
  location: string,
  direction: Direction,
): ContractChanges {
  if (isSeenOtherwise(before, after)) {
    yield { location, what: 'other fields or items may count as unnamed', effect: UNKNOWN };
  }
  // A value that fits two parts does not fit the whole: so one part that widens, or goes, may change what the others allow.
  const isSame = !before.oneOf || !after.oneOf || isDeepStrictEqual(before.oneOf, after.oneOf);
  const isSafe = isSame || isChoice(direction === 'request' ? after : before);
  if (!isSafe) yield { location, what: 'values may fit two parts of oneOf', effect: UNKNOWN };
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
    return reversedIn(subschema, isOdd, [...around, `#/components/schemas/${keywordsOf(subschema)[COMPONENT_NAME]}`]);
  });
  return isReversed && $ref !== undefined ? [around.includes($ref) ? 'within' : 'outside', ...inner] : inner;
}

const refers = (schema: Schema): boolean =>
  '$ref' in keywordsOf(schema) || subschemasOf(schema).some(({ subschema }) => refers(subschema));

/** A `discriminator` beside `oneOf` or `anyOf`, as the schemas that its field chooses by name. */
interface Choice {
  propertyName: string;
  /** By the value of the field: the schema's name, nothing for one that has none. */
  chosen: Record<string, string>;
}

/** Nothing where it is for people only: there is no choice, or each alternative itself requires its names in the field. */
export function toChoice({ discriminator, oneOf, anyOf }: Keywords): Choice | undefined {
  const branches = (oneOf ?? anyOf ?? []).map(keywordsOf);
  if (!discriminator) return undefined;
  const { propertyName, mapping = {} } = discriminator;
  const isTagged = ({ properties = {}, required = [] }: Keywords) =>
    required.includes(propertyName) && tagsOf(properties[propertyName]).length > 0;
  if (branches.every(isTagged)) return undefined;
  const chosen = branches.flatMap((branch) => {
    // Within itself, a schema stays a reference.
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

/** Without it, or by another field, other values fit; a name that chooses another schema says something else. */
export function relateChoices(before: Choice | undefined, after: Choice | undefined): ValuesRelation {
  if (before?.propertyName !== after?.propertyName) return 'other';
  const [old, now] = [before, after].map((choice) => (choice as Choice).chosen) as [Choice['chosen'], Choice['chosen']];
  if (Object.keys(old).some((name) => Object.hasOwn(now, name) && now[name] !== old[name])) return 'other';
  return relateSets(Object.keys(old), Object.keys(now));
}
