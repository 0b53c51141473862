/** Alternatives that refer to themselves are each tried at every depth, so that the time would double with every depth. */
import type { Json, Refuse } from './json.ts';
import { targetOf } from './recursion.ts';
import { mapSubschemas, scopeOf } from './subschemas.ts';

/** With a discriminator only one is tried. `name` is the value's name in problems. */
export function checkChoices(schema: Json, name: string, refuse: Refuse, seen = new Set<Json>()): void {
  if (seen.has(schema)) return;
  seen.add(schema);
  const target = targetOf(schema);
  if (target) checkChoices(target, name, refuse, seen);
  for (const keyword of ['oneOf', 'anyOf'].filter((known) => isSlow(schema[known] ?? []))) {
    refuse(`${name}: several schemas of ${keyword} refer to themselves, which takes a discriminator`);
  }
  mapSubschemas(schema, (subschema, keyword, field) => {
    const inside = { value: '', field: `.${field}`, fields: '.*' }[scopeOf(keyword)];
    checkChoices(subschema, name + inside, refuse, seen);
  });
}

/** Whether one object, or one array, would be checked by several. */
function isSlow(alternatives: Json[]): boolean {
  const recursive = alternatives.filter(isRecursive).map((schema) => targetOf(schema) ?? schema);
  return ['object', 'array'].some((kind) => recursive.filter(({ type = kind }) => type.includes(kind)).length > 1);
}

function isRecursive(schema: Json): boolean {
  let isInside = targetOf(schema) !== undefined;
  mapSubschemas(schema, (subschema) => {
    isInside ||= isRecursive(subschema);
  });
  return isInside;
}
