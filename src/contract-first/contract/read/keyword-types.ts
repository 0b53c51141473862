/**
 * Reports keywords with a value of a wrong type, such as a text instead of a schema, before other code reads them. Also
 * reports two mistakes with 64-bit integers: a field that is an int64 in one alternative and another number in the
 * next, and keywords that are not supported for int64.
 */
import { type Int64Map, int64sOf } from '../../engine/schema/int64-map.ts';
import { isMap, type Keywords, type ReportProblem, reportIn, type Schema } from '../../engine/schema/json.ts';
import { ONE, targetOf } from '../../engine/schema/subschemas.ts';
import { toPointerOf } from '../../json/pointer.ts';

const isList = Array.isArray;
const isSchema = (value: unknown) => typeof value === 'boolean' || isMap(value);
const isTexts = (value: unknown) => isList(value) && value.every((one) => typeof one === 'string');

interface KeywordType {
  keywords: string[];
  fits: (value: unknown) => boolean;
  words: string;
  /**
   * Returns the schemas inside a valid value of the keyword. `key` is the name of such a schema in the text of
   * problems, or empty.
   */
  within?: (value: never) => [key: string, schema: unknown][];
}

const ONE_SCHEMA = { fits: isSchema, words: 'a schema, or true or false' };

/** The keywords that our code reads as lists, objects or schemas. ajv checks the values of all other keywords. */
const KEYWORD_TYPES: KeywordType[] = [
  {
    keywords: ['allOf', 'anyOf', 'oneOf', 'prefixItems'],
    fits: isList,
    words: 'a list of schemas',
    within: (list: unknown[]) => list.map((one) => ['', one]),
  },
  {
    keywords: ['properties', 'patternProperties', 'dependentSchemas'],
    fits: isMap,
    words: 'schemas by their names',
    within: (map: object) => Object.entries(map).map(([name, one]) => [name, one]),
  },
  { ...ONE_SCHEMA, keywords: ['items'], within: (one: unknown) => [['items', one]] },
  { ...ONE_SCHEMA, keywords: [...ONE, 'propertyNames', 'additionalItems'], within: (one: unknown) => [['', one]] },
  {
    keywords: ['type'],
    fits: (value) => typeof value === 'string' || isTexts(value),
    words: 'a type, such as string, or a list of types',
  },
  { keywords: ['required'], fits: isTexts, words: 'a list of names' },
  { keywords: ['enum'], fits: isList, words: 'a list of values' },
];

/** Visited schemas without a mistake. */
const sound = new WeakSet<object>();

/**
 * Reports keywords with a value of a wrong type in a schema and in all schemas that it contains. Returns false if any
 * are found.
 */
export function reportKeywordTypes(root: unknown, name: string, report: ReportProblem): boolean {
  const seen = new Set<object>();
  let isSound = true;
  visit(root, name, '');
  if (isSound) for (const one of seen) sound.add(one);
  return isSound;

  function visit(schema: unknown, location: string, pointer: string): void {
    if (!isSchema(schema)) fail(`${location}: must be a schema, or true or false`, pointer);
    if (!isMap(schema) || seen.has(schema) || sound.has(schema)) return;
    seen.add(schema);
    const target = targetOf(schema as Keywords);
    if (target) visit(target, location, pointer);
    for (const [keyword, value] of Object.entries(schema)) {
      const type = KEYWORD_TYPES.find(({ keywords }) => keywords.includes(keyword));
      if (value === undefined || !type) continue;
      if (!type.fits(value)) fail(`${location}: ${keyword} must be ${type.words}`, pointer + toPointerOf(keyword));
      else {
        for (const [key, one] of type.within?.(value as never) ?? [])
          visit(one, location + (key && `.${key}`), pointer + (key && toPointerOf(key)));
      }
    }
  }

  function fail(words: string, pointer: string): void {
    isSound = false;
    report(words, pointer);
  }
}

/**
 * The message for a number that is `int64` in only some alternatives. The value needs one type in the program, a
 * `bigint` or a double, and only the authors of the contract know which.
 */
const MIXED =
  'is int64 in one alternative and not in another: give it type: integer, format: int64 in each, or in none where it may be a fraction';

/**
 * Finds the 64-bit integers of a schema, and reports keywords that are not supported for them. `name` is the name of
 * the schema's value in problems.
 */
export function findInt64s(schema: Schema, name: string, report: ReportProblem): Int64Map {
  const int64s = int64sOf(schema);
  reportInt64Map(int64s, name, report);
  return int64s;
}

const soundMaps = new WeakSet<Int64Map>();

function reportInt64Map(int64s: Int64Map, name: string, reportAny: ReportProblem): void {
  if (soundMaps.has(int64s)) return;
  let isSound = true;
  const report: ReportProblem = (...problem) => {
    isSound = false;
    reportAny(...problem);
  };
  if (int64s.isInt64) {
    for (const keyword of int64s.comparisons)
      report(`${name}: ${keyword} is not supported for int64`, toPointerOf(keyword));
    if (int64s.isOtherNumber && !int64s.isAlwaysInt64) report(`${name}: ${MIXED}`);
  }
  for (const recursion of int64s.recursions) reportRecursion(int64s, recursion, name, report);
  for (const [field, inside] of int64s.fields)
    reportInt64Map(inside, `${name}.${field}`, reportIn(report, toPointerOf(field)));
  if (int64s.rest) reportInt64Map(int64s.rest, `${name}.*`, report);
  if (isSound) soundMaps.add(int64s);
}

/**
 * Reports a schema that consists only of a reference to itself. Also reports a field that is an int64 here and another
 * number in the target of a recursive reference. The fields inside the target are checked when the target itself is
 * visited.
 */
function reportRecursion(int64s: Int64Map, recursion: Int64Map, name: string, report: ReportProblem): void {
  if (recursion.recursions.has(recursion)) report(`${name}: its schema is nothing but itself`);
  for (const [field, inside] of int64s.fields) {
    const other = recursion.fields.get(field);
    const both = other ? [inside, other] : [];
    const isMixed = both.some(({ isInt64 }) => isInt64) && both.some(({ isOtherNumber }) => isOtherNumber);
    if (isMixed) report(`${name}.${field}: ${MIXED}`, toPointerOf(field));
  }
}
