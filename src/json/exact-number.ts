/** A number of JSON text, without loss: a double, a `bigint`, or NaN where neither is exact. */

const MAX_INT64_DIGITS = 19;

const NUMBER = /^(-?)([0-9]+)(?:\.([0-9]+))?(?:[eE]([+-]?[0-9]+))?$/;

/** An integer above 2^53 is a `bigint`; a number that a double would round to an integer is NaN. */
export function toExactNumber(token: string): number | bigint {
  const double = Number(token);
  if (token.length < 16 && !/e/i.test(token)) return double;
  const integer = integerDigits(token);
  if (integer !== undefined) return Number.isSafeInteger(double) ? double : BigInt(integer);
  return Number.isInteger(double) && Math.abs(double) < 2 ** 64 ? Number.NaN : double;
}

/** The plain digits of a number that is an integer of at most 19 digits, however it is written: `1.20e2` is `120`. */
function integerDigits(token: string): string | undefined {
  const [, sign, whole, fraction = '', exponent = '0'] = NUMBER.exec(token) as RegExpExecArray;
  const digits = `${whole}${fraction}`.replace(/^0+/, '');
  if (digits === '') return '0';
  const point = digits.length - fraction.length + Number(exponent);
  if (point < 0 || point > MAX_INT64_DIGITS || /[1-9]/.test(digits.slice(point))) return undefined;
  return `${sign}${digits.slice(0, point).padEnd(point, '0')}`;
}
