/** Finds samples of values: the examples in the contract, or values that are made from schemas. */
import { stringify } from 'lossless-json';
import type { MediaNode } from '../../engine/contract/document.ts';
import { isMap, isNode, type Keywords, type Schema } from '../../engine/schema/json.ts';
import { parseExactJson } from '../../json/exact-json.ts';
import { isMatch } from '../subsets/keyword-subsets.ts';
import { componentNameOf, type DocumentSource } from './source.ts';

/** The keyword of the fields that a sample omits: `readOnly` in a request, `writeOnly` in a reply. */
type LeftOut = 'readOnly' | 'writeOnly';

interface Sample {
  summary: string | undefined;
  value: unknown;
}

/** Returns a sample as the server reads it from a body: with every digit, and without halves of characters. */
export const toReadSample = (value: unknown): unknown => parseExactJson(stringify(toWellFormed(value)) as string);

function toWellFormed(value: unknown): unknown {
  if (typeof value === 'string') return value.toWellFormed();
  if (Array.isArray(value)) return value.map(toWellFormed);
  if (!isMap(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [name.toWellFormed(), toWellFormed(one)]));
}

export type Samples = ReturnType<typeof buildSamples>;

/**
 * The maximum number of values in a made sample. A larger sample is made again with less depth, down to a depth of 1.
 */
const MOST_VALUES = 80;

export function buildSamples({ follow, flat }: Pick<DocumentSource, 'follow' | 'flat'>) {
  const known = { readOnly: new Map<unknown, unknown>(), writeOnly: new Map<unknown, unknown>() };

  /** Makes a sample of a schema. Returns undefined if it finds none. */
  function ofSchema(schema: Schema | undefined, leftOut: LeftOut): unknown {
    const made = known[leftOut];
    if (made.has(schema)) return made.get(schema);
    for (let depth = 4; depth > 0; depth--) {
      const making = { flat, leftOut, depth, count: 0 };
      made.set(schema, make(schema, making, []));
      if (making.count <= MOST_VALUES) break;
    }
    return made.get(schema);
  }

  return {
    ofSchema,
    /** Returns samples of a media type, a parameter or a header. */
    ofMedia(
      { example, examples = {}, schema }: Pick<MediaNode, 'schema' | 'example' | 'examples'>,
      leftOut: LeftOut,
    ): Sample[] {
      // An example of a reply is often copied to the request, with the fields that only a reply may have.
      const shown = (value: unknown) => withoutLeftOut(value, flat(schema), { flat, leftOut });
      const written = Object.values(examples)
        .map((one) => follow(one))
        .flatMap(({ summary, value }) =>
          value === undefined ? [] : [{ summary: summary as string | undefined, value: shown(value) }],
        );
      if (written.length > 0) return written;
      const value = example === undefined ? ofSchema(schema, leftOut) : shown(example);
      return value === undefined ? [] : [{ summary: undefined, value }];
    },
  };
}

interface Making {
  flat: DocumentSource['flat'];
  leftOut: LeftOut;
  /** The maximum depth of optional objects. Required objects may be deeper. */
  depth: number;
  /** The number of values that the sample already contains. */
  count: number;
}

/**
 * Makes a value of a schema. `open` lists the schemas that contain this one. Returns undefined for a schema in `open`,
 * because a recursive sample would never end.
 */
function make(schema: Schema | undefined, making: Making, open: Keywords[]): unknown {
  const keywords = making.flat(schema);
  if (schema === false || open.includes(keywords)) return undefined;
  making.count++;
  const { example, examples: [first] = [], const: only, default: preset, enum: [listed] = [] } = keywords;
  const written = [example, first, only, preset, listed].find((one) => one !== undefined);
  if (written !== undefined) return withoutLeftOut(written, keywords, making);
  const { if: condition, else: other = true, ...own } = keywords;
  // The sample follows `else`, because most `if` and `then` require a field that the sample of a request lacks.
  if (condition !== undefined) return make(making.flat({ allOf: [other, own] }), making, [...open, keywords]);
  const choices = keywords.oneOf ?? keywords.anyOf;
  return choices ? makeChoice(keywords, choices, making, open) : makeNew(keywords, making, [...open, keywords]);
}

function withoutLeftOut(
  value: unknown,
  { properties = {} }: Keywords,
  { flat, leftOut }: Pick<Making, 'flat' | 'leftOut'>,
): unknown {
  if (!isMap(value)) return value;
  return Object.fromEntries(Object.entries(value).filter(([name]) => !flat(properties[name])[leftOut]));
}

