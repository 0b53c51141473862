import fc, { type Arbitrary } from 'fast-check';
import { noWayToBreak } from './keywords.ts';
import type { Json } from './operations.ts';
import {
  ANY_STRING,
  misformatted,
  strings,
  stringsLongerThan,
  stringsNotMatching,
  stringsShorterThan,
} from './strings.ts';

/**
 * The number of bits of each integer format. Without a format, these are the integers that a double holds exactly (RFC
 * 7493, section 2.2).
 */
const BITS: Record<string, bigint> = { int32: 31n, int64: 63n, none: 53n };

interface Range {
  min: bigint;
  max: bigint;
}

function formatRange({ format = 'none' }: Json): Range {
  const bits = BITS[format];
  if (bits === undefined) throw noWayToBreak(`format ${format} of a number`, 'scalars.ts');
  const max = 2n ** bits - 1n;
  return { min: format === 'none' ? -max : -max - 1n, max };
}

const byValue = (a: bigint, b: bigint) => Number(a - b);

/** Generates integers; undefined if no integer is within the bounds. */
function integers(schema: Json): Arbitrary<bigint> | undefined {
  const { minimum, maximum, exclusiveMinimum, exclusiveMaximum } = schema;
  const format = formatRange(schema);
  const lows = [format.min];
  const highs = [format.max];
  if (minimum !== undefined) lows.push(BigInt(Math.ceil(minimum)));
  if (exclusiveMinimum !== undefined) lows.push(BigInt(Math.floor(exclusiveMinimum)) + 1n);
  if (maximum !== undefined) highs.push(BigInt(Math.floor(maximum)));
  if (exclusiveMaximum !== undefined) highs.push(BigInt(Math.ceil(exclusiveMaximum)) - 1n);
  const min = lows.sort(byValue).at(-1) as bigint;
  const max = highs.sort(byValue)[0] as bigint;
  if (min > max) return undefined;
  const notable = [min, max, 0n, -1n, 2n ** 53n, 2n ** 53n + 1n, -(2n ** 53n) - 1n, 2n ** 31n, 2n ** 63n - 513n];
  const inside = notable.filter((value) => value >= min && value <= max);
  return fc.oneof({ withCrossShrink: true }, fc.bigInt({ min, max }), fc.constantFrom(...inside));
}

/** Generates integers outside of the range of the format, by one up to hundreds of digits. */
function integersOutsideFormat(schema: Json): Arbitrary<bigint> {
  const { min, max } = formatRange(schema);
  return fc.oneof(
    { weight: 2, arbitrary: fc.constantFrom(max + 1n, min - 1n) },
    { weight: 1, arbitrary: fc.constantFrom(max * 2n + 1n, 10n ** 19n, 10n ** 20n, -(10n ** 400n)) },
    { weight: 1, arbitrary: fc.bigInt({ min: max + 1n, max: max << 64n }) },
    { weight: 1, arbitrary: fc.bigInt({ min: min << 64n, max: min - 1n }) },
  );
}

/** Generates decimals, with two decimal places if the bounds leave room for them. */
function decimals({ minimum, maximum, exclusiveMinimum, exclusiveMaximum }: Json): Arbitrary<number> {
  const min = Math.max(minimum ?? -1e12, exclusiveMinimum ?? -1e12);
  const max = Math.min(maximum ?? 1e12, exclusiveMaximum ?? 1e12);
  const isInside = (value: number) =>
    value >= min && value <= max && value !== exclusiveMinimum && value !== exclusiveMaximum;
  return fc
    .double({ min, max, minExcluded: min === exclusiveMinimum, maxExcluded: max === exclusiveMaximum, noNaN: true })
    .map((value) => (isInside(Number(value.toFixed(2))) ? Number(value.toFixed(2)) : value));
}

export type Scalar = string | bigint | number | boolean;

/** Generates values that a schema allows; undefined if its bounds allow none. */
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

/**
 * For each keyword, generates values that break it and, if possible, no other keyword; undefined if no value can break
 * it.
 */
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

/** Generates values of the schema's type that are not in the list, beginning with similar ones. */
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
