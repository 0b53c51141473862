/** Asks recheck how long a regular expression may take, which itself takes a second for some. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import recheck from 'recheck/lib/browser.js';

/** A cache of verdicts, by expression. */
const FOLDER = new URL('../node_modules/.cache/', import.meta.url);
const FILE = new URL('degrees-of-expressions.json', FOLDER);

/** Limits steps, not time, so that a busy machine gives the same verdict. */
const BY_STEPS = { attackTimeout: null, incubationTimeout: null };

/** The timeout in milliseconds, which only very large patterns reach. */
const CHECK_TIMEOUT = 60_000;

const { POSITIVE_INFINITY } = Number;

/** JSON has no infinity. */
let degrees: Record<string, number | null> | undefined;

/** The exponent of its time in the text's length: 1 if it is linear; infinite if it is exponential, or there is no verdict. */
export function degreeOf(expression: RegExp): number {
  degrees ??= readDegrees();
  const name = String(expression);
  if (!Object.hasOwn(degrees, name)) {
    degrees[name] = ask(expression);
    mkdirSync(FOLDER, { recursive: true });
    writeFileSync(FILE, JSON.stringify(degrees));
  }
  return degrees[name] ?? POSITIVE_INFINITY;
}

export const isLinear = (expression: RegExp): boolean => degreeOf(expression) === 1;

function ask({ source, flags }: RegExp): number {
  const found = recheck.checkSync(source, flags, { ...BY_STEPS, timeout: CHECK_TIMEOUT });
  if (found.status === 'safe') return 1;
  return found.status === 'vulnerable' && found.complexity.type === 'polynomial'
    ? found.complexity.degree
    : POSITIVE_INFINITY;
}

/** Reads the cache; empty if there is none yet, or another process is writing it. */
function readDegrees(): Record<string, number | null> {
  try {
    return JSON.parse(readFileSync(FILE, 'utf8'));
  } catch {
    return {};
  }
}
