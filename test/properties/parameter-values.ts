/** Generates the texts of parameters: valid values, each in its only valid spelling, and texts that break one rule. */
import fc, { type Arbitrary } from 'fast-check';
import { isAnnotation, noWayToBreak } from './keywords.ts';
import type { Json, Parameter } from './operations.ts';
import { BROKEN_SCALARS, type Scalar, scalars } from './scalars.ts';

/** The text of a parameter, or the texts of an array's items. */
export type Text = string | string[];

interface ParameterBreak {
  rule: string;
  /** `place` is the position of the invalid item below the parameter, such as `.2`. */
  values: Arbitrary<{ text: Text; place: string }>;
}

export function parameterValues(parameter: Parameter): Arbitrary<Text> {
  return parameter.list ? listValues(parameter, itemsOf(parameter)) : textsOf(parameter);
}

/** Returns a break for each rule. @throws Error that names a keyword which no generator can break yet */
export function parameterBreaks(parameter: Parameter): ParameterBreak[] {
  if (parameter.list) return listBreaks(parameter, itemsOf(parameter));
  return breaksOf(parameter).map(({ rule, texts }) => ({ rule, values: texts.map((text) => ({ text, place: '' })) }));
}

function itemsOf({ schema, ...parameter }: Parameter): Items {
  const item = { ...parameter, schema: schema.items };
  return { values: textsOf(item), breaks: breaksOf(item) };
}

function textsOf({ schema, in: place }: Parameter): Arbitrary<string> {
  const texts = toTexts(scalars(schema) as Arbitrary<Scalar>, schema, place);
  if (schema.type !== 'number') return texts;
  return fc.tuple(texts, fc.boolean()).map(([text, isPlain]) => (isPlain ? text : Number(text).toExponential()));
}

function breaksOf({ schema, in: place, isOpaque }: Parameter): Items['breaks'] {
  const breaks = Object.keys(schema).flatMap((keyword) => {
    if (isAnnotation(keyword) || keyword === 'type' || isKeptByPath(keyword, schema, place)) return [];
    const broken = BROKEN_SCALARS[keyword];
    if (!broken) throw noWayToBreak(keyword, 'scalars.ts');
    const values = broken(schema);
    return values ? [{ rule: keyword, texts: toTexts(values, schema, place) }] : [];
  });
  if (schema.type !== 'string') breaks.push({ rule: 'type', texts: toTexts(misspelt(schema), schema, place) });
  if (place !== 'path' && !isEmptyAllowed(schema)) breaks.push({ rule: 'empty value', texts: fc.constant('') });
  if (isOpaque) breaks.push({ rule: 'x-opaque', texts: madeUp(schema) });
  return breaks;
}

/**
 * True if a location can carry a text. A URL cannot contain half surrogate pairs (RFC 3986, section 2.5), and a path
 * cannot contain empty segments.
 */
const CARRIES: Record<Parameter['in'], (text: string) => boolean> = {
  path: (text) => text !== '' && !/\p{Cs}/u.test(text),
  query: (text) => !/\p{Cs}/u.test(text),
  // A header loses white space around its value, and has no defined meaning for characters other than ASCII (RFC 9110,
  // section 5.5).
  header: (text) => /^[ -~]*$/.test(text) && text === text.trim(),
};

function toTexts(values: Arbitrary<Scalar>, schema: Json, place: Parameter['in']): Arbitrary<string> {
  // Random texts for headers are converted to ASCII, because a filter would let too few pass. If a text must fit a
  // pattern or a list, it is filtered instead.
  const isAny = place === 'header' && !['pattern', 'format', 'enum', 'const'].some((keyword) => keyword in schema);
  const texts = values.map(String);
  return (isAny ? texts.map(toAscii) : texts).filter(CARRIES[place]);
}

/** Converts a text to ASCII without white space at its ends, and keeps its length. */
function toAscii(text: string): string {
  const visible = text.replace(/[^ -~]/gu, (character) =>
    String.fromCharCode(33 + ((character.codePointAt(0) as number) % 94)),
  );
  return visible.replace(/^ +| +$/g, (spaces) => '_'.repeat(spaces.length));
}

/**
 * True if this rule cannot be broken in a path: an empty segment would be another path, so a `minLength` of 1 always
 * holds.
 */
function isKeptByPath(keyword: string, { minLength }: Json, place: Parameter['in']): boolean {
  return place === 'path' && keyword === 'minLength' && minLength === 1;
}

function isEmptyAllowed({ type, minLength = 0, pattern = '', ...rest }: Json): boolean {
  const isFree = !('enum' in rest || 'const' in rest || 'format' in rest);
  return type === 'string' && minLength === 0 && isFree && new RegExp(pattern, 'u').test('');
}

