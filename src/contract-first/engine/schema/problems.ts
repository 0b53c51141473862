/** Turns ajv's errors into problems for clients, each with a message, a JSON Pointer and a keyword. */
import type { ErrorObject } from 'ajv/dist/2020.js';
import { fromPointerToken, toPointerToken } from '../../json/pointer.ts';
import { firstProblems, MAX_PROBLEMS, Problem, problemAt, toDottedPath } from '../errors/problem.ts';
import { toRegExp } from './ajv.ts';

/** Keywords with errors that only add to the errors of the schema inside them. */
const SUMMARIES = ['if', 'propertyNames'];

/**
 * Keywords that any value of the wrong type breaks. An error of such a keyword is omitted if the type is already
 * reported.
 */
const OF_VALUES = ['enum', 'const', 'equals'];

/** Converts ajv's errors to problems, without duplicates. `at` is the JSON Pointer of the checked `value`. */
export function toProblems(errors: readonly ErrorObject[], at = '', value?: unknown): Problem[] {
  const problems = new Map<string, Problem>();
  const ofWrongType = new Set(
    errors.filter(({ keyword }) => keyword === 'type').map(({ instancePath }) => instancePath),
  );
  for (const error of errors) {
    const isImplied = OF_VALUES.includes(error.keyword) && ofWrongType.has(error.instancePath);
    if (isImplied || SUMMARIES.includes(error.keyword)) continue;
    const problem = toProblem(error, at, value);
    problems.set(problem.message, problem);
    if (problems.size > MAX_PROBLEMS) break;
  }
  return firstProblems([...problems.values()]);
}

const quote = (value: unknown) => (typeof value === 'object' && value !== null ? JSON.stringify(value) : String(value));

/** Our own messages for broken keywords, which follow the word `must`. For other keywords, ajv's message is used. */
const KEYWORD_MESSAGES: Record<string, (params: ErrorObject['params']) => string> = {
  enum: ({ allowedValues }) => `be one of ${allowedValues.map(quote).join(', ')}`,
  equals: ({ allowedValues }) => `be one of ${allowedValues.map(quote).join(', ')}`,
  const: ({ allowedValue }) => `be ${quote(allowedValue)}`,
  type: ({ type }) => `be of type ${type}`,
  minLength: ({ limit }) => `have at least ${limit} characters`,
  maxLength: ({ limit }) => `have at most ${limit} characters`,
  minItems: ({ limit }) => `have at least ${limit} items`,
  maxItems: ({ limit }) => `have at most ${limit} items`,
  minProperties: ({ limit }) => `have at least ${limit} fields`,
  maxProperties: ({ limit }) => `have at most ${limit} fields`,
  pattern: ({ pattern }) => `match ${pattern}`,
  minimum: ({ limit }) => `be at least ${limit}`,
  maximum: ({ limit }) => `be at most ${limit}`,
};

/**
 * Our own ajv keywords, each with the keyword of the contract that it replaces. Clients get the contract's keyword as
 * the code of the problem.
 */
const STAND_INS: Record<string, (params: ErrorObject['params']) => string> = {
  int64: () => 'format',
  numeric: () => 'type',
  equals: () => 'enum',
  bounds: ({ bound }) => bound,
  multiple: () => 'multipleOf',
  hidden: () => 'readOnly',
  'false schema': () => 'not',
};

function toProblem(error: ErrorObject, at: string, value: unknown): Problem {
  const { instancePath, keyword, params, message, propertyName } = error;
  const pointer = `${at}${instancePath}`;
  const inside = (name: string) => `${pointer}/${toPointerToken(name)}`;
  if (keyword === 'required') return problemAt(inside(params.missingProperty), keyword, 'is missing');
  const unknown = params.additionalProperty ?? params.unevaluatedProperty;
  if (unknown !== undefined) {
    const kind = pointer === '/query' ? 'query parameter' : 'field';
    return problemAt(inside(unknown), 'unknown', `is not a known ${kind}`);
  }
  const code = STAND_INS[keyword]?.(params) ?? keyword;
  const words = KEYWORD_MESSAGES[keyword];
  const control =
    keyword === 'pattern' ? findControl(propertyName ?? valueAt(value, instancePath), params.pattern) : undefined;
  const wanted = control === undefined ? words?.(params) : `not have the character ${control}`;
  const said = wanted === undefined ? (message as string) : `must ${wanted}`;
  if (propertyName === undefined) return problemAt(pointer, code, said);
  return new Problem(inside(propertyName), code, `the name of ${toDottedPath(inside(propertyName))} ${said}`);
}

/** Matches control characters, which are invisible, and often the only fault in a text. */
const CONTROL = /\p{Cc}/gu;

/**
 * The longest text, in characters, that is searched for the faulty control character. The limit is needed because the
 * search tests the pattern once for each control character.
 */
const MAX_SEARCHED = 1000;

/** Finds the first control character that has to be removed for the text to match, written as `U+0000`. */
function findControl(text: unknown, pattern: string): string | undefined {
  if (typeof text !== 'string' || text.length > MAX_SEARCHED) return undefined;
  const expression = toRegExp(pattern, 'u');
  const matchesWith = (left?: string) => expression.test(text.replace(CONTROL, (one) => (one === left ? one : '')));
  const found = matchesWith() ? text.match(CONTROL)?.find((one) => !matchesWith(one)) : undefined;
  return found && `U+${found.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}`;
}

/** Returns the value at a JSON Pointer. */
const valueAt = (checked: unknown, pointer: string) =>
  pointer
    .split('/')
    .slice(1)
    .map(fromPointerToken)
    .reduce((node, name) => Object(node)[name], checked);
