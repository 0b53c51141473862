/** Generates strings that fit or break a schema: by length in characters (Unicode code points), pattern or format. */
import fc, { type Arbitrary } from 'fast-check';
import { noWayToBreak } from './keywords.ts';
import type { Json } from './operations.ts';

/**
 * Characters that programs often handle wrongly: escaped ones, white space, combining ones, and those at the ends of
 * Unicode's planes.
 */
const AWKWARD = '"\\/\'%&+<>{}\t\n\r\u0001\u007f\u0085\u00a0\u0301\u200d\u2028\ufeff\ufffd\uffff😀\u{10000}\u{10ffff}';

/**
 * Generates every character except surrogates. fast-check's unit `binary` would take seconds to make, because it can
 * also map characters back.
 */
export const ANY_CHARACTER = fc
  .nat({ max: 0x10ffff - 0x800 })
  .map((code) => String.fromCodePoint(code < 0xd800 ? code : code + 0x800));

const CHARACTER = fc.oneof(
  { withCrossShrink: true },
  fc.string({ unit: 'grapheme-ascii', minLength: 1, maxLength: 1 }),
  fc.string({ unit: ANY_CHARACTER, minLength: 1, maxLength: 1 }),
  fc.constantFrom(...AWKWARD),
);

/** Generates halves of surrogate pairs, which well-formed text never contains. */
export const SURROGATE = fc.integer({ min: 0xd800, max: 0xdfff }).map((unit) => String.fromCharCode(unit));

/** How many characters above the minimum strings may have if a schema sets no maximum. */
const ROOM = 50;

export function strings(schema: Json): Arbitrary<string> {
  if ('format' in schema) return formatOf(schema).valid();
  const { minLength: min = 0, maxLength: max = min + ROOM, pattern } = schema;
  const any = fc.oneof(
    { withCrossShrink: true },
    charactersOf(min, max),
    charactersOf(min, min),
    charactersOf(max, max),
  );
  if (pattern === undefined) return any;
  const matches = matcherOf(schema);
  if (isMostly(matches, any)) return any.filter(matches);
  const matching = matchingStrings(pattern);
  const stretched = fc.tuple(matching, fc.constantFrom(min, max)).map(([text, length]) => stretch(text, length));
  const isInside = (length: number) => length >= min && length <= max;
  return fc.oneof(matching, stretched).filter((text) => matches(text) && isInside(lengthOf(text)));
}

const MATCHING = new Map<string, Arbitrary<string>>();

/** Generates strings that match a pattern. The generator is cached, because making it takes long. */
function matchingStrings(pattern: string): Arbitrary<string> {
  const made = MATCHING.get(pattern) ?? fc.stringMatching(new RegExp(pattern, 'u'));
  MATCHING.set(pattern, made);
  return made;
}

/** Generates strings of up to twelve characters. */
export const ANY_STRING = fc.string({ unit: CHARACTER, maxLength: 12 });

/** Generates strings that are too short; undefined if no string is. */
export function stringsShorterThan(minLength: number): Arbitrary<string> | undefined {
  return minLength > 0 ? charactersOf(0, minLength - 1) : undefined;
}

/**
 * Generates strings that are too long. They are repeated valid strings, so that a pattern for single characters still
 * matches.
 */
export function stringsLongerThan(maxLength: number, { pattern, minLength = 0 }: Json): Arbitrary<string> {
  const seeds = strings({ ...(pattern && { pattern }), minLength: Math.max(1, minLength) });
  const surplus = fc.oneof(fc.constant(1), fc.integer({ min: 1, max: ROOM }));
  return fc.tuple(seeds, surplus).map(([text, length]) => stretch(text, maxLength + length));
}

/** Generates strings that break the pattern: valid strings with one character replaced, by U+0000 or another one. */
export function stringsNotMatching(schema: Json): Arbitrary<string> {
  const matches = matcherOf(schema);
  const intruders = fc.oneof(fc.constant('\u0000'), CHARACTER);
  return fc
    .tuple(strings(schema), intruders, fc.nat())
    .map(([text, intruder, seed]) => {
      const characters = [...text];
      return characters.toSpliced(seed % (characters.length + 1), 1, intruder).join('');
    })
    .filter((text) => !matches(text));
}

const charactersOf = (minLength: number, maxLength: number) =>
  fc.string({ unit: CHARACTER, minLength, maxLength, size: 'max' });

const lengthOf = (text: string) => [...text].length;

function matcherOf({ pattern }: Json): (text: string) => boolean {
  const regex = new RegExp(pattern, 'u');
  return (text) => regex.test(text);
}

/** True if enough of the texts match for a filter to be fast. */
function isMostly(matches: (text: string) => boolean, texts: Arbitrary<string>): boolean {
  return fc.sample(texts, { numRuns: 20, seed: 1 }).filter(matches).length > 10;
}

/** Repeats a text until it has this length. */
function stretch(text: string, length: number): string {
  const times = Math.ceil(length / Math.max(1, lengthOf(text)));
  return [...text.repeat(times)].slice(0, length).join('');
}

/** The generator of a format of JSON Schema. */
interface Format {
  /** A function, because making some of the generators takes a second. */
  valid(): Arbitrary<string>;
  nearMisses: string[];
}

const DATES = fc
  .date({ min: new Date('0001-01-01'), max: new Date('9999-12-31'), noInvalidDate: true })
  .map((date) => date.toISOString());

const FORMATS: Record<string, Format> = {
  date: {
    valid: () => DATES.map((text) => text.slice(0, 10)),
    nearMisses: ['2026-02-30', '2026-13-01', '2026-1-1', '26-01-01', '2026-01-01T00:00:00Z', 'today'],
  },
  'date-time': {
    valid: () => DATES,
    nearMisses: ['2026-01-01', '2026-01-01T00:00:00', '2026-01-01T25:00:00Z', '2026-02-30T00:00:00Z'],
  },
  email: {
    valid: () => fc.emailAddress(),
    nearMisses: ['a', 'a@', '@a.example', 'a b@c.example', 'a@b@c.example', 'a@b..example'],
  },
  uri: {
    valid: () => fc.webUrl({ withQueryParameters: true }),
    nearMisses: ['a', '/a', '//a.example', 'http://a b', 'http://[', ':'],
  },
  decimal: {
    valid: () => fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => value.toFixed(2)),
    nearMisses: [],
  },
  uuid: { valid: () => fc.uuid(), nearMisses: ['0-0-0-0-0', 'g0000000-0000-4000-8000-000000000000', '{}'] },
};

/** Generates texts that break a format; undefined if the format is only an annotation. */
export function misformatted(schema: Json): Arbitrary<string> | undefined {
  const { valid, nearMisses } = formatOf(schema);
  if (nearMisses.length === 0) return undefined;
  const open = ['email', 'uri'].includes(schema.format);
  const changed = valid().chain((text) =>
    fc.constantFrom(` ${text}`, `${text}\n`, ...(open ? [] : [`${text}0`, text.slice(1)])),
  );
  return fc.oneof(fc.constantFrom('', ...nearMisses), changed);
}

function formatOf({ format }: Json): Format {
  const known = FORMATS[format];
  if (!known) throw noWayToBreak(`format ${format} of a string`, 'strings.ts');
  return known;
}
