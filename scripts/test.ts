/**
 * Runs the tests, two files at a time for each core, since many wait, and demands that all of the code is covered: `npm test`.
 * With `-- <file> ...` it runs those files only, and with `--coverage` beside them it shows what they cover.
 */
import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';
import { buildCoverage } from './test/coverage.ts';
import { filesBelow } from './test/files.ts';
import { type Outcome, runFile } from './test/run-file.ts';

const { values, positionals } = parseArgs({ allowPositionals: true, options: { coverage: { type: 'boolean' } } });
const isWhole = positionals.length === 0;
const files = isWhole ? filesBelow('test') : positionals;
const coverage = isWhole || values.coverage ? buildCoverage() : undefined;

const started = Date.now();
const waiting = [...files];
const outcomes: Outcome[] = [];

async function runNext(): Promise<void> {
  for (let file = waiting.shift(); file !== undefined; file = waiting.shift()) {
    const outcome = await runFile(file, coverage?.folder);
    outcomes.push(outcome);
    console.log(toText(file, outcome));
  }
}

function toText(file: string, { passed, failures, seconds }: Outcome): string {
  const progress = `${String(outcomes.length).padStart(String(files.length).length)}/${files.length}`;
  const line = `${failures.length > 0 ? 'not ok' : '    ok'} ${progress} ${seconds.toFixed(1).padStart(6)} s  ${file}: ${passed}`;
  return [line, ...failures.map((failure) => failure.replace(/^/gm, '    '))].join('\n');
}

await Promise.all(Array.from({ length: Number(process.env.JOBS) || 2 * availableParallelism() }, runNext));
if (!isWhole) coverage?.show();
const isCovered = !isWhole || coverage?.demandAll();
const sum = (count: (outcome: Outcome) => number) => outcomes.reduce((total, outcome) => total + count(outcome), 0);
const failed = sum(({ failures }) => failures.length);
console.log(
  `\n${sum(({ passed }) => passed)} passed, ${failed} failed, in ${Math.round((Date.now() - started) / 1000)} s`,
);
process.exitCode = Number(failed > 0 || !isCovered);
