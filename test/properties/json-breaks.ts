/**
 * Generates JSON text that breaks exactly one rule of a schema: one `Break` for each keyword of the schema and of the
 * schemas in it.
 */
import fc, { type Arbitrary } from 'fast-check';
import { branchesOf, joined, refusedBy, splitNull } from './alternatives.ts';
import { type Field, fieldsOf, itemsOf, jsonValues, otherName, toArray, toObject } from './json-values.ts';
import { toJson } from './json-writing.ts';
import { isAnnotation, noWayToBreak, within } from './keywords.ts';
import type { Json } from './operations.ts';
import { BROKEN_SCALARS } from './scalars.ts';
import { ANY_CHARACTER } from './strings.ts';

/**
 * An invalid value. `place` is the position of the mistake, such as `.name`; empty if the value itself is the mistake.
 */
export interface Broken {
  text: string;
  place: string;
}

export interface Break {
  /** The position in the schema and the broken keyword, such as `.name maxLength`. */
  rule: string;
  values: Arbitrary<Broken>;
}

type Breaker = (schema: Json) => Break[];

const BREAKERS: Record<string, Breaker> = {
  type: ({ type }) => [breakOf('type', valuesExcept(type))],
  required: (schema) =>
    schema.required.map((name: string) =>
      breakOf(`.${name} required`, fieldsOf(schema, [name]).map(toObject), `.${name}`),
    ),
  'x-read-only': (schema) =>
    Object.entries(schema['x-read-only']).map(([name, field]) => breakReadOnly(schema, name, field)),
  properties: (schema) => Object.keys(schema.properties).flatMap((name) => breakProperty(schema, name)),
  additionalProperties: (schema) => {
    if (schema.additionalProperties === true) return [];
    if (schema.additionalProperties === false)
      return [{ rule: 'additionalProperties', values: objectsWithUnknownField(schema) }];
    return breaksOf(schema.additionalProperties).map((inner) => breakOther(schema, inner));
  },
  items: (schema) => within('.items', () => breaksOf(schema.items)).map((inner) => breakItem(schema, inner)),
  minItems: ({ items, minItems }) =>
    minItems > 0 ? [breakOf('minItems', itemsOf({ items, maxItems: minItems - 1 }).map(toArray))] : [],
  maxItems: ({ items, maxItems }) => [breakOf('maxItems', itemsOf({ items, minItems: maxItems + 1 }).map(toArray))],
  minProperties: (schema) => breakFewFields(schema),
  if: (schema) => {
    const { condition, held, unheld } = branchesOf(schema);
    return [
      ...breakWhole({ anyOf: [schema, { not: condition }] }, '.then', breaksOf(held)),
      ...breakWhole({ anyOf: [schema, condition] }, '.else', breaksOf(unheld)),
    ];
  },
  // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
  then: () => [],
  else: () => [],
  not: ({ not, ...schema }) => [breakOf('not', jsonValues(joined(schema, not)))],
  oneOf: (schema) => schema.oneOf.flatMap((_: Json, index: number) => breakAlternative(schema, 'oneOf', index)),
  anyOf: (schema) => schema.anyOf.flatMap((_: Json, index: number) => breakAlternative(schema, 'anyOf', index)),
};

/** @throws Error that names a keyword which no generator can break yet */
export function breaksOf(source: Json): Break[] {
  const { schema, isNullable } = splitNull(source);
  if (isNullable) return breaksOf(schema).map(({ rule, values }) => ({ rule, values: values.filter(isNotNull) }));
  if (schema.allOf) return breaksOf(joined(schema));
  const keywords = Object.keys(schema).filter((keyword) => keyword in BREAKERS || !isAnnotation(keyword));
  return keywords.flatMap((keyword) => {
    const breaker = BREAKERS[keyword];
    if (breaker) return breaker(schema);
    const broken = BROKEN_SCALARS[keyword];
    if (!broken) throw noWayToBreak(keyword, 'json-breaks.ts');
    const values = broken(schema);
    return values ? [breakOf(keyword, values.chain(toJson))] : [];
  });
}

function breakOf(rule: string, texts: Arbitrary<string>, place = ''): Break {
  return { rule, values: texts.map((text) => ({ text, place })) };
}

/** JSON of every type, some of which resembles another type. */
const SAMPLES = 'null true false 0 1 "" "null" "5" "true" [] {} [null] 0.5 1e-7'.split(' ');

/** Generates JSON of every type except this one. Null is included, because null differs from an absent field. */
function valuesExcept(type: string): Arbitrary<string> {
  const digits = fc.tuple(fc.bigInt({ min: -(2n ** 64n), max: 2n ** 64n }), fc.nat(30));
  const fractions = digits.map(([whole, zeros]) => `${whole}.${'0'.repeat(zeros)}1`);
  const others = fc.oneof(
    fc.constantFrom(...SAMPLES),
    fc.jsonValue().map((value) => JSON.stringify(value)),
  );
  const wrong = others.filter((text) => !typesOf(JSON.parse(text)).includes(type));
  return type === 'integer' ? fc.oneof(wrong, fractions, fc.constantFrom('1e-400', '-5e-324', '1e400')) : wrong;
}

