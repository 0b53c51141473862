/**
 * Finds patterns of a contract that are invalid, or that could hang the server because they do not run in linear time.
 * Uses recheck.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import recheck from '#recheck';
import { reportInOperation } from '../contract/read/operations.ts';
import { locatedSchemasIn } from '../contract/subsets/keyword-subsets.ts';
import type { Operation, ReadContract } from '../engine/contract/contract.ts';
import { inAllTypes } from '../engine/contract/replies.ts';
import { toRegExp } from '../engine/schema/ajv.ts';
import type { ContractProblem, Schema } from '../engine/schema/json.ts';
import { toPointerOf } from '../json/pointer.ts';

/** The maximum number of steps that one match may take. A million steps take some milliseconds. */
const STEPS = 1_000_000;

/**
 * Returns a problem for each pattern that is invalid or may be slow, with the first operation that uses it. Does not
 * check headers of replies, because clients do not send them.
 */
export function findSlowPatterns({ operations }: ReadContract, budget = newBudget()): ContractProblem[] {
  const seen = new Set<unknown>();
  const reported = new Map<string, ContractProblem>();
  for (const operation of operations.values()) {
    for (const [schema, at] of schemasOf(operation)) {
      for (const [{ pattern, maxLength, patternProperties = {} }, pointer] of locatedSchemasIn(schema, at, seen)) {
        if (typeof pattern === 'string') judge(pattern, maxLength, operation, `${pointer}/pattern`);
        for (const name of Object.keys(patternProperties))
          judge(name, undefined, operation, pointer + toPointerOf('patternProperties', name));
      }
    }
  }
  return [...reported.values()];

  function judge(pattern: string, maxLength: number | undefined, operation: Operation, at: string): void {
    const fault = reported.has(pattern) ? undefined : findFault(pattern, maxLength, budget);
    const report = reportInOperation((words, pointer) => reported.set(pattern, { words, pointer }), operation);
    if (fault) report(`the pattern ${pattern} ${fault}`, at);
  }
}

const schemasOf = ({ parameters, body, replies }: Operation): [schema: Schema, pointer: string][] => [
  ...parameters.map(({ name, schema }): [Schema, string] => [schema, toPointerOf('parameters', name, 'schema')]),
  ...(body?.contents ?? []).map(({ type, schema }): [Schema, string] => [
    schema,
    toPointerOf('requestBody', 'content', type, 'schema'),
  ]),
  ...inAllTypes(replies).map(({ status, type, schema }): [Schema, string] => [
    schema,
    toPointerOf('responses', status, 'content', type, 'schema'),
  ]),
];

function findFault(pattern: string, maxLength = Number.POSITIVE_INFINITY, budget: Budget): string | undefined {
  const expression = readExpression(pattern);
  if (typeof expression === 'string') return expression;
  const bound = boundOf(expression);
  // A match may start at any position in the text. After an average position, half of the text follows.
  if (bound && maxLength ** bound.degree * Math.min(bound.size, (maxLength + 1) / 2) <= STEPS) return undefined;
  const isLate = budget.left < budget.one;
  const degree = degreeOf(expression, budget);
  if (degree === undefined) {
    // Advises a second run if earlier patterns have used up the steps. The verdicts on earlier patterns are stored, so
    // a second run has more steps for the remaining patterns.
    const [steps, again] = isLate ? [' in the steps that others left', 'run it again, or '] : ['', ''];
    const most = bound && `add maxLength: ${longest(bound.degree, bound.size)} at most, or `;
    return `is too complex to tell${steps} whether it would stop the server: ${again}${most ?? ''}write it with fewer groups, alternatives and counts`;
  }
  if (degree === 1 || maxLength ** degree <= STEPS) return undefined;
  if (degree === Number.POSITIVE_INFINITY) {
    return 'takes so long for some short texts that they would stop the server: avoid nested repetition, such as (a+)+';
  }
  return `takes the length of a text to the power of ${degree}: add maxLength: ${longest(degree)} at most, or let no two parts that follow each other take the same letters`;
}

const longest = (degree: number, size = 1) => Math.floor((STEPS / size) ** (1 / degree));

function readExpression(pattern: string): RegExp | string {
  try {
    return toRegExp(pattern, 'u');
  } catch (error) {
    return `is not a regular expression of JavaScript: ${(error as Error).message}`;
  }
}

/** The folder and the file that store the verdicts of all runs. */
const FOLDER = 'node_modules/.cache';
const FILE = `${FOLDER}/complexity-of-expressions.json`;

