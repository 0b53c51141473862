/** Runs files of tests in one process, and counts their results. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { Parser, type Result } from 'tap-parser';
import { stringify } from 'yaml';
import type { Run } from './runs.ts';

export interface Outcome {
  passed: number;
  /** The failures and their reasons, as text. */
  failures: string[];
  seconds: number;
}

const LOADER = new URL('register.js', import.meta.url);
const IN_ONE_PROCESS = fileURLToPath(new URL('in-one-process.js', import.meta.url));
const ROOT = fileURLToPath(new URL('../..', import.meta.url));

/** Most objects of tests are short-lived: with a larger young generation, the garbage collector runs less often. */
const ROOM = '--max-semi-space-size=64';

/** Longer lines of a failure are bodies or logs, and are cut. */
const TOO_LONG = /^(.{2000}).+/gm;

/** After so many seconds a run of one file fails: first by tap, so that it ends what it has started, then by force. */
const TIMEOUT = Number(process.env.TEST_TIMEOUT) || 900;
const MORE_FILE = 30;
const GRACE = 20;

/** Folders that all runs share: of the built program, and of a database of PostgreSQL to copy. */
export interface SharedFolders {
  program: string;
  postgres: string;
}

/** With another folder, the coverage of all processes is written there. */
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
