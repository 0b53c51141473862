/** Objects in the query: each field is a parameter of its own, `filter[name]=x` (deepObject) or `name=x` (form). */
import type { Parameter } from '../contract/contract.ts';
import { type Int64Map, int64sUnder } from '../schema/int64-map.ts';
import type { Schema } from '../schema/json.ts';
import { mergeAllOf } from '../schema/merged.ts';

interface Field<Read> {
  /** The name of its parameter. */
  object: string;
  /** Its name in the object. */
  name: string;
  read: Read;
}

export const hasFields = ({ writing }: Parameter): boolean => writing === 'deep' || writing === 'fields';

const IN_BRACKETS = /^([^[]*)\[([^[\]]+)\]$/;

/** Finds the field that a name in the query stands for. Declared fields win over additional properties. */
export function buildFindField<Read>(
  parameters: Parameter[],
  toRead: (name: string, schema: Schema, place: Int64Map) => Read,
): (text: string) => Field<Read> | undefined {
  const declared = new Map<string, Field<Read>>();
  const open: ((text: string) => Field<Read> | undefined)[] = [];
  for (const { name: object, schema, int64s, writing } of parameters.filter(hasFields)) {
    const { properties = {}, additionalProperties = {} } = mergeAllOf(schema);
    const wireName = (field: string) => (writing === 'deep' ? `${object}[${field}]` : field);
    for (const [name, field] of Object.entries(properties)) {
      const read = toRead(wireName(name), field, int64sUnder(int64s, 'properties', name));
      declared.set(wireName(name), { object, name, read });
    }
    if (additionalProperties === false) continue;
    const read = toRead(object, additionalProperties, int64sUnder(int64s, 'additionalProperties', ''));
    open.push((text) => {
      const [, outer, inner] = IN_BRACKETS.exec(text) ?? [];
      if (writing === 'fields') return { object, name: text, read };
      return outer === object ? { object, name: inner as string, read } : undefined;
    });
  }
  return (text) => {
    let field = declared.get(text);
    for (const find of open) field ??= find(text);
    return field;
  };
}
