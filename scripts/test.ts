/**
 * Runs the tests, two files at a time for each core, since many wait, and demands that all of the code is covered: `npm test`.
 * With `-- <file or folder> ...` it runs those only, and with `--coverage` beside them it shows what they cover.
 */
import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';
import { buildCoverage } from './test/coverage.ts';
import { buildProgram } from './test/program.ts';
import { type Outcome, runFiles } from './test/run-files.ts';
import { runsBelow, toRuns } from './test/runs.ts';

const { values, positionals } = parseArgs({ allowPositionals: true, options: { coverage: { type: 'boolean' } } });
const isWhole = positionals.length === 0;
const runs = isWhole ? runsBelow('test') : positionals.flatMap(toRuns);
const program = await buildProgram();
const coverage = isWhole || values.coverage ? buildCoverage(program) : undefined;

// The reader of the results may stop: `npm test | head`.
process.stdout.on('error', () => process.exit(1));

const started = Date.now();
const waiting = [...runs];
const outcomes: Outcome[] = [];

async function runNext(): Promise<void> {
  for (let run = waiting.shift(); run !== undefined; run = waiting.shift()) {
    const record = coverage?.record();
    const outcome = await runFiles(run, program.folder, record?.folder);
    outcomes.push(outcome);
    console.log(toLine(run.name, outcome));
    record?.keep();
  }
}

function toLine(name: string, { passed, failures, seconds }: Outcome): string {
  const progress = `${String(outcomes.length).padStart(String(runs.length).length)}/${runs.length}`;
  const line = `${failures.length > 0 ? 'not ok' : '    ok'} ${progress} ${seconds.toFixed(1).padStart(6)} s  ${name}: ${passed}`;
  return [line, ...failures.map((failure) => failure.replace(/^/gm, '    '))].join('\n');
}

await Promise.all(Array.from({ length: Number(process.env.JOBS) || 2 * availableParallelism() }, runNext));
program.remove();
if (!isWhole) coverage?.show();
const isCovered = !isWhole || coverage?.demandAll();
const sum = (count: (outcome: Outcome) => number) => outcomes.reduce((total, outcome) => total + count(outcome), 0);
const failed = sum(({ failures }) => failures.length);
console.log(
  `\n${sum(({ passed }) => passed)} passed, ${failed} failed, in ${Math.round((Date.now() - started) / 1000)} s`,
);
process.exitCode = Number(failed > 0 || !isCovered);
