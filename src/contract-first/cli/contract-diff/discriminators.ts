/** A `discriminator` beside `oneOf` or `anyOf`, as the schemas that its field chooses by name. */
import { type Keywords, keywordsOf, type Schema } from '../../engine/schema/json.ts';
import { NAME } from './expand.ts';
import { type Relation, relateSets } from './rules.ts';

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
  const isTold = ({ properties = {}, required = [] }: Keywords) =>
    required.includes(propertyName) && tagsOf(properties[propertyName]).length > 0;
  if (branches.every(isTold)) return undefined;
  const chosen = branches.flatMap((branch) => {
    // Within itself, a schema stays a reference.
    const { [NAME]: name = '', $ref = String(name) } = branch;
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
export function relateChoices(before: Choice | undefined, after: Choice | undefined): Relation {
  if (before?.propertyName !== after?.propertyName) return 'other';
  const [old, now] = [before, after].map((choice) => (choice as Choice).chosen) as [Choice['chosen'], Choice['chosen']];
  if (Object.keys(old).some((name) => Object.hasOwn(now, name) && now[name] !== old[name])) return 'other';
  return relateSets(Object.keys(old), Object.keys(now));
}
