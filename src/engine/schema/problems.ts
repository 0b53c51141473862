/** What a request breaks, in words for the client, with its place: `body.name is missing`. */
import type { ErrorObject } from 'ajv/dist/2020.js';

/** How many a client is told of, how long each may be, and how many bytes of JSON all take: names that it has sent are in them. */
const MAX_PROBLEMS = 20;
const MAX_LENGTH = 400;
const MAX_BYTES = 6000;
const MORE = 'and more';

/** Keywords whose problems are those of a schema within them. */
const SUMMARIES = ['if', 'propertyNames'];

/** Those that a value of another type breaks in any case. */
const OF_VALUES = ['enum', 'const', 'equals'];

/** Each once, in its words. `at` is the place of the value that was checked. */
export function toProblems(errors: readonly ErrorObject[], at = ''): string[] {
  const problems = new Set<string>();
  const ofWrongType = new Set(
    errors.filter(({ keyword }) => keyword === 'type').map(({ instancePath }) => instancePath),
  );
  for (const error of errors) {
    const isTold = OF_VALUES.includes(error.keyword) && ofWrongType.has(error.instancePath);
    if (!isTold && !SUMMARIES.includes(error.keyword)) problems.add(toProblem(error, at));
    if (problems.size > MAX_PROBLEMS) break;
  }
  return toFew([...problems]);
}

/** The first ones, and whether there are more. Of what is too long, the start and the end. */
export function toFew(problems: string[]): string[] {
  const few: string[] = [];
  let bytes = 0;
  for (const problem of problems) {
    const words = cut(problem);
    bytes += Buffer.byteLength(JSON.stringify(words));
    if (few.length === MAX_PROBLEMS || bytes > MAX_BYTES) return [...few, MORE];
    few.push(words);
  }
  return few;
}

function cut(text: string): string {
  if (text.length <= MAX_LENGTH) return text;
  return `${text.slice(0, MAX_LENGTH / 2)} … ${text.slice(-MAX_LENGTH / 2)}`.toWellFormed();
}

const toText = (value: unknown) =>
  typeof value === 'object' && value !== null ? JSON.stringify(value) : String(value);

/** What a value must be, by the keyword that it breaks; for any other keyword, what ajv says. */
const WORDS: Record<string, (params: ErrorObject['params']) => string> = {
  enum: ({ allowedValues }) => `be one of ${allowedValues.map(toText).join(', ')}`,
  equals: ({ allowedValues }) => `be one of ${allowedValues.map(toText).join(', ')}`,
  const: ({ allowedValue }) => `be ${toText(allowedValue)}`,
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

function toProblem({ instancePath, keyword, params, message, propertyName }: ErrorObject, at: string): string {
  const path = `${at}${instancePath.replaceAll('/', '.').replaceAll('~1', '/').replaceAll('~0', '~')}`;
  const value = path.replace(/^\./, '');
  const inside = (name: string) => (value ? `${value}.${name}` : name);
  if (keyword === 'required') return `${inside(params.missingProperty)} is missing`;
  const unknown = params.additionalProperty ?? params.unevaluatedProperty;
  if (unknown !== undefined)
    return `${inside(unknown)} is not a known ${value === 'query' ? 'query parameter' : 'field'}`;
  const place = propertyName === undefined ? value : `the name of ${inside(propertyName)}`;
  const words = WORDS[keyword];
  return `${place} ${words ? `must ${words(params)}` : message}`;
}
