/** Schemas of several parts: a value or null, one of several schemas, all of several, or one with what `if` adds; and what fits a schema as a whole. */
import { isDeepStrictEqual } from 'node:util';
import { Ajv2020 } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import fc, { type Arbitrary } from 'fast-check';
import { isAnnotation, noWayToBreak, noWayToKeep } from './keywords.ts';
import type { Json } from './operations.ts';

/** The schema without null, and whether it takes null. A schema of one type stays the same object. */
export function splitNull(schema: Json): { schema: Json; isNullable: boolean } {
  if (!Array.isArray(schema.type)) return { schema, isNullable: false };
  const types = schema.type.filter((type: string) => type !== 'null');
  const values = schema.enum?.filter((value: Json) => value !== null);
  const isNullable = types.length < schema.type.length && (!values || values.length < schema.enum.length);
  const rest = { ...schema, type: types.length === 1 ? types[0] : types, ...(values && { enum: values }) };
  return { schema: rest, isNullable };
}

/** The schemas of which one is meant, if any. */
export const alternativesOf = ({ oneOf, anyOf }: Json): Json[] | undefined => oneOf ?? anyOf;

const ajv = new Ajv2020({ strict: false, validateSchema: false });
addFormats.default(ajv);

/** Only texts that the schema does not take after all, through another alternative; undefined where that is most of them. */
export function refusedBy<T extends { text: string }>(schema: Json, values: Arbitrary<T>): Arbitrary<T> | undefined {
  const isValid = ajv.compile(schema);
  const isRefused = ({ text }: T) => !isValid(JSON.parse(text));
  const sample = fc.sample(values, { numRuns: 50, seed: 1 });
  return sample.filter(isRefused).length > 5 ? values.filter(isRefused) : undefined;
}

/** Only texts that the schema takes: those of one alternative may fit another, too. */
export function takenBy(schema: Json, texts: Arbitrary<string>): Arbitrary<string> {
  const isValid = ajv.compile(schema);
  return texts.filter((text) => isValid(JSON.parse(text)) === true);
}

const KEPT = new Map<string, Arbitrary<string>>();

/** The same, where it may be that none is taken. Made once for each schema, since that takes long. @throws Error that names its keywords */
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

/** Two values of a keyword as one that says both. */
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

/** Several that all hold, as one. @throws Error that names a keyword that two of them have, and for which there is no way yet */
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

/** A schema with `if`, as it is where the condition holds, and where it does not. */
export function branchesOf({ if: condition, then: more = {}, else: others = {}, ...base }: Json) {
  return { condition, held: joined(base, condition, more), unheld: joined(base, others) };
}
