/**
 * Generators for schemas that are combined of others: nullable types, oneOf, anyOf, allOf and if. Also filters for
 * values that fit a whole schema.
 */
import { isDeepStrictEqual } from 'node:util';
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import fc, { type Arbitrary } from 'fast-check';
import { isAnnotation, noWayToBreak, noWayToKeep } from './keywords.ts';
import type { Json } from './operations.ts';

/**
 * Splits null off a schema: returns the schema of the other values, and whether null is allowed. A schema with a single
 * type is returned unchanged.
 */
export function splitNull(schema: Json): { schema: Json; isNullable: boolean } {
  if (!Array.isArray(schema.type)) return { schema, isNullable: false };
  const types = schema.type.filter((type: string) => type !== 'null');
  const values = schema.enum?.filter((value: Json) => value !== null);
  const isNullable = types.length < schema.type.length && (!values || values.length < schema.enum.length);
  const rest = { ...schema, type: types.length === 1 ? types[0] : types, ...(values && { enum: values }) };
  return { schema: rest, isNullable };
}

/** Returns the alternatives of a schema; undefined if it has none. */
export const alternativesOf = ({ oneOf, anyOf }: Json): Json[] | undefined => oneOf ?? anyOf;

const ajv = new Ajv2020({ strict: false, validateSchema: false });
addFormats.default(ajv);

/**
 * Keeps only the texts that the schema rejects, because a value that breaks one alternative may fit another. Returns
 * undefined if the schema accepts most of them.
 */
export function refusedBy<T extends { text: string }>(schema: Json, values: Arbitrary<T>): Arbitrary<T> | undefined {
  const isValid = ajv.compile(schema);
  const isRefused = ({ text }: T) => !isValid(JSON.parse(text));
  const sample = fc.sample(values, { numRuns: 50, seed: 1 });
  return sample.filter(isRefused).length > 5 ? values.filter(isRefused) : undefined;
}

/**
 * Keeps only the texts that the schema accepts, because a value of one alternative may also fit another, which breaks
 * oneOf.
 */
export function takenBy(schema: Json, texts: Arbitrary<string>): Arbitrary<string> {
  const isValid = ajv.compile(schema);
  return texts.filter((text) => isValid(JSON.parse(text)) === true);
}

const KEPT = new Map<string, Arbitrary<string>>();

/**
 * Keeps only the texts that the schema accepts. The generator is cached, because making it takes long.
 * @throws Error that names the schema's keywords if the schema accepts none of 20 texts
 */
export function keptBy(schema: Json, make: () => Arbitrary<string>): Arbitrary<string> {
  const key = JSON.stringify(schema);
  const known = KEPT.get(key);
  if (known) return known;
  const [texts, isValid] = [make(), ajv.compile(schema)];
  const sample = fc.sample(texts, { numRuns: 20, seed: 1 });
  if (!sample.some((text) => isValid(JSON.parse(text)))) throw noWayToKeep(schema, 'alternatives.ts');
  const kept = takenBy(schema, texts);
  KEPT.set(key, kept);
  return kept;
}

const LEAST = ['minimum', 'exclusiveMinimum', 'minLength', 'minItems', 'minProperties'];
const MOST = ['maximum', 'exclusiveMaximum', 'maxLength', 'maxItems', 'maxProperties'];
type Join = (one: Json, other: Json) => Json;
const same = (names: string[], join: Join) => Object.fromEntries(names.map((name) => [name, join]));

/** For each keyword, joins two of its values into one that demands both. */
const JOINS: Record<string, Join> = {
  ...same(LEAST, Math.max),
  ...same(MOST, Math.min),
  required: (one, other) => [...new Set([...one, ...other])],
  enum: (one, other) => one.filter((value: Json) => other.includes(value)),
  properties: (one, other) => {
    const fields = Object.entries<Json>(other).map(([name, field]) => [name, joined(one[name] ?? {}, field)]);
    return { ...one, ...Object.fromEntries(fields) };
  },
  items: (one, other) => joined(one, other),
  'x-read-only': (one, other) => ({ ...one, ...other }),
};

/**
 * Joins schemas that all apply into one schema.
 * @throws Error that names a keyword that two schemas contain and `JOINS` does not
 */
export function joined(...schemas: Json[]): Json {
  const whole: Json = {};
  const flat = schemas.flatMap(({ allOf = [], ...own }) => [...allOf.map((part: Json) => joined(part)), own]);
  for (const [keyword, value] of flat.flatMap((schema) => Object.entries<Json>(schema))) {
    const join = JOINS[keyword];
    if (!(keyword in whole) || isDeepStrictEqual(whole[keyword], value)) whole[keyword] = value;
    else if (join) whole[keyword] = join(whole[keyword], value);
    else if (!isAnnotation(keyword)) throw noWayToBreak(`two different ${keyword}`, 'alternatives.ts');
  }
  return whole;
}

/**
 * Returns the condition of a schema with `if`, and the joined schemas of values that fulfil the condition and of those
 * that do not.
 */
export function branchesOf({ if: condition, then: more = {}, else: others = {}, ...base }: Json) {
  return { condition, held: joined(base, condition, more), unheld: joined(base, others) };
}
