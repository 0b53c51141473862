/** Texts and numbers that fit a schema. */
import type { Keywords } from '../../engine/schema/json.ts';
import { isMatch } from '../schema/keyword-subsets.ts';

/** Values of names that are reserved for examples (RFC 2606, 5737, 3849). */
const FORMATS: Record<string, string> = {
  'date-time': '2026-01-31T12:00:00Z',
  date: '2026-01-31',
  time: '12:00:00Z',
  duration: 'P1D',
  email: 'name@example.com',
  'idn-email': 'name@example.com',
  hostname: 'example.com',
  'idn-hostname': 'example.com',
  ipv4: '192.0.2.1',
  ipv6: '2001:db8::1',
  uri: 'https://example.com/',
  url: 'https://example.com/',
  iri: 'https://example.com/',
  'uri-reference': '/path',
  'iri-reference': '/path',
  'uri-template': '/path/{name}',
  uuid: '123e4567-e89b-42d3-a456-426614174000',
  'json-pointer': '/name',
  'relative-json-pointer': '0',
  regex: '^[a-z]+$',
  byte: 'YWJj',
};

/** Texts that many patterns allow, each also repeated and cut to the length. */
const TEXTS = [
  'string',
  'text',
  'a',
  'A',
  '1',
  'ABC',
  'a-b',
  'a_1',
  '1.0',
  '1.0.0',
  'en-US',
  '/a',
  '#ffffff',
  '+15550100',
];

/** Undefined if none is found. */
export function makeText({ format = '', pattern, minLength, maxLength }: Keywords): string | undefined {
  const [least, most] = [Number(minLength ?? 0), Number(maxLength ?? Number.POSITIVE_INFINITY)];
  const fit = (text: string) =>
    text.repeat(Math.max(1, Math.ceil(least / text.length))).slice(0, Math.max(least, Math.min(text.length, most)));
  const isFormat = Object.hasOwn(FORMATS, format);
  const texts = isFormat ? [FORMATS[format] as string] : TEXTS.map(fit);
  if (pattern === undefined) return texts[0];
  return [...texts, ...Object.values(FORMATS)].find(
    (text) => text.length >= least && text.length <= most && isMatch(pattern, text),
  );
}

/** The least number that is allowed, or 1. */
export function makeNumber(keywords: Keywords): number | bigint {
  const { minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf } = keywords;
  const least = minimum ?? beyond(exclusiveMinimum, 1);
  const most = maximum ?? beyond(exclusiveMaximum, -1);
  const value = least ?? (most !== undefined && most < 1 ? most : 1n);
  if (multipleOf === undefined) return value;
  if (typeof value === 'bigint' && typeof multipleOf === 'bigint') {
    const rest = value % multipleOf;
    return rest === 0n ? value : value - rest + (value > 0n ? multipleOf : 0n);
  }
  return Math.ceil(Number(value) / Number(multipleOf)) * Number(multipleOf);
}

function beyond(bound: number | bigint | undefined, step: number): number | bigint | undefined {
  return typeof bound === 'bigint' ? bound + BigInt(step) : bound === undefined ? undefined : bound + step;
}