/**
 * The limits of the checker in steps. `one` is the maximum for one expression. `left` is the number that remains for
 * all further expressions. A million steps of the checker take a few seconds.
 */
export interface Budget {
  readonly one: number;
  left: number;
}

const newBudget = (): Budget => ({ one: 3_000_000, left: 10_000_000 });

/**
 * The maximum number of states of an automaton in the checker. With more states, even a few steps take seconds. Above
 * this limit, the checker tries texts instead of analysing the automaton.
 */
const MOST_STATES = 10_000;

/** The stored verdicts: the exponent of each expression. Null means infinity, because JSON cannot express infinity. */
let degrees: Record<string, number | null> | undefined;

/**
 * Returns the exponent of an expression: the time of a match grows like the text's length to the power of this number.
 * 1 is linear, and infinity is exponential. Returns undefined, and stores nothing, if the checker reaches no verdict.
 */
export function degreeOf(expression: RegExp, budget = newBudget()): number | undefined {
  const bound = boundOf(expression);
  if (bound?.degree === 1 && bound.size <= FEW) return 1;
  degrees ??= readDegrees();
  const name = String(expression);
  if (!Object.hasOwn(degrees, name)) {
    const isHopeless = bound !== undefined && bound.size > MANY && !expression.source.startsWith('^');
    const degree = budget.left > 0 && !isHopeless ? ask(expression, budget) : undefined;
    if (degree === undefined) return undefined;
    degrees[name] = degree;
    mkdirSync(FOLDER, { recursive: true });
    writeFileSync(FILE, JSON.stringify(degrees));
  }
  return degrees[name] ?? Number.POSITIVE_INFINITY;
}

export const isLinear = (expression: RegExp): boolean => degreeOf(expression) === 1;

/**
 * The maximum size of an expression of degree 1 that counts as linear without the checker. A match of it tries at most
 * this many letters at each position.
 */
const FEW = 100;
/**
 * The size of an expression above which the checker always reaches its limit, unless the expression begins with `^`.
 */
const MANY = 500;

/**
 * Matches one item of an expression: a letter, a class of letters or an assertion, with the repetition that follows.
 */
const ITEM =
  /(?:\\[pPu]\{[^}]*\}|\\.|\[(?:\\.|[^\]\\])*\]|[^()|*+?{}\\[\]^$])(?:(?<free>[*+?]|\{\d+,\d*\})\??|\{(?<count>\d+)\})?/gsu;

/**
 * Returns an upper bound for the steps of a match: `size` times the text's length to the power of `degree`. A match
 * tries each position, and each number of repetitions, at most once. Returns undefined for an expression with groups or
 * alternatives. With this bound, simple expressions need no checker, which takes long for some of them.
 */
function boundOf({ source }: RegExp): { degree: number; size: number } | undefined {
  const bound = { degree: Number(!source.startsWith('^')), size: 0 };
  const rest = source.replace(ITEM, (...found) => {
    const { free, count = 1 } = found.at(-1);
    bound.degree += Number(free !== undefined);
    bound.size += Number(count);
    return '';
  });
  return /^\^?\$?$/.test(rest) ? { ...bound, degree: Math.max(1, bound.degree) } : undefined;
}

/**
 * Asks the checker for the exponent. The checker reads the clock after each step, and stops after a number of
 * milliseconds. `ask` replaces the clock by a counter of the reads, so that the limit is a number of steps, and a busy
 * machine gives the same verdict.
 */
function ask({ source, flags }: RegExp, budget: Budget): number | undefined {
  const limit = Math.min(budget.one, budget.left);
  const { now } = performance;
  let steps = 0;
  performance.now = () => ++steps;
  try {
    const limits = { attackTimeout: null, incubationTimeout: null, timeout: limit, maxNFASize: MOST_STATES };
    const found = recheck.checkSync(source, flags, limits);
    if (found.status === 'unknown') return undefined;
    if (found.status === 'safe') return 1;
    return found.complexity.type === 'polynomial' ? found.complexity.degree : Number.POSITIVE_INFINITY;
  } finally {
    performance.now = now;
    budget.left -= steps;
  }
}

/**
 * Reads the stored verdicts. Returns an empty object if the file does not exist yet, or if another process is writing
 * it.
 */
function readDegrees(): Record<string, number | null> {
  try {
    return JSON.parse(readFileSync(FILE, 'utf8'));
  } catch {
    return {};
  }
}
