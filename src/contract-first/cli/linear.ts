/** Asks recheck how long a regular expression may take, which itself takes a second for some. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import recheck from '#recheck';

/** A cache of verdicts, by expression. */
const FOLDER = 'node_modules/.cache';
const FILE = `${FOLDER}/complexity-of-expressions.json`;

/** Limits steps, not time, so that a busy machine gives the same verdict where it gives one. */
const BY_STEPS = { attackTimeout: null, incubationTimeout: null };

/** The timeout in milliseconds, which only very large expressions reach. */
const TIME_LIMIT = 60_000;

/** JSON has no infinity. */
let degrees: Record<string, number | null> | undefined;

/** The exponent of its time in the text's length: 1 if it is linear, infinite if it is exponential; undefined without a verdict, which is not stored. */
export function degreeOf(expression: RegExp, timeLimit = TIME_LIMIT): number | undefined {
  const bound = boundOf(expression);
  if (bound?.degree === 1 && bound.size <= FEW) return 1;
  degrees ??= readDegrees();
  const name = String(expression);
  if (!Object.hasOwn(degrees, name)) {
    const isHopeless = bound !== undefined && bound.size > MANY && !expression.source.startsWith('^');
    const degree = timeLimit > 0 && !isHopeless ? ask(expression, timeLimit) : undefined;
    if (degree === undefined) return undefined;
    degrees[name] = degree;
    mkdirSync(FOLDER, { recursive: true });
    writeFileSync(FILE, JSON.stringify(degrees));
  }
  return degrees[name] ?? Number.POSITIVE_INFINITY;
}

export const isLinear = (expression: RegExp): boolean => degreeOf(expression) === 1;

/** How many letters are few enough to be tried at each position in a text; above `MANY`, the checker reaches its time limit. */
const FEW = 100;
const MANY = 500;

/** A letter, a class of them, or an assertion; and how often it is repeated. */
const ITEM =
  /(?:\\[pPu]\{[^}]*\}|\\.|\[(?:\\.|[^\]\\])*\]|[^()|*+?{}\\[\]^$])(?:(?<free>[*+?]|\{\d+,\d*\})\??|\{(?<count>\d+)\})?/gsu;

/**
 * At most `size` steps, times the text's length to the power of `degree`: each position in the text where a match may begin, and each
 * number of repetitions, is tried once. Only for an expression without groups and alternatives, for which the checker takes long.
 */
export function boundOf({ source }: RegExp): { degree: number; size: number } | undefined {
  const bound = { degree: Number(!source.startsWith('^')), size: 0 };
  const rest = source.replace(ITEM, (...found) => {
    const { free, count = 1 } = found.at(-1);
    bound.degree += Number(free !== undefined);
    bound.size += Number(count);
    return '';
  });
  return /^\^?\$?$/.test(rest) ? { ...bound, degree: Math.max(1, bound.degree) } : undefined;
}

function ask({ source, flags }: RegExp, timeout: number): number | undefined {
  const found = recheck.checkSync(source, flags, { ...BY_STEPS, timeout: Math.ceil(timeout) });
  if (found.status === 'unknown') return undefined;
  if (found.status === 'safe') return 1;
  return found.complexity.type === 'polynomial' ? found.complexity.degree : Number.POSITIVE_INFINITY;
}

/** Reads the cache; empty if there is none yet, or another process is writing it. */
function readDegrees(): Record<string, number | null> {
  try {
    return JSON.parse(readFileSync(FILE, 'utf8'));
  } catch {
    return {};
  }
}
