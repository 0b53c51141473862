/** JSON text -> its value with every integer as `bigint`, exact however it is written: the measure for what a server keeps. */
import { parse } from 'lossless-json';

export function toExact(text: string): unknown {
  return parse(text, undefined, toNumber);
}

/** `12.50e1` is 125: digits times a power of ten. */
function toNumber(text: string): bigint | number {
  const [mantissa, exponent = '0'] = text.toLowerCase().split('e') as [string, string?];
  const [whole, fraction = ''] = mantissa.split('.') as [string, string?];
  const power = Number(exponent) - fraction.length;
  const digits = BigInt(whole.replace('-', '') + fraction) * (whole.startsWith('-') ? -1n : 1n);
  if (power >= 0) return digits * 10n ** BigInt(power);
  const divisor = 10n ** BigInt(-power);
  return digits % divisor === 0n ? digits / divisor : Number(text);
}
