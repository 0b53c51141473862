/** Generates values that a schema allows, as JSON text. */
import fc, { type Arbitrary } from 'fast-check';
import { alternativesOf, branchesOf, joined, keptBy, splitNull, takenBy } from './alternatives.ts';
import { toJson } from './json-writing.ts';
import { within } from './keywords.ts';
import type { Json } from './operations.ts';
import { type Scalar, scalars } from './scalars.ts';

/** A field of an object: its name and its value as JSON text. A list of them is in the order of writing. */
export type Field = [name: string, text: string];

export function jsonValues(source: Json): Arbitrary<string> {
  const { schema, isNullable } = splitNull(source);
  if (isNullable) return fc.oneof({ weight: 3, arbitrary: jsonValues(schema) }, fc.constant('null'));
  const alternatives = alternativesOf(schema);
  if (alternatives) return takenBy(schema, fc.oneof(...alternatives.map(jsonValues)));
  if (schema.allOf) return keptBy(schema, () => jsonValues(joined(schema)));
  if (schema.if) {
    const { held, unheld } = branchesOf(schema);
    return keptBy(schema, () => fc.oneof(jsonValues(held), jsonValues(unheld)));
  }
  if (schema.not) {
    const { not: _, ...others } = schema;
    return keptBy(schema, () => jsonValues(others));
  }
  if (schema.type === 'null') return fc.constant('null');
  if (schema['x-empty']) return fc.constant('[]');
  if (schema.type === 'object') return fieldsOf(schema).map(toObject);
  if (schema.type === 'array') return itemsOf(schema).map(toArray);
  return (scalars(schema) as Arbitrary<Scalar>).chain(toJson);
}

/** Generates the required fields and some of the optional ones, in any order, but never those in `leaveOut`. */
export function fieldsOf(schema: Json, leaveOut: string[] = []): Arbitrary<Field[]> {
  const { properties = {}, required = [], additionalProperties, minProperties = 0 } = schema;
  const names = Object.keys(properties).filter((name) => !leaveOut.includes(name));
  const fields = names.map((name) =>
    within(`.${name}`, () => jsonValues(properties[name])).map((text): Field => [name, text]),
  );
  const optional = names.filter((name) => !required.includes(name));
  const missing = Math.max(0, minProperties - (names.length - optional.length) - leaveOut.length);
  const minLength = Math.min(missing, optional.length);
  const named = fc
    .tuple(
      fc.tuple(...fields),
      fc.subarray(optional, { minLength }),
      fc.shuffledSubarray(names, { minLength: names.length }),
    )
    .map(([written, chosen, order]) => {
      const kept = written.filter(([name]) => required.includes(name) || chosen.includes(name));
      return kept.sort(([a], [b]) => order.indexOf(a) - order.indexOf(b));
    });
  if (typeof additionalProperties !== 'object') return named;
  const least = missing - minLength;
  const others = fc.array(jsonValues(additionalProperties), { minLength: least, maxLength: least + 3 });
  return fc
    .tuple(named, others)
    .map(([known, texts]) => [...known, ...texts.map((text, index): Field => [otherName(index), text])]);
}

/** Returns a name for a field that no schema declares. */
export const otherName = (index: number) => `other ${index}`;

export function itemsOf({ items, minItems = 0, maxItems = minItems + 5 }: Json): Arbitrary<string[]> {
  return fc.array(jsonValues(items), { minLength: minItems, maxLength: maxItems });
}

export const toObject = (fields: Field[]) =>
  `{${fields.map(([name, text]) => `${JSON.stringify(name)}:${text}`).join()}}`;
export const toArray = (items: string[]) => `[${items.join()}]`;
