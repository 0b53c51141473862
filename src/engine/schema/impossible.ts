/** Refuses schemas that allow nothing, because each listed value breaks another keyword, and defaults that their own schema refuses. */
import type { BuildCheck } from './checks.ts';
import { keywordsOf, type Refuse, type Schema } from './json.ts';
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
  if (values.length > 0) {
    const check = buildCheck(schema, { name, at: '/it' }, () => {});
    const problems = values.map((value) => check(value));
    if (problems.every(Boolean)) refuse(`${name}: allows nothing, not even ${values[0]}: ${problems[0]?.join('; ')}`);
  }
  for (const { subschema, keyword, name: field } of subschemasOf(schema)) {
    const place = keyword === 'properties' ? `${name}.${field}` : name;
    if (!CONDITIONS.includes(keyword)) refuseImpossible(subschema, place, buildCheck, refuse, seen);
  }
}

/** Keywords under which a default is filled in. */
const FILLED = ['properties', 'items', 'allOf', 'additionalProperties'];

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
  const [problem] = (own !== undefined && buildCheck(schema, { name, at: '/it' }, () => {})(own)) || [];
  if (problem) refuse(`${name}: default is refused by its own schema: ${problem}`);
  for (const { subschema, keyword, name: field } of subschemasOf(schema)) {
    const place = keyword === 'properties' ? `${name}.${field}` : name;
    if (FILLED.includes(keyword)) refuseUnfitDefaults(subschema, place, buildCheck, refuse, seen);
  }
}
