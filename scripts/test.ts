/**
 * Runs the tests: `npm test`. Two test files per core run at the same time, because many tests only wait. `npm test --
 * <file or folder> ...` runs only these files. `--coverage` fails if any code is not covered. For single files or
 * folders, it only prints their coverage.
 */
import { randomBytes } from 'node:crypto';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { buildCoverage } from './test/coverage.ts';
import { buildProgram } from './test/program.ts';
import { type Outcome, runFiles, toRuns } from './test/run-files.ts';

const { values, positionals } = parseArgs({ allowPositionals: true, options: { coverage: { type: 'boolean' } } });
const isWhole = positionals.length === 0;
const jobs = Number(process.env.JOBS) || 2 * availableParallelism();
const runs = toRuns(isWhole ? ['test'] : positionals, jobs);
const program = await buildProgram();
const postgres = makeTemplate();
const coverage = values.coverage ? buildCoverage(program) : undefined;

// Ends the run if the program that reads the output ends first, as in `npm test | head`.
process.stdout.on('error', () => process.exit(1));

const started = Date.now();
const waiting = [...runs];
const outcomes: Outcome[] = [];

async function runNext(): Promise<void> {
  for (let run = waiting.shift(); run !== undefined; run = waiting.shift()) {
    const record = coverage?.record();
    const outcome = await runFiles(run, { program: program.folder, postgres }, record?.folder);
    outcomes.push(outcome);
    console.log(toLine(run.files, outcome));
    record?.keep();
  }
}

function toLine(files: string[], { passed, failures, seconds }: Outcome): string {
  const progress = `${String(outcomes.length).padStart(String(runs.length).length)}/${runs.length}`;
  const names = files.map((file) => file.replace(/^test\/|\.test\.ts$/g, '')).join(', ');
  const line = `${failures.length > 0 ? 'not ok' : '    ok'} ${progress} ${seconds.toFixed(1).padStart(6)} s  ${names}: ${passed}`;
  return [line, ...failures.map((failure) => failure.replace(/^/gm, '    '))].join('\n');
}

/**
 * Makes a folder for the database that the tests of PostgreSQL copy. The user that PostgreSQL runs as must be able to
 * enter it.
 */
function makeTemplate(): string {
  const folder = mkdtempSync(join(tmpdir(), 'petstore-postgres-'));
  chmodSync(folder, 0o755);
  writeFileSync(join(folder, 'password'), randomBytes(12).toString('hex'));
  return folder;
}

await Promise.all(Array.from({ length: jobs }, runNext));
program.remove();
rmSync(postgres, { recursive: true });
const isCovered = isWhole ? coverage?.demandAll() : coverage?.show();
const sum = (count: (outcome: Outcome) => number) => outcomes.reduce((total, outcome) => total + count(outcome), 0);
const failed = sum(({ failures }) => failures.length);
console.log(
  `\n${sum(({ passed }) => passed)} passed, ${failed} failed, in ${Math.round((Date.now() - started) / 1000)} s`,
);
process.exitCode = Number(failed > 0 || isCovered === false);
