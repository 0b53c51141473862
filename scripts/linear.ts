/** How long a regular expression takes, whatever the text: asked of recheck, which takes a second for some. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import recheck from 'recheck/lib/browser.js';

/** Verdicts are kept, by expression. */
const FOLDER = new URL('../node_modules/.cache/', import.meta.url);
const FILE = new URL('degrees-of-expressions.json', FOLDER);

/** By steps alone, not by the clock: a busy machine gives the same verdict. */
const BY_STEPS = { attackTimeout: null, incubationTimeout: null };

/** Of patterns that are very large there is no verdict in this time, in milliseconds. */
const CHECK_TIMEOUT = 60_000;

const { POSITIVE_INFINITY } = Number;

/** JSON has no infinity. */
let degrees: Record<string, number | null> | undefined;

/** Its time is this power of the text's length: 1 where it is linear, infinite where it is exponential, or where there is no verdict. */
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

/** None where there are none yet, or another process is writing them. */
function readDegrees(): Record<string, number | null> {
  try {
    return JSON.parse(readFileSync(FILE, 'utf8'));
  } catch {
    return {};
  }
}
