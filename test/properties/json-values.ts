/** Values that a schema allows, as JSON text. */
import fc, { type Arbitrary } from 'fast-check';
import { toJson } from './json-writing.ts';
import type { Json } from './operations.ts';
import { type Scalar, scalars } from './scalars.ts';

/** The fields of an object as they are written, in order: name and JSON text. */
export type Field = [name: string, text: string];

export function jsonValues(schema: Json): Arbitrary<string> {
  if (schema.type === 'object') return fieldsOf(schema).map(toObject);
  if (schema.type === 'array') return itemsOf(schema).map(toArray);
  return (scalars(schema) as Arbitrary<Scalar>).chain(toJson);
}

/** The required fields, some of the others, in any order; none of those to leave out. */
export function fieldsOf({ properties = {}, required = [] }: Json, leaveOut: string[] = []): Arbitrary<Field[]> {
  const names = Object.keys(properties).filter((name) => !leaveOut.includes(name));
  const fields = names.map((name) => jsonValues(properties[name]).map((text): Field => [name, text]));
  const optional = names.filter((name) => !required.includes(name));
  return fc
    .tuple(fc.tuple(...fields), fc.subarray(optional), fc.shuffledSubarray(names, { minLength: names.length }))
    .map(([written, chosen, order]) => {
      const kept = written.filter(([name]) => required.includes(name) || chosen.includes(name));
      return kept.sort(([a], [b]) => order.indexOf(a) - order.indexOf(b));
    });
}

export function itemsOf({ items, minItems = 0, maxItems = minItems + 5 }: Json): Arbitrary<string[]> {
  return fc.array(jsonValues(items), { minLength: minItems, maxLength: maxItems });
}

export const toObject = (fields: Field[]) =>
  `{${fields.map(([name, text]) => `${JSON.stringify(name)}:${text}`).join()}}`;
export const toArray = (items: string[]) => `[${items.join()}]`;
