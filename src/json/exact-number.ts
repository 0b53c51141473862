/** A number of JSON text, without loss: a double, a `bigint`, or NaN where neither is exact. */

const MAX_INT64_DIGITS = 19;

const NUMBER = /^(-?)([0-9]+)(?:\.([0-9]+))?(?:[eE]([+-]?[0-9]+))?$/;

/** An integer above 2^53 is a `bigint`; a number that a double would round to an integer is NaN. */
export function toExactNumber(token: string): number | bigint {
  const double = Number(token);
  if (token.length < 16 && !/e/i.test(token)) return double;
  const { sign, digits, point } = toDigits(token);
  if (digits === '') return double;
  const hasFraction = /[1-9]/.test(digits.slice(Math.max(0, point)));
  if (!hasFraction && point <= MAX_INT64_DIGITS) {
    return Number.isSafeInteger(double) ? double : BigInt(sign + digits.slice(0, point).padEnd(point, '0'));
  }
  const isRounded = hasFraction ? Number.isInteger(double) : Math.abs(double) < 2 ** 64;
  return isRounded ? Number.NaN : double;
}

/** From its first digit that is not 0, and how many of them stand before the decimal point: of `12.50e1` it is `1250` and 3. */
function toDigits(token: string): { sign: string; digits: string; point: number } {
  const [, sign, whole, fraction = '', exponent = '0'] = NUMBER.exec(token) as RegExpExecArray & [string, string];
  const digits = `${whole}${fraction}`.replace(/^0+/, '');
  return { sign, digits, point: digits.length - fraction.length + Number(exponent) };
}
