/** Finds invalid patterns of a contract, and those that could hang the server because they need more than linear time. Uses recheck. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import recheck from '#recheck';
import { reportInOperation } from '../contract/read/operations.ts';
import { locatedSchemasIn } from '../contract/subsets/keyword-subsets.ts';
import type { Operation, ReadContract } from '../engine/contract/contract.ts';
import { inAllTypes } from '../engine/contract/replies.ts';
import { toRegExp } from '../engine/schema/ajv.ts';
import type { ContractProblem, Schema } from '../engine/schema/json.ts';
import { toPointerOf } from '../json/pointer.ts';

/** The number of steps that a match may take, which need some milliseconds. */
const STEPS = 1_000_000;

/** The patterns, one line each, with the first operation that uses it. Headers of replies are omitted, because clients do not send them. */
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
  // On average, half of the text follows a position in it.
  if (bound && maxLength ** bound.degree * Math.min(bound.size, (maxLength + 1) / 2) <= STEPS) return undefined;
  const isLate = budget.left < budget.one;
  const degree = degreeOf(expression, budget);
  if (degree === undefined) {
    // Verdicts are stored, so that the next run has more steps for the remaining patterns.
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

/** A cache of verdicts, by expression. */
const FOLDER = 'node_modules/.cache';
const FILE = `${FOLDER}/complexity-of-expressions.json`;

/** The steps that the checker may make, for one expression and in total. A million steps take a few seconds. */
export interface Budget {
  readonly one: number;
  left: number;
}

const newBudget = (): Budget => ({ one: 3_000_000, left: 10_000_000 });

/** The maximum size of automata. Larger ones take seconds for a few steps, so the checker tries texts instead. */
const MOST_STATES = 10_000;

/** The exponents by expression. Null means infinity, which JSON cannot express. */
let degrees: Record<string, number | null> | undefined;

/**
 * Returns the exponent of the time's growth with the text's length: 1 is linear, and infinity is exponential. Returns undefined if there is
 * no verdict, and stores nothing then.
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

/** The number of letters that is small enough to be tried at each position in a text. Above `MANY`, the checker reaches its limit. */
const FEW = 100;
const MANY = 500;

/** Matches a letter, a class of letters or an assertion, and the number of its repetitions. */
const ITEM =
  /(?:\\[pPu]\{[^}]*\}|\\.|\[(?:\\.|[^\]\\])*\]|[^()|*+?{}\\[\]^$])(?:(?<free>[*+?]|\{\d+,\d*\})\??|\{(?<count>\d+)\})?/gsu;

/**
 * Finds a bound for the steps of an expression: at most `size` steps, times the text's length to the power of `degree`. A match tries each
 * position in the text and each number of repetitions once. The bound is only for expressions without groups and alternatives, since the
 * checker takes long for them.
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
 * The checker reads the clock after each step. This clock counts the reads, so the checker's limit in milliseconds becomes a limit of
 * steps, and a busy machine gives the same verdict.
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

/** Reads the cache; empty if it does not exist yet, or another process is writing it. */
function readDegrees(): Record<string, number | null> {
  try {
    return JSON.parse(readFileSync(FILE, 'utf8'));
  } catch {
    return {};
  }
}
