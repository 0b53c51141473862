/** Refuses names in `required` that no part of the schema describes: a misspelt name would refuse every value. */
import type { Keywords, Refuse, Schema } from './json.ts';
import { targetOf } from './recursion.ts';
import { scopeOf, subschemasOf } from './subschemas.ts';

/** The field may be described in another part than `required`, as in `anyOf: [{ required: [mail] }, { required: [phone] }]`. */
export function checkRequired(schema: Schema, name: string, refuse: Refuse, seen = new Set<Schema>()): void {
  if (seen.has(schema)) return;
  seen.add(schema);
  const parts = partsOf(schema, new Set());
  const known = parts.flatMap(({ properties = {} }) => Object.keys(properties));
  const required = new Set<string>(parts.flatMap(({ required = [] }) => required));
  for (const field of required) {
    if (!known.includes(field)) refuse(`${name}: requires ${field}, which no properties name`);
  }
  for (const part of parts) {
    for (const { subschema, keyword, name: field } of subschemasOf(part)) {
      const inside = scopeOf(keyword) === 'field' ? field : '*';
      if (scopeOf(keyword) !== 'value') checkRequired(subschema, `${name}.${inside}`, refuse, seen);
    }
  }
}

/** The schema and the schemas within it that describe the same value, each once. */
function partsOf(schema: Schema, seen: Set<Schema>): Keywords[] {
  if (typeof schema === 'boolean' || seen.has(schema)) return [];
  seen.add(schema);
  const inValue = subschemasOf(schema).filter(({ keyword }) => scopeOf(keyword) === 'value');
  return [
    schema,
    ...partsOf(targetOf(schema) ?? true, seen),
    ...inValue.flatMap(({ subschema }) => partsOf(subschema, seen)),
  ];
}
