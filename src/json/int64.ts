/** Signed 64-bit integers, exact, as `bigint`: what `type: integer, format: int64` means (OpenAPI format registry). */

const MIN = -(2n ** 63n);
const MAX = 2n ** 63n - 1n;

export const INT64_RANGE = `a 64-bit integer, ${MIN} to ${MAX}`;

/** Whether the text is an integer in its one spelling: no plus sign, leading zeros, exponent or white space. */
export const isCanonical = (text: string): boolean => /^(0|-?[1-9][0-9]*)$/.test(text);

/** As long as the longest 64-bit integer, -9223372036854775808: spares the conversion of very long numbers. */
const LONGEST = 20;

/** The exact value of canonical decimal text, or `undefined` where the text is no such integer. */
export function parseInt64(text: string): bigint | undefined {
  if (text.length > LONGEST || !isCanonical(text)) return undefined;
  // V8 makes a bigint of a number in half the time that it takes for one of a text.
  return toInt64(Number(text)) ?? toInt64(BigInt(text));
}

/** The exact value of a parsed JSON number, or `undefined` where it is no 64-bit integer or not known exactly. */
export function toInt64(value: unknown): bigint | undefined {
  if (typeof value === 'bigint') return value >= MIN && value <= MAX ? value : undefined;
  return Number.isSafeInteger(value) ? BigInt(value as number) : undefined;
}
