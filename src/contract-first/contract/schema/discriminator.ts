/**
 * `discriminator` beside `oneOf` or `anyOf` (OpenAPI 3.1, section 4.8.25): the field selects one schema, and only that one is checked,
 * so that errors are about nothing else.
 */

import { type Keywords, keywordsOf, type Refuse, type Schema } from '../../engine/schema/json.ts';
import { isRecursion } from '../../engine/schema/subschemas.ts';

export type Discriminated = Keywords & Required<Pick<Keywords, 'discriminator'>>;

/** `source` has unresolved references, whose names are the values of the field; `resolved` is the resolved schema. */
export function discriminated(source: Keywords, resolved: Discriminated, refuse: Refuse): Keywords {
  const { anyOf = [], oneOf: branches = anyOf, discriminator, ...others } = resolved;
  const { propertyName, mapping = {} } = discriminator;
  const references = (source.oneOf ?? source.anyOf) as Schema[];
  const named = branches.map((branch, index) => ({
    names: namesOf(references[index], branch, propertyName, mapping),
    branch,
  }));
  if (named.some(({ names }) => names.length === 0)) {
    refuse(`discriminator ${propertyName}: each alternative needs a name, by $ref, or by const or enum`);
  } else if (![resolved, ...branches].some((one) => mayHave(propertyName, one))) {
    refuse(`discriminator ${propertyName}: no alternative has this field`);
  }
  const choice = { enum: named.flatMap(({ names }) => names) };
  const chosen = named.map(({ names, branch }) => ({
    if: { properties: { [propertyName]: { enum: names } }, required: [propertyName] },
    // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
    then: branch,
  }));
  const tagged = { type: 'object', required: [propertyName], properties: { [propertyName]: choice } };
  return { ...others, allOf: [...(others.allOf ?? []), tagged, ...chosen] };
}

/** Whether a schema, or a part of it, says something of the field, or is not resolved yet. */
function mayHave(name: string, schema: Schema): boolean {
  const { properties = {}, allOf = [], anyOf = [], oneOf = [] } = keywordsOf(schema);
  return isRecursion(schema) || name in properties || [...allOf, ...anyOf, ...oneOf].some((one) => mayHave(name, one));
}

/** The names of a branch: from the mapping, else from the field's `enum` or `const`, else the last part of its reference. */
function namesOf(
  reference: Schema | undefined,
  branch: Schema,
  propertyName: string,
  mapping: Record<string, string>,
): unknown[] {
  const { $ref } = keywordsOf(reference);
  const last = $ref?.split('/').at(-1);
  const mapped = Object.keys(mapping).filter((name) => $ref && [$ref, last].includes(mapping[name] as string));
  if (mapped.length > 0) return mapped;
  const { const: only, enum: several } = keywordsOf(keywordsOf(branch).properties?.[propertyName]);
  return several ?? (only === undefined ? [last ?? []].flat() : [only]);
}
