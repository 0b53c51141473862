/** Numbers of JSON text, without loss: as doubles, as `bigint`, or not at all. */

/** The largest double has 309 digits before its point, the smallest 324 behind it, of which 17 tell them apart. */
const MAX_WHOLE_DIGITS = 309;
const MAX_LENGTH = 400;

const NUMBER = /^(-?)([0-9]+)(?:\.([0-9]+))?(?:[eE]([+-]?[0-9]+))?$/;

/** A number is `units` times ten to the power of `exponent`. */
interface Decimal {
  units: bigint;
  exponent: number;
}

/**
 * A double that is written as this number again; beyond 2^53 a `bigint`, where the number is whole; undefined where neither is exact:
 * `1e400`, `0.10000000000000001`.
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

/** The double that is this number, or is written as it; undefined where there is none. */
export function toDouble(value: bigint): number | undefined {
  const double = Number(value);
  if (!Number.isFinite(double)) return undefined;
  const { digits, exponent } = toDigits(String(value));
  return BigInt(double) === value || isWritten(double, digits, exponent) ? double : undefined;
}

/** Counted in decimals, as both are written: 19.99 is a multiple of 0.01, which doubles cannot tell. */
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

/** From its first digit that is not 0 to the last one: `12.50e1` is `125`, with 0 more behind it. Of zero there are none. */
function toDigits(token: string): { sign: string; digits: string; exponent: number } {
  const [, sign, whole, fraction = '', exponent = '0'] = NUMBER.exec(token) as RegExpExecArray &
    [string, string, string];
  const all = `${whole}${fraction}`.replace(/^0+/, '');
  const digits = all.replace(/(?<!0)0+$/, '');
  return { sign, digits, exponent: Number(exponent) - fraction.length + all.length - digits.length };
}
