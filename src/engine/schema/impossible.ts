/** Refuses schemas that allow nothing, because each listed value breaks another keyword, and defaults that their own schema refuses. */
import type { BuildCheck } from './checks.ts';
import { keywordsOf, type Refuse, type Schema } from './json.ts';
import { targetOf } from './recursion.ts';
import { subschemasOf } from './subschemas.ts';

/** Keywords under which a schema that allows nothing may be intended. */
const CONDITIONS = ['not', 'if'];

/** A schema is looked at once, wherever it is referred to. */
export function refuseImpossible(
  schema: Schema,
  name: string,
  buildCheck: BuildCheck,
  refuse: Refuse,
  seen = new Set<Schema>(),
): void {
  if (seen.has(schema)) return;
  seen.add(schema);
  const keywords = keywordsOf(schema);
  const { enum: ofEnum, 'x-extensible-enum': known = [] } = keywords;
  const values = ofEnum ?? ('const' in keywords ? [keywords.const] : known);
  if (values.length > 0 && isQuick(schema)) {
    const check = buildCheck(schema, { name, at: '/it' }, () => {});
    const problems = values.map((value) => check(value));
    if (problems.every(Boolean)) refuse(`${name}: allows nothing, not even ${values[0]}: ${problems[0]?.join('; ')}`);
  }
  for (const { subschema, keyword, name: field } of subschemasOf(schema)) {
    const place = keyword === 'properties' ? `${name}.${field}` : name;
    if (!CONDITIONS.includes(keyword)) refuseImpossible(subschema, place, buildCheck, refuse, seen);
  }
}

/** A pattern without groups, and with one repetition at most. */
const QUICK = /^[^(*+?{]*(?:[*+?{][^(*+?{]*)?$/;

/** Whether values may be tried: nobody has judged the patterns yet, and one may take years. */
export function isQuick(schema: Schema | undefined, seen = new Set<unknown>()): boolean {
  if (schema === undefined || seen.has(schema)) return true;
  seen.add(schema);
  const { pattern = '', patternProperties = {}, propertyNames } = keywordsOf(schema);
  const within = [targetOf(schema), propertyNames, ...subschemasOf(schema).map(({ subschema }) => subschema)];
  return (
    [pattern, ...Object.keys(patternProperties)].every((one) => QUICK.test(one)) &&
    within.every((one) => isQuick(one, seen))
  );
}

/** Keywords under which a default is filled in. */
export const FILLED = ['properties', 'items', 'allOf', 'additionalProperties'];

/** Each request that leaves the value out would be refused. */
export function refuseUnfitDefaults(
  schema: Schema,
  name: string,
  buildCheck: BuildCheck,
  refuse: Refuse,
  seen = new Set<Schema>(),
): void {
  if (seen.has(schema)) return;
  seen.add(schema);
  const { default: own } = keywordsOf(schema);
  if (own !== undefined && isQuick(schema)) {
    const check = buildCheck(schema, { name, at: '/it' }, () => {});
    const [problem] = check(own) ?? [];
    const isRounded = typeof own === 'bigint' && !check(Number(own));
    const words = isRounded ? `${own} is too large to be kept exactly` : `is refused by its own schema: ${problem}`;
    if (problem) refuse(`${name}: default ${words}`);
  }
  for (const { subschema, keyword, name: field } of subschemasOf(schema)) {
    const place = keyword === 'properties' ? `${name}.${field}` : name;
    if (FILLED.includes(keyword)) refuseUnfitDefaults(subschema, place, buildCheck, refuse, seen);
  }
}
