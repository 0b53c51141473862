/** Whether a regular expression takes time in proportion to its text, whatever the text: asked of recheck, which takes a second for some. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import recheck from 'recheck/lib/browser.js';

/** Verdicts are kept, by expression. */
const FOLDER = new URL('../node_modules/.cache/', import.meta.url);
const FILE = new URL('linear-expressions.json', FOLDER);

/** By steps alone, not by the clock: a busy machine gives the same verdict. */
const BY_STEPS = { attackTimeout: null, incubationTimeout: null };

/** Of patterns that are very large there is no verdict in this time, in milliseconds. */
const PATIENCE = 60_000;

let verdicts: Record<string, boolean> | undefined;

/** Without a verdict, it is not. */
export function isLinear(expression: RegExp): boolean {
  verdicts ??= readVerdicts();
  const name = String(expression);
  if (!Object.hasOwn(verdicts, name)) {
    const { status } = recheck.checkSync(expression.source, expression.flags, { ...BY_STEPS, timeout: PATIENCE });
    verdicts[name] = status === 'safe';
    mkdirSync(FOLDER, { recursive: true });
    writeFileSync(FILE, JSON.stringify(verdicts));
  }
  return verdicts[name] as boolean;
}

/** None where there are none yet, or another process is writing them. */
function readVerdicts(): Record<string, boolean> {
  try {
    return JSON.parse(readFileSync(FILE, 'utf8'));
  } catch {
    return {};
  }
}
