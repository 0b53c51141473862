/** Distributes test files to runs, starts a process for each run, and counts the results. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Parser, type Result } from 'tap-parser';
import { stringify } from 'yaml';

/** Test files that run in one process. */
interface Run {
  /** A short, unique name. tap uses it for the folders of the tests' fixtures. */
  name: string;
  files: string[];
}

/**
 * The maximum number of test files that share a process, because loading the program takes longer than running most
 * files. With few files, each process runs fewer, so that all processes have work.
 */
const TOGETHER = 12;

export function filesBelow(folder: string, kind = /\.test\.ts$/): string[] {
  return readdirSync(folder, { recursive: true, encoding: 'utf8' })
    .filter((name) => kind.test(name))
    .map((name) => join(folder, name))
    .sort();
}

/**
 * Returns runs for files, and for all test files in folders. A test that takes minutes (`.deep.ts`, `.fault.ts`) has
 * its own run, except for tests of types, which share a compiler.
 */
export function toRuns(paths: string[], jobs: number): Run[] {
  const files = paths.flatMap((path) => (statSync(path).isDirectory() ? filesBelow(path) : [path]));
  const short = files.filter((file) => file.endsWith('.test.ts'));
  const types = files.filter((file) => /^test\/types\/.*\.deep\.ts$/.test(file));
  const long = files.filter((file) => !short.includes(file) && !types.includes(file));
  return [
    ...deal('run', short, jobs),
    ...deal('types', types, 1),
    ...long.map((file) => ({ name: file, files: [file] })),
  ];
}

/**
 * Distributes files so that all runs take a similar time. The time of a file is unknown, so its size is used instead.
 * Begins with the largest file, and adds each file to the run with the smallest total size.
 */
function deal(name: string, files: string[], jobs: number): Run[] {
  const count = Math.min(files.length, Math.max(jobs, Math.ceil(files.length / TOGETHER)));
  const runs = Array.from({ length: count }, () => ({ files: [] as string[], size: 0 }));
  const sizes = files.map((file) => ({ file, size: statSync(file).size })).sort((a, b) => b.size - a.size);
  for (const { file, size } of sizes) {
    const run = runs.reduce((least, one) => (one.size < least.size ? one : least));
    run.files.push(file);
    run.size += size;
  }
  return runs.map(({ files }, index) => ({ name: files.length > 1 ? `${name}-${index + 1}` : String(files), files }));
}

export interface Outcome {
  passed: number;
  /** The failures as text, with their reasons. */
  failures: string[];
  seconds: number;
}

const LOADER = new URL('register.js', import.meta.url);
const IN_ONE_PROCESS = fileURLToPath(new URL('in-one-process.js', import.meta.url));
const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/**
 * Makes the young generation of V8's heap larger, so that garbage is collected less often. Most objects of tests are
 * short-lived.
 */
const ROOM = '--max-semi-space-size=64';

/** Matches the start of a line that is too long, such as a body or a line of a log. The rest of the line is cut. */
const TOO_LONG = /^(.{2000}).+/gm;

/**
 * The timeout of a run with one file, in seconds. For each further file, `MORE_FILE` is added. After the timeout, tap
 * ends the run, so that it can clean up. `GRACE` seconds later, the process is killed.
 */
const TIMEOUT = Number(process.env.TEST_TIMEOUT) || 900;
const MORE_FILE = 30;
const GRACE = 20;

/**
 * Folders that all runs share: `program` contains the built program, and `postgres` contains a PostgreSQL database to
 * copy.
 */
export interface SharedFolders {
  program: string;
  postgres: string;
}

/** Runs the test files. If a folder is given, all processes write their coverage into it. */
export async function runFiles(
  { name, files }: Run,
  { program, postgres }: SharedFolders,
  coverageFolder?: string,
): Promise<Outcome> {
  const outcome: Outcome = { passed: 0, failures: [], seconds: 0 };
  const started = Date.now();
  const timeout = TIMEOUT + (files.length - 1) * MORE_FILE;
  const args = files.length === 1 ? files : [IN_ONE_PROCESS, name];
  const child = spawn(process.execPath, [ROOM, `--import=${LOADER}`, ...args], {
    cwd: ROOT,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      ...process.env,
      TEST_FILES: files.join(' '),
      TEST_PROGRAM: program,
      POSTGRES_TEMPLATE: postgres,
      TAP_TIMEOUT: String(timeout),
      ...(coverageFolder && { NODE_V8_COVERAGE: coverageFolder }),
    },
  });
  const force = setTimeout(() => child.kill('SIGKILL'), (timeout + GRACE) * 1000);
  const parser = new Parser();
  parser.on('pass', () => outcome.passed++);
  for (const kind of ['fail', 'skip', 'todo']) {
    parser.on(kind, ({ fullname, diag }: Result) => outcome.failures.push(`${kind}: ${fullname}\n${stringify(diag)}`));
  }
  let complaints = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    complaints += text;
  });

  const [[code, signal]] = await Promise.all([once(child, 'close'), once(child.stdout.pipe(parser), 'finish')]);
  clearTimeout(force);
  if (outcome.failures.length === 0 && (code !== 0 || !parser.ok))
    outcome.failures.push(`It ended with ${code ?? signal}.`);
  if (outcome.failures.length > 0) outcome.failures.push(...(complaints ? [complaints.trimEnd()] : []));
  outcome.failures = outcome.failures.map((text) => text.replace(TOO_LONG, '$1 …'));
  outcome.seconds = (Date.now() - started) / 1000;
  return outcome;
}
