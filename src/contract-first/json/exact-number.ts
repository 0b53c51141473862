/** Converts the numbers of JSON text to doubles or `bigint` without rounding, and texts to signed 64-bit integers. */

/** The number of digits of the largest double. A longer integer is rejected. */
const MAX_WHOLE_DIGITS = 309;
/**
 * The maximum length of a number. A longer number is rejected before it is parsed. The limit is high enough for each
 * double written without an exponent, which has at most 324 digits after the point.
 */
const MAX_LENGTH = 400;

const NUMBER = /^(-?)([0-9]+)(?:\.([0-9]+))?(?:[eE]([+-]?[0-9]+))?$/;

/** A number is `units` times ten to the power of `exponent`. */
interface Decimal {
  units: bigint;
  exponent: number;
}

/**
 * Returns the exact value of a number: a double if the double is printed with the same digits, or a `bigint` for an
 * integer above 2^53. Returns undefined if neither is exact, as for `1e400` and `0.10000000000000001`.
 */
export function toExactNumber(token: string): number | bigint | undefined {
  const double = Number(token);
  if (token.length < 16 && !/e/i.test(token)) return double;
  if (token.length > MAX_LENGTH) return undefined;
  const { sign, digits, exponent } = toDigits(token);
  if (digits === '') return double;
  if (exponent >= 0) {
    if (Number.isSafeInteger(double)) return double;
    const length = digits.length + exponent;
    return length > MAX_WHOLE_DIGITS ? undefined : BigInt(sign + digits.padEnd(length, '0'));
  }
  return isWritten(double, digits, exponent) ? double : undefined;
}

/** Returns the integer as a double. Returns undefined if a double is printed with other digits than the integer. */
export function toDouble(value: bigint): number | undefined {
  const double = Number(value);
  const { digits, exponent } = toDigits(String(value));
  return isWritten(double, digits, exponent) ? double : undefined;
}

/** True if `value` is a multiple of `divisor`, computed in decimals: in doubles, 19.99 is not a multiple of 0.01. */
export function isMultiple(value: number | bigint, divisor: number | bigint): boolean {
  const [one, other] = [toDecimal(value), toDecimal(divisor)];
  const exponent = Math.min(one.exponent, other.exponent);
  const [large, small] = [one, other].map(({ units, exponent: own }) => units * 10n ** BigInt(own - exponent));
  return (large as bigint) % (small as bigint) === 0n;
}

function toDecimal(value: number | bigint): Decimal {
  const { digits, exponent } = toDigits(String(value));
  return { units: BigInt(digits), exponent };
}

function isWritten(double: number, digits: string, exponent: number): boolean {
  if (!Number.isFinite(double)) return false;
  const written = toDigits(String(double));
  return written.digits === digits && written.exponent === exponent;
}

/**
 * Returns the sign, the digits from the first to the last that is not 0, and the power of ten to multiply them by:
 * `12.50e1` gives `125` and 0. The digits of zero are an empty text.
 */
function toDigits(token: string): { sign: string; digits: string; exponent: number } {
  const [, sign, whole, fraction = '', exponent = '0'] = NUMBER.exec(token) as RegExpExecArray &
    [string, string, string];
  const all = `${whole}${fraction}`.replace(/^0+/, '');
  const digits = all.replace(/(?<!0)0+$/, '');
  return { sign, digits, exponent: Number(exponent) - fraction.length + all.length - digits.length };
}

/** The limits of `type: integer, format: int64` (OpenAPI format registry), with `bigint` values. */
const MIN = -(2n ** 63n);
const MAX = 2n ** 63n - 1n;

export const INT64_RANGE = `a 64-bit integer, ${MIN} to ${MAX}`;

/** Matches an integer in canonical form: without plus sign, leading zeros, exponent or white space. */
export const CANONICAL = /^(0|-?[1-9][0-9]*)$/;

/** The length of the longest 64-bit integer, -9223372036854775808. Longer texts are rejected before they are parsed. */
const INT64_LENGTH = 20;

/** Returns the value of an integer in canonical form; undefined for any other text. */
export function parseInt64(text: string): bigint | undefined {
  if (text.length > INT64_LENGTH || !CANONICAL.test(text)) return undefined;
  const number = Number(text);
  // V8 converts a number to bigint twice as fast as a text.
  return Number.isSafeInteger(number) ? BigInt(number) : toInt64(BigInt(text));
}

/** Returns the value of a parsed JSON number; undefined if it is not an exact 64-bit integer. */
export function toInt64(value: unknown): bigint | undefined {
  if (typeof value === 'bigint') return value >= MIN && value <= MAX ? value : undefined;
  return Number.isSafeInteger(value) ? BigInt(value as number) : undefined;
}
