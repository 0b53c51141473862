/** A program of the project in its own process, for one test. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import type { Test } from 'tap';
import { buildRequest, KEY, type SendRequest } from './service.ts';

export interface ProgramOptions {
  args?: string[];
  /** Settings of the program; others have their defaults, except `DRAIN_DELAY`, which is 0. */
  env?: Record<string, string>;
  /** The project that the program belongs to, by default this one. */
  root?: string;
  /** Shell commands before it. */
  shell?: string;
  /** Whether it counts for the coverage, which takes a third of its time, and catches signals that Node ignores. */
  isCovered?: boolean;
}

export interface Program {
  child: ChildProcess;
  /** The output of the program so far. */
  output: { stdout: string; stderr: string };
  /** Resolves with the first match in what it has written or will write. Fails when it ends without one. */
  written(stream: 'stdout' | 'stderr', pattern: RegExp): Promise<RegExpExecArray>;
  /** Resolves with the exit code, or the signal that ended the program, after all its output. */
  exit: Promise<number | string>;
}

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const DEFAULTS = {
  HOST: '',
  PORT: '',
  DATABASE_URL: '',
  API_KEYS: '',
  LOG_LEVEL: '',
  NODE_ENV: '',
  DRAIN_DELAY: '0',
  CREATE_TIMEOUT: '60000',
};

/** The folder in which `npm test` has built the program. */
const { TEST_PROGRAM } = process.env;

/** The arguments with which Node runs a TypeScript file. */
export const NODE_ARGS = [`--import=${new URL('../src/contract-first/cli/typescript/register.js', import.meta.url)}`];

/** Starts a TypeScript file of a project; of ours, the built one. */
export function startProgram(t: Test, file: string, options: ProgramOptions = {}): Program {
  const { args = [], env = {}, root = ROOT, shell = ':', isCovered = false } = options;
  const script = `${isCovered ? '' : 'unset NODE_OPTIONS NODE_V8_COVERAGE; '}${shell}; exec "$@"`;
  const isBuilt = TEST_PROGRAM && root === ROOT && file.startsWith('src/');
  const program = isBuilt ? [`${TEST_PROGRAM}/${file.replace(/ts$/, 'js')}`] : [...NODE_ARGS, file];
  const child = spawn('sh', ['-c', script, 'sh', process.execPath, ...program, ...args], {
    cwd: root,
    env: { ...process.env, ...DEFAULTS, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const output = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const) {
    child[name]?.setEncoding('utf8').on('data', (text: string) => {
      output[name] += text;
    });
  }
  const exit = once(child, 'close').then(([code, signal]) => code ?? signal);
  t.teardown(async () => {
    child.kill('SIGKILL');
    await exit;
  });

  async function written(name: 'stdout' | 'stderr', pattern: RegExp): Promise<RegExpExecArray> {
    for (;;) {
      const match = pattern.exec(output[name]);
      if (match) return match;
      const ended = exit.then((code) => {
        throw new Error(`it ended with ${code} and never wrote ${pattern}: ${output.stdout}${output.stderr}`);
      });
      await Promise.race([once(child[name] as NonNullable<ChildProcess['stdout']>, 'data'), ended]);
    }
  }

  return { child, output, written, exit };
}

/** Sends a second signal, late enough not to be taken for the first one. */
export async function forceEnd({ child, exit }: Program, signal: NodeJS.Signals): Promise<number | string> {
  await wait(600);
  child.kill(signal);
  return exit;
}

export interface Server extends Program {
  port: number;
  request: SendRequest;
}

/** Starts `src/main.ts` where the shell sends its standard output elsewhere: it tells its port and a key with its welcome. */
export async function startWithLog(t: Test, options: ProgramOptions): Promise<Server & { key: string }> {
  const env = { PORT: '0', DATABASE_URL: 'sqlite::memory:', API_KEYS: '', ...options.env };
  const program = startProgram(t, 'src/main.ts', { ...options, env });
  const [, key, port] = await program.written('stderr', /Bearer (\S+)'[\s\S]*?'http:[^ ]*:(\d+)\//);
  return { ...program, key: key as string, port: Number(port), request: buildRequest(Number(port)) };
}

/** Starts `src/main.ts` on a free port, with the tests' key unless `env` says otherwise, and waits until it listens. */
export async function startServer(t: Test, options: ProgramOptions = {}): Promise<Server> {
  const env = { PORT: '0', DATABASE_URL: 'sqlite::memory:', API_KEYS: KEY, ...options.env };
  const program = startProgram(t, 'src/main.ts', { ...options, env });
  const [, digits] = await program.written('stdout', /"origin":"http:[^"]*:(\d+)"/);
  const port = Number(digits);
  return { ...program, port, request: buildRequest(port) };
}

/** A folder of the project for a whole file. The folder of `t.testdir` outside of a test belongs to every file of the process. */
export function makeProjectFolder(t: Test): string {
  mkdirSync(join(ROOT, '.tap'), { recursive: true });
  const folder = mkdtempSync(join(ROOT, '.tap/folder-'));
  t.teardown(() => rmSync(folder, { recursive: true }));
  return folder;
}

/** The installed packages, for a copy of the project: the engine is its own. */
export function linkModules(folder: string): void {
  const modules = join(folder, 'node_modules');
  mkdirSync(modules);
  for (const name of readdirSync(join(ROOT, 'node_modules'))) {
    const target = name === 'contract-first' ? '../src/contract-first' : join(ROOT, 'node_modules', name);
    symlinkSync(target, join(modules, name));
  }
}
