/** Refuses schemas that allow nothing, because each listed value breaks another keyword, and defaults that their own schema refuses. */
import type { BuildCheck } from '../../engine/schema/checks.ts';
import { keywordsOf, type Refuse, type Schema } from '../../engine/schema/json.ts';
import { subschemasOf, targetOf } from '../../engine/schema/subschemas.ts';

/** Keywords under which a schema that allows nothing may be intended. */
const CONDITIONS = ['not', 'if'];

export function refuseImpossible(schema: Schema, name: string, buildCheck: BuildCheck, refuse: Refuse): void {
  const isMeant = (keyword: string) => !CONDITIONS.includes(keyword);
  visit({ schema, name, isMeant }, (own, place) => {
    const keywords = keywordsOf(own);
    const { enum: ofEnum, 'x-extensible-enum': known = [] } = keywords;
    const values = ofEnum ?? ('const' in keywords ? [keywords.const] : known);
    if (values.length === 0 || !isQuick(own)) return;
    const check = buildCheck(own, { name: place, at: '/it' }, () => {});
    const problems = values.map((value) => check(value));
    if (problems.every(Boolean)) refuse(`${place}: allows nothing, not even ${values[0]}: ${problems[0]?.join('; ')}`);
  });
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
export function refuseUnfitDefaults(schema: Schema, name: string, buildCheck: BuildCheck, refuse: Refuse): void {
  const isMeant = (keyword: string) => FILLED.includes(keyword);
  visit({ schema, name, isMeant }, (own, place) => {
    const { default: value } = keywordsOf(own);
    if (value === undefined || !isQuick(own)) return;
    const check = buildCheck(own, { name: place, at: '/it' }, () => {});
    const [problem] = check(value) ?? [];
    const isRounded = typeof value === 'bigint' && !check(Number(value));
    const words = isRounded ? `${value} is too large to be kept exactly` : `is refused by its own schema: ${problem}`;
    if (problem) refuse(`${place}: default ${words}`);
  });
}

interface Visited {
  schema: Schema;
  name: string;
  /** Whether the schemas under a keyword are visited. */
  isMeant: (keyword: string) => boolean;
}

/** Judges a schema and those within it, each once, wherever it is referred to. */
function visit(
  { schema, name, isMeant }: Visited,
  judge: (schema: Schema, name: string) => void,
  seen = new Set<Schema>(),
): void {
  if (seen.has(schema)) return;
  seen.add(schema);
  judge(schema, name);
  for (const { subschema, keyword, name: field } of subschemasOf(schema)) {
    const place = keyword === 'properties' ? `${name}.${field}` : name;
    if (isMeant(keyword)) visit({ schema: subschema, name: place, isMeant }, judge, seen);
  }
}
