/** Refuses names in `required` that no part of the schema describes: a misspelt name would refuse every value. */
import type { Keywords, Refuse, Schema } from '../../engine/schema/json.ts';
import { scopeOf, subschemasOf, targetOf } from '../../engine/schema/subschemas.ts';
import { isClosed } from './subsets.ts';

/** The field may be described in another part than `required`, as in `anyOf: [{ required: [mail] }, { required: [phone] }]`. */
export function checkRequired(schema: Schema, name: string, refuse: Refuse, seen = new Set<Schema>()): void {
  if (seen.has(schema)) return;
  seen.add(schema);
  const parts = partsOf(schema, isOfValue);
  for (const field of unnamedIn(parts, parts)) refuse(`${name}: ${unnamed(field)}`);
  for (const part of parts) {
    for (const { subschema, keyword, name: field } of subschemasOf(part)) {
      const inside = scopeOf(keyword) === 'field' ? field : '*';
      if (scopeOf(keyword) !== 'value') checkRequired(subschema, `${name}.${inside}`, refuse, seen);
    }
  }
}

/** Refuses a schema that no reply can fit: only objects may, and a field that they require has no name, and so is never sent. */
export function checkSendable(schema: Schema, name: string, refuse: Refuse, seen = new Set<Schema>()): void {
  if (seen.has(schema)) return;
  seen.add(schema);
  const [sure, all] = [partsOf(schema, (keyword) => keyword === 'allOf'), partsOf(schema, isOfValue)];
  const isObject = isAlways('object', sure);
  const unsent = !isObject || mayHaveMore(all) ? [] : unnamedIn(sure, all);
  for (const field of unsent) refuse(`${name}: ${unnamed(field)}`);
  const closed = isObject ? sure.filter(isClosed) : [];
  for (const field of closed.flatMap((part) => unnamedIn(sure, [part])).filter((one) => !unsent.includes(one)))
    refuse(`${name}: requires ${field}, which a part of it with additionalProperties: false does not name`);
  const required = new Set(isObject ? sure.flatMap(({ required = [] }) => required) : []);
  const hasItems = isAlways('array', sure) && sure.some(({ minItems = 0 }) => minItems > 0);
  for (const part of sure) {
    for (const { subschema, keyword, name: field } of subschemasOf(part)) {
      const isField = keyword === 'properties' && required.has(field);
      const isItem = keyword === 'items' && hasItems;
      if (isField || isItem) checkSendable(subschema, `${name}.${isField ? field : '*'}`, refuse, seen);
    }
  }
}

const isAlways = (type: string, parts: Keywords[]) =>
  parts.some((part) => [part.type].flat().every((one) => one === type));

const unnamed = (field: string) => `requires ${field}, which no properties name`;

function unnamedIn(parts: Keywords[], all: Keywords[]): string[] {
  const known = new Set(all.flatMap(({ properties = {} }) => Object.keys(properties)));
  return [...new Set(parts.flatMap(({ required = [] }) => required))].filter((field) => !known.has(field));
}

/** Whether fields are sent that have no name of their own. */
function mayHaveMore(parts: Keywords[]): boolean {
  const hasOthers = parts.some((part) => OTHERS.some((keyword) => part[keyword]));
  const isSilent = parts.every(({ properties = {} }) => Object.keys(properties).length === 0);
  return hasOthers || (isSilent && parts.every(({ additionalProperties }) => additionalProperties !== false));
}

const OTHERS = ['additionalProperties', 'patternProperties', 'unevaluatedProperties'];

const isOfValue = (keyword: string) => scopeOf(keyword) === 'value';

/** The schema and the schemas under such keywords of it, each once: those that describe the same value. */
function partsOf(schema: Schema, isPart: (keyword: string) => boolean, seen = new Set<Schema>()): Keywords[] {
  if (typeof schema === 'boolean' || seen.has(schema)) return [];
  seen.add(schema);
  return [
    schema,
    ...partsOf(targetOf(schema) ?? true, isPart, seen),
    ...subschemasOf(schema).flatMap(({ subschema, keyword }) =>
      isPart(keyword) ? partsOf(subschema, isPart, seen) : [],
    ),
  ];
}
