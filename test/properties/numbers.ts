/** Numbers that a schema allows: integers as `bigint`, exact over the whole range of their format; others as doubles. */
import fc, { type Arbitrary } from 'fast-check';
import { noWayToBreak } from './keywords.ts';
import type { Json } from './operations.ts';

/** Without a format, as far as a double counts exactly (RFC 7493, section 2.2). */
const BITS: Record<string, bigint> = { int32: 31n, int64: 63n, none: 53n };

interface Range {
  min: bigint;
  max: bigint;
}

function formatRange({ format = 'none' }: Json): Range {
  const bits = BITS[format];
  if (bits === undefined) throw noWayToBreak(`format ${format} of a number`, 'numbers.ts');
  const max = 2n ** bits - 1n;
  return { min: format === 'none' ? -max : -max - 1n, max };
}

const byValue = (a: bigint, b: bigint) => Number(a - b);

/** Nothing where no integer is left between the bounds. */
export function integers(schema: Json): Arbitrary<bigint> | undefined {
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

/** Integers outside the range of the format, by one and by hundreds of digits. */
export function integersOutsideFormat(schema: Json): Arbitrary<bigint> {
  const { min, max } = formatRange(schema);
  return fc.oneof(
    { weight: 2, arbitrary: fc.constantFrom(max + 1n, min - 1n) },
    { weight: 1, arbitrary: fc.constantFrom(max * 2n + 1n, 10n ** 19n, 10n ** 20n, -(10n ** 400n)) },
    { weight: 1, arbitrary: fc.bigInt({ min: max + 1n, max: max << 64n }) },
    { weight: 1, arbitrary: fc.bigInt({ min: min << 64n, max: min - 1n }) },
  );
}

/** Decimals of two places where the bounds leave room for them. */
export function decimals({ minimum, maximum, exclusiveMinimum, exclusiveMaximum }: Json): Arbitrary<number> {
  const min = Math.max(minimum ?? -1e12, exclusiveMinimum ?? -1e12);
  const max = Math.min(maximum ?? 1e12, exclusiveMaximum ?? 1e12);
  const isInside = (value: number) =>
    value >= min && value <= max && value !== exclusiveMinimum && value !== exclusiveMaximum;
  return fc
    .double({ min, max, minExcluded: min === exclusiveMinimum, maxExcluded: max === exclusiveMaximum, noNaN: true })
    .map((value) => (isInside(Number(value.toFixed(2))) ? Number(value.toFixed(2)) : value));
}