/**
 * Generates wrong spellings of integers and booleans, which have only one spelling, and of numbers, such as wrong
 * exponents.
 */
function misspelt(schema: Json): Arbitrary<string> {
  const none = ['ten', 'null', 'NaN', 'Infinity', '[]', '{}', '-', '.5', '5.', '0x10', '1_0', 'TRUE', ' ', '٥', '５'];
  const special: Record<string, string[]> = { integer: ['-0', '0.5', 'true'], number: ['true'], boolean: ['0', '1'] };
  const others = (scalars(schema) as Arbitrary<Scalar>).chain((value) =>
    fc.constantFrom(
      ...[
        `+${value}`,
        ` ${value}`,
        `${value} `,
        `"${value}"`,
        `${value},${value}`,
        `${value}n`,
        `${value}e`,
        `${value}e0.5`,
      ],
      String(value).replace(/^-?/, '$&0'),
      ...(schema.type === 'number' ? ['1e400', '0.10000000000000001'] : [`${value}e0`]),
      ...(schema.type === 'integer' ? [`${value}.0`] : []),
    ),
  );
  return fc.oneof(fc.constantFrom(...none, ...(special[schema.type] ?? [])), others);
}

/** Generates well-formed cursors that the server never made. They are too long to match a real one by chance. */
function madeUp(schema: Json): Arbitrary<string> {
  return scalars({ ...schema, minLength: Math.max(schema.minLength ?? 0, 12) }) as Arbitrary<string>;
}

/** The items of an array: their valid values, and invalid values for each rule. */
interface Items {
  values: Arbitrary<string>;
  breaks: { rule: string; texts: Arbitrary<string> }[];
}

/** Generates arrays. None is empty, because an empty array is written like an absent one. */
function listValues({ schema, in: place }: Parameter, { values }: Items, limits: Json = {}): Arbitrary<string[]> {
  const { minItems = 1, maxItems = minItems + 5, uniqueItems }: Json = { ...schema, ...limits };
  const lengths = { minLength: Math.max(1, minItems), maxLength: maxItems };
  const items = values.filter(inList(place));
  return uniqueItems ? fc.uniqueArray(items, lengths) : fc.array(items, lengths);
}

/** Returns a break for each rule. @throws Error that names a keyword which no generator can break yet */
function listBreaks(parameter: Parameter, items: Items): ParameterBreak[] {
  const { schema } = parameter;
  const broken = (texts: Arbitrary<string[]>) => texts.map((text) => ({ text, place: '' }));
  const breakers: Record<string, () => ParameterBreak[]> = {
    type: () => [],
    items: () => {
      const canBreak = ({ rule }: { rule: string }) => parameter.in !== 'header' || rule !== 'empty value';
      return items.breaks.filter(canBreak).map((inner) => breakItem(parameter, items, inner));
    },
    minItems: () => {
      const maxItems = schema.minItems - 1;
      const values = () => broken(listValues(parameter, items, { minItems: 1, maxItems }));
      return maxItems > 0 ? [{ rule: 'minItems', values: values() }] : [];
    },
    maxItems: () => {
      const minItems = schema.maxItems + 1;
      return [{ rule: 'maxItems', values: broken(listValues(parameter, items, { minItems, maxItems: minItems + 2 })) }];
    },
    uniqueItems: () => {
      const repeated = listValues(parameter, items, { minItems: Math.max(1, (schema.minItems ?? 0) - 1) });
      return [{ rule: 'uniqueItems', values: broken(repeated.map((texts) => [...texts, texts[0] as string])) }];
    },
  };
  return Object.keys(schema)
    .filter((keyword) => !isAnnotation(keyword))
    .flatMap((keyword) => {
      const breaker = breakers[keyword];
      if (!breaker) throw noWayToBreak(`${keyword} of an array in a parameter`, 'parameter-values.ts');
      return breaker();
    });
}

function breakItem(parameter: Parameter, items: Items, { rule, texts }: Items['breaks'][number]): ParameterBreak {
  const others = listValues(parameter, items);
  return {
    rule: `items ${rule}`,
    values: fc.tuple(others, texts.filter(inList(parameter.in)), fc.nat()).map(([texts, text, seed]) => {
      const at = seed % texts.length;
      return { text: texts.with(at, text), place: `.${at}` };
    }),
  };
}

/** True if a text can be an item. In a header, a comma always separates two items, and empty items do not count. */
const inList = (place: Parameter['in']) => (text: string) => place !== 'header' || /^[^,]+$/.test(text);