function typesOf(value: unknown): string[] {
  if (value === null) return ['null'];
  if (Array.isArray(value)) return ['array'];
  return Number.isInteger(value) ? ['integer', 'number'] : [typeof value];
}

function breakReadOnly(schema: Json, name: string, field: Json): Break {
  const values = fc.tuple(fieldsOf(schema), jsonValues(field));
  const texts = values.map(([fields, text]) => toObject([...fields, [name, text]]));
  return breakOf(`.${name} readOnly`, texts, `.${name}`);
}

/** Generates values that break one alternative and fit none of the others. */
function breakAlternative(schema: Json, keyword: 'oneOf' | 'anyOf', index: number): Break[] {
  return breakWhole(schema, `.${keyword}.${index}`, breaksOf(schema[keyword][index]));
}

/** Generates values that break a schema within the schema, and thereby the whole schema. */
function breakWhole(schema: Json, part: string, breaks: Break[]): Break[] {
  return breaks.flatMap(({ rule, values }) => {
    const broken = refusedBy(schema, values);
    return broken ? [{ rule: joinPlace(part, rule), values: broken }] : [];
  });
}

/** Generates objects with all required fields, but with fewer fields than minProperties. */
function breakFewFields({ minProperties, required = [], ...schema }: Json): Break[] {
  const room = minProperties - 1 - required.length;
  if (room < 0) return [];
  const isRequired = ([name]: Field) => required.includes(name);
  const few = fieldsOf({ ...schema, required }).map((fields) => {
    const others = fields.filter((field) => !isRequired(field));
    return [...fields.filter(isRequired), ...others.slice(0, room)];
  });
  return [breakOf('minProperties', few.map(toObject))];
}

const isNotNull = ({ text }: Broken) => text !== 'null';

function breakOther(schema: Json, { rule, values }: Break): Break {
  const name = otherName(9);
  return {
    rule: joinPlace('.*', rule),
    values: fc.tuple(fieldsOf(schema), values).map(([fields, { text, place }]) => ({
      text: toObject([...fields, [name, text]]),
      place: `.${name}${place}`,
    })),
  };
}

function breakProperty(schema: Json, name: string): Break[] {
  const field = schema.properties[name];
  return within(`.${name}`, () => breaksOf(field)).map(({ rule, values }) => ({
    rule: joinPlace(`.${name}`, rule),
    values: fc.tuple(fieldsOf(schema, [name]), values, fc.nat()).map(([fields, { text, place }, at]) => ({
      text: toObject(fields.toSpliced(at % (fields.length + 1), 0, [name, text])),
      place: `.${name}${place}`,
    })),
  }));
}

function breakItem(schema: Json, { rule, values }: Break): Break {
  const others = itemsOf({
    ...schema,
    minItems: Math.max(0, (schema.minItems ?? 0) - 1),
    maxItems: (schema.maxItems ?? 6) - 1,
  });
  return {
    rule: joinPlace('.items', rule),
    values: fc.tuple(others, values, fc.nat()).map(([items, { text, place }, seed]) => {
      const at = seed % (items.length + 1);
      return { text: toArray(items.toSpliced(at, 0, text)), place: `.${at}${place}` };
    }),
  };
}

/**
 * Joins a position and a rule: `.owner` and `.name maxLength` give `.owner.name maxLength`; `.owner` and `type` give
 * `.owner type`.
 */
const joinPlace = (place: string, rule: string) => (rule.startsWith('.') ? place + rule : `${place} ${rule}`);

function objectsWithUnknownField(schema: Json): Arbitrary<Broken> {
  const known = Object.keys(schema.properties ?? {});
  return fc
    .tuple(fieldsOf(schema), unknownNames(known), fc.constantFrom('null', '1', '"x"', '{}'), fc.nat())
    .map(([fields, name, text, at]) => ({
      text: toObject(fields.toSpliced(at % (fields.length + 1), 0, [name, text])),
      place: `.${name}`,
    }));
}

/** Generates undeclared names: misspelt ones, inherited JavaScript properties, and random texts. */
export function unknownNames(known: string[]): Arbitrary<string> {
  const misspelt = known.flatMap((name) => [name.toUpperCase(), `${name} `, ` ${name}`, `${name}s`, name.slice(1)]);
  const special = ['', '__proto__', 'constructor', 'toString', 'length', 'id', '$ref', 'a/b', 'a~b', '0'];
  return fc
    .oneof(fc.constantFrom(...misspelt, ...special), fc.string({ unit: ANY_CHARACTER, maxLength: 12 }))
    .filter((name) => !known.includes(name));
}
