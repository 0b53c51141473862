/** Schemas that allow nothing, because each value that they name breaks another keyword of theirs. */
import type { BuildCheck } from './checks.ts';
import type { Json, Refuse } from './json.ts';
import { subschemasOf } from './subschemas.ts';

/** Where these stand, a schema that allows nothing may be meant. */
const CONDITIONS = ['not', 'if'];

export function refuseImpossible(schema: Json, name: string, buildCheck: BuildCheck, refuse: Refuse): void {
  const { enum: ofEnum, 'x-extensible-enum': known = [] } = schema;
  const values: Json[] = ofEnum ?? ('const' in Object(schema) ? [schema.const] : known);
  if (values.length > 0) {
    const check = buildCheck(schema, { name, at: '/it' }, () => {});
    const problems = values.map((value) => check(value));
    if (problems.every(Boolean)) refuse(`${name}: allows nothing, not even ${values[0]}: ${problems[0]?.join('; ')}`);
  }
  for (const { subschema, keyword, name: field } of subschemasOf(schema)) {
    const place = keyword === 'properties' ? `${name}.${field}` : name;
    if (!CONDITIONS.includes(keyword)) refuseImpossible(subschema, place, buildCheck, refuse);
  }
}
