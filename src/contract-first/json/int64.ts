/** Signed 64-bit integers as `bigint`, for `type: integer, format: int64` (OpenAPI format registry). */

const MIN = -(2n ** 63n);
const MAX = 2n ** 63n - 1n;

export const INT64_RANGE = `a 64-bit integer, ${MIN} to ${MAX}`;

/** Integers in canonical form: without plus sign, leading zeros, exponent or white space. */
export const CANONICAL = /^(0|-?[1-9][0-9]*)$/;

/** The length of the longest 64-bit integer, -9223372036854775808: longer texts are not converted. */
const LONGEST = 20;

/** The value of an integer in canonical form; undefined for any other text. */
export function parseInt64(text: string): bigint | undefined {
  if (text.length > LONGEST || !CANONICAL.test(text)) return undefined;
  const number = Number(text);
  // V8 converts a number to bigint twice as fast as a text.
  return Number.isSafeInteger(number) ? BigInt(number) : toInt64(BigInt(text));
}

/** The value of a parsed JSON number; undefined if it is no 64-bit integer, or not exact. */
export function toInt64(value: unknown): bigint | undefined {
  if (typeof value === 'bigint') return value >= MIN && value <= MAX ? value : undefined;
  return Number.isSafeInteger(value) ? BigInt(value as number) : undefined;
}
