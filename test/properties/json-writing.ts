/** Generates the many notations in which JSON can spell a number or a string (RFC 8259). */
import fc, { type Arbitrary } from 'fast-check';
import { parse } from 'lossless-json';
import type { Scalar } from './scalars.ts';

/** Generates texts that mean exactly this value. */
export function toJson(value: Scalar): Arbitrary<string> {
  if (typeof value === 'string') return toJsonString(value);
  if (typeof value === 'bigint') return toJsonInteger(value);
  if (typeof value === 'boolean') return fc.constant(String(value));
  return fc.constantFrom(JSON.stringify(value), value.toExponential(), value.toExponential().replace('e', 'E'));
}

/** Generates spellings of a JSON string, with only the necessary characters escaped, or all of them. */
function toJsonString(text: string): Arbitrary<string> {
  const toEscape = (unit: string) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
  const escaped = `"${text.split('').map(toEscape).join('')}"`;
  return fc.oneof(
    { withCrossShrink: true },
    { weight: 3, arbitrary: fc.constant(JSON.stringify(text)) },
    { weight: 1, arbitrary: fc.constant(escaped) },
  );
}

/**
 * Generates spellings of an integer. In JSON Schema, a number without a fraction is an integer in every notation
 * (2020-12 Core, section 4.2.3): 120 is also `120.0`, `12e1`, `1.20E+02` or `12000e-2`, and 0 is also `-0`.
 */
function toJsonInteger(value: bigint): Arbitrary<string> {
  const spelling = fc.record({
    shift: fc.integer({ min: -25, max: 25 }),
    zeros: fc.integer({ min: 0, max: 3 }),
    letter: fc.constantFrom('e', 'E'),
    plus: fc.constantFrom('', '+'),
    leading: fc.constantFrom('', '0', '00'),
    zeroSign: fc.constantFrom('', '-'),
  });
  const spelt = spelling.map(({ shift, zeros, letter, plus, leading, zeroSign }) => {
    const sign = value < 0n ? '-' : value === 0n ? zeroSign : '';
    const [whole, fraction] = movePoint(String(value).replace('-', ''), shift);
    const decimals = fraction + '0'.repeat(zeros);
    const exponent = `${letter}${shift < 0 ? '-' : plus}${leading}${Math.abs(shift)}`;
    return `${sign}${whole}${decimals && `.${decimals}`}${shift === 0 && zeros > 0 ? '' : exponent}`;
  });
  return fc.oneof(
    { withCrossShrink: true },
    { weight: 2, arbitrary: fc.constant(String(value)) },
    { weight: 1, arbitrary: spelt },
  );
}

/**
 * Moves the decimal point to the left by this many places, or to the right if negative. Returns the digits before and
 * after it.
 */
function movePoint(digits: string, places: number): [whole: string, fraction: string] {
  if (places <= 0) return [digits === '0' ? '0' : digits + '0'.repeat(-places), ''];
  const padded = digits.padStart(places + 1, '0');
  return [padded.slice(0, -places), padded.slice(-places)];
}

/**
 * Parses JSON with every integer as a `bigint` with all its digits, in whichever notation. Replies of the server are
 * compared with this.
 */
export function toExact(text: string): unknown {
  return parse(text, undefined, toNumber);
}

/** Multiplies the digits by the power of ten: `12.50e1` is 125. */
function toNumber(text: string): bigint | number {
  const [mantissa, exponent = '0'] = text.toLowerCase().split('e') as [string, string?];
  const [whole, fraction = ''] = mantissa.split('.') as [string, string?];
  const power = Number(exponent) - fraction.length;
  const digits = BigInt(whole.replace('-', '') + fraction) * (whole.startsWith('-') ? -1n : 1n);
  if (power >= 0) return digits * 10n ** BigInt(power);
  const divisor = 10n ** BigInt(-power);
  return digits % divisor === 0n ? digits / divisor : Number(text);
}
