/** What a request breaks, in words for the client, with its place: `body.name is missing`. */
import type { ErrorObject } from 'ajv/dist/2020.js';

/** How many a client is told of, how long each may be, and how many bytes of JSON all take: names that it has sent are in them. */
const MAX_PROBLEMS = 20;
const MAX_LENGTH = 400;
const MAX_BYTES = 6000;
const MORE = 'and more';

/** Keywords whose problems are those of a schema within them. */
const SUMMARIES = ['if', 'propertyNames'];

/** Each once, in its words. `at` is the place of the value that was checked. */
export function toProblems(errors: ErrorObject[] | null | undefined, at = ''): string[] {
  const problems = new Set<string>();
  for (const error of errors ?? []) {
    if (!SUMMARIES.includes(error.keyword)) problems.add(toProblem(error, at));
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

function toProblem({ instancePath, keyword, params, message, propertyName }: ErrorObject, at: string): string {
  const path = `${at}${instancePath.replaceAll('/', '.').replaceAll('~1', '/').replaceAll('~0', '~')}`;
  const value = path.replace(/^\./, '');
  const inside = (name: string) => (value ? `${value}.${name}` : name);
  const place = propertyName === undefined ? value : `the name of ${inside(propertyName)}`;
  const noun = place === 'query' ? 'query parameter' : 'field';
  switch (keyword) {
    case 'required':
      return `${inside(params.missingProperty)} is missing`;
    case 'additionalProperties':
      return `${inside(params.additionalProperty)} is not a known ${noun}`;
    case 'unevaluatedProperties':
      return `${inside(params.unevaluatedProperty)} is not a known ${noun}`;
    case 'enum':
    case 'equals':
      return `${place} must be one of ${params.allowedValues.map(toText).join(', ')}`;
    case 'type':
      return `${place} must be of type ${params.type}`;
    case 'minLength':
      return `${place} must have at least ${params.limit} characters`;
    case 'maxLength':
      return `${place} must have at most ${params.limit} characters`;
    case 'minItems':
      return `${place} must have at least ${params.limit} items`;
    case 'maxItems':
      return `${place} must have at most ${params.limit} items`;
    case 'minProperties':
      return `${place} must have at least ${params.limit} fields`;
    case 'maxProperties':
      return `${place} must have at most ${params.limit} fields`;
    case 'const':
      return `${place} must be ${toText(params.allowedValue)}`;
    case 'pattern':
      return `${place} must match ${params.pattern}`;
    case 'minimum':
      return `${place} must be at least ${params.limit}`;
    case 'maximum':
      return `${place} must be at most ${params.limit}`;
    default:
      return `${place} ${message}`;
  }
}