/**
 * Makes a value of the first alternative that allows one. The field of a discriminator gets the name of the
 * alternative.
 */
function makeChoice(keywords: Keywords, choices: Schema[], making: Making, open: Keywords[]): unknown {
  const { oneOf: _, anyOf: __, discriminator, ...own } = keywords;
  const isNull = (choice: Schema) => making.flat(choice).type === 'null';
  for (const choice of [...choices.filter((one) => !isNull(one)), ...choices.filter(isNull)]) {
    const target = making.flat(choice);
    if (open.includes(target)) continue;
    const value = make(making.flat({ ...own, allOf: [choice] }), making, [...open, keywords, target]);
    if (value === undefined) continue;
    if (!isMap(value) || !discriminator) return value;
    const { propertyName, mapping = {} } = discriminator;
    const names = Object.entries(mapping).flatMap(([name, $ref]) =>
      componentNameOf({ $ref }) === componentNameOf(choice) ? [name] : [],
    );
    const [name = componentNameOf(choice)] = names;
    return names.includes(String(value[propertyName])) ? value : { ...value, [propertyName]: name };
  }
  return undefined;
}

/** For each type of JSON Schema, keywords that occur only in schemas of this type. */
const KEYWORDS_OF_TYPES: [type: string, keywords: string[]][] = [
  ['object', ['properties', 'additionalProperties', 'required', 'patternProperties']],
  ['array', ['items', 'prefixItems', 'minItems']],
  ['string', ['format', 'pattern', 'minLength', 'maxLength']],
  ['number', ['minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf']],
];

function makeNew(keywords: Keywords, making: Making, open: Keywords[]): unknown {
  const implied = KEYWORDS_OF_TYPES.find(([, names]) => names.some((name) => keywords[name] !== undefined))?.[0];
  const type = [keywords.type ?? implied].flat().find((one) => one !== 'null');
  if (type === 'string') return makeText(keywords);
  if (type === 'integer' || type === 'number') return makeNumber(keywords);
  if (type === 'boolean') return true;
  if (type === 'array') return makeArray(keywords, making, open);
  return keywords.type === 'null' ? null : makeObject(keywords, making, open);
}

function makeArray({ items, prefixItems = [], minItems = 1, maxItems }: Keywords, making: Making, open: Keywords[]) {
  const first = prefixItems.map((item) => make(item, making, open));
  const missing = Math.max(Number(minItems), first.length) - first.length;
  const item = Number(maxItems) === 0 ? undefined : make(items, making, open);
  return item === undefined ? first : [...first, ...Array(missing).fill(item)];
}

function makeObject(keywords: Keywords, making: Making, open: Keywords[]): Record<string, unknown> {
  const { properties = {}, required = [], additionalProperties: others } = keywords;
  const { flat, leftOut } = making;
  const shown = Object.keys(properties).filter((name) => !flat(properties[name])[leftOut]);
  const needed = required.filter((name) => !flat(properties[name])[leftOut]);
  const named =
    leftOut === 'readOnly' ? (needed.length > 0 ? needed : shown.slice(0, 3)) : [...new Set([...shown, ...needed])];
  const isOpen = isNode(others) && named.length === 0 && !keywords.propertyNames && !keywords.patternProperties;
  const fields = isOpen
    ? [['name', others] as const]
    : named.map((name) => [name, properties[name] ?? others] as const);
  const made = fields.flatMap(([name, field]) => {
    const isNeeded = required.includes(name);
    if (!isNeeded && open.length > making.depth && isDeep(flat(field))) return [];
    const value = make(field, making, open);
    const isEmpty = value === undefined || (!isNeeded && isMap(value) && Object.keys(value).length === 0);
    return isEmpty ? [] : [[name, value] as const];
  });
  return Object.fromEntries(made);
}

const isDeep = ({ properties, items, oneOf, anyOf }: Keywords): boolean =>
  Boolean(properties ?? items ?? oneOf ?? anyOf);

/** A sample of each format, with names and addresses that are reserved for examples (RFC 2606, 5737, 3849). */
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

/** Texts that many patterns allow. A sample may repeat such a text or cut it to an allowed length. */
const TEXTS = 'string text a A 1 ABC a-b a_1 1.0 1.0.0 en-US /a #ffffff +15550100'.split(' ');

/** Makes a text that fits the schema. Returns undefined if none of the known texts does. */
function makeText({ format = '', pattern, minLength, maxLength }: Keywords): string | undefined {
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

/** Returns the least allowed number. Without a lower limit, returns 1, or the upper limit if 1 is above it. */
function makeNumber(keywords: Keywords): number | bigint {
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
