/** Values without parts, allowed and forbidden ones, whether they come in a parameter or in a body. */
import fc, { type Arbitrary } from 'fast-check';
import { misformatted } from './formats.ts';
import { noWayToBreak } from './keywords.ts';
import { decimals, integers, integersOutsideFormat } from './numbers.ts';
import type { Json } from './operations.ts';
import { ANY_STRING, strings, stringsLongerThan, stringsNotMatching, stringsShorterThan } from './strings.ts';

export type Scalar = string | bigint | number | boolean;

/** Values that a schema allows; nothing where its bounds leave none. */
export function scalars(schema: Json): Arbitrary<Scalar> | undefined {
  const { type } = schema;
  if ('const' in schema) return fc.constant(toScalar(schema.const, type));
  if (schema.enum) return fc.constantFrom(...schema.enum.map((value: Json) => toScalar(value, type)));
  if (type === 'string') return strings(schema);
  if (type === 'integer') return integers(schema);
  if (type === 'number') return decimals(schema);
  if (type === 'boolean') return fc.boolean();
  throw noWayToBreak(`type ${JSON.stringify(type)}`, 'scalars.ts');
}

const toScalar = (value: Json, type: string): Scalar => (type === 'integer' ? BigInt(value) : value);

/** For each keyword, values that break it, and as little else as can be; nothing where no value can break it. */
export const BROKEN_SCALARS: Record<string, (schema: Json) => Arbitrary<Scalar> | undefined> = {
  minimum: ({ type, format, minimum }) => scalars({ type, format, exclusiveMaximum: minimum }),
  maximum: ({ type, format, maximum }) => scalars({ type, format, exclusiveMinimum: maximum }),
  exclusiveMinimum: ({ type, format, exclusiveMinimum }) => scalars({ type, format, maximum: exclusiveMinimum }),
  exclusiveMaximum: ({ type, format, exclusiveMaximum }) => scalars({ type, format, minimum: exclusiveMaximum }),
  minLength: ({ minLength }) => stringsShorterThan(minLength),
  maxLength: (schema) => stringsLongerThan(schema.maxLength, schema),
  pattern: stringsNotMatching,
  format: (schema) => (schema.type === 'string' ? misformatted(schema) : integersOutsideFormat(schema)),
  enum: (schema) => scalarsExcept(schema.enum, schema),
  const: (schema) => scalarsExcept([schema.const], schema),
};

/** Values of the schema's type that are none of these; near misses first. */
function scalarsExcept(values: Json[], { type, format }: Json): Arbitrary<Scalar> {
  const known = values.map((value) => toScalar(value, type));
  const other: Arbitrary<Scalar> =
    type === 'string'
      ? fc.oneof(fc.constantFrom(...values.flatMap(nearMisses)), ANY_STRING)
      : (scalars({ type, format }) as Arbitrary<Scalar>);
  return other.filter((value) => !known.includes(value));
}

function nearMisses(text: string): string[] {
  return [text.toUpperCase(), ` ${text}`, `${text} `, `${text}s`, text.slice(1), text.slice(0, -1), `${text},${text}`];
}
