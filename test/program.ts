/** Runs a program of the project in its own process, for one test. */
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
  /** Environment variables of the program. Other settings have their defaults, except `DRAIN_DELAY`, which is 0. */
  env?: Record<string, string>;
  /** The folder of the project that the program belongs to, by default this project. */
  root?: string;
  /** Shell commands to run before the program. */
  shell?: string;
  /**
   * True if the run counts for coverage. This makes the program slower by a third, and lets it end at signals that Node
   * would ignore.
   */
  isCovered?: boolean;
}

export interface Program {
  child: ChildProcess;
  /** The output of the program so far. */
  output: { stdout: string; stderr: string };
  /** Resolves with the first match in the past or future output. Rejects if the program ends without a match. */
  written(stream: 'stdout' | 'stderr', pattern: RegExp): Promise<RegExpExecArray>;
  /** Resolves with the exit code, or with the signal that ended the program, once all output has arrived. */
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

/** Starts a program by the path of its TypeScript file. In this project, its built file runs. */
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

/** Sends a second signal, 600 ms later so that it does not count as the first one. */
export async function forceEnd({ child, exit }: Program, signal: NodeJS.Signals): Promise<number | string> {
  await wait(600);
  child.kill(signal);
  return exit;
}

export interface Server extends Program {
  port: number;
  request: SendRequest;
}

/**
 * Starts `src/main.ts` with its log sent elsewhere by the shell. Port and key are read from the welcome on standard
 * error.
 */
export async function startWithLog(t: Test, options: ProgramOptions): Promise<Server & { key: string }> {
  const env = { PORT: '0', DATABASE_URL: 'sqlite::memory:', API_KEYS: '', ...options.env };
  const program = startProgram(t, 'src/main.ts', { ...options, env });
  const [, key, port] = await program.written('stderr', /Bearer (\S+)'[\s\S]*?'http:[^ ]*:(\d+)\//);
  return { ...program, key: key as string, port: Number(port), request: buildRequest(Number(port)) };
}

/**
 * Starts `src/main.ts` on a free port, with the tests' key unless `env` contains another one, and waits until it
 * listens.
 */
export async function startServer(t: Test, options: ProgramOptions = {}): Promise<Server> {
  const env = { PORT: '0', DATABASE_URL: 'sqlite::memory:', API_KEYS: KEY, ...options.env };
  const program = startProgram(t, 'src/main.ts', { ...options, env });
  const [, digits] = await program.written('stdout', /"origin":"http:[^"]*:(\d+)"/);
  const port = Number(digits);
  return { ...program, port, request: buildRequest(port) };
}

/**
 * Makes a folder for all tests of a file. The top-level `t.testdir()` would be shared with the other files that run in
 * this process.
 */
export function makeProjectFolder(t: Test): string {
  mkdirSync(join(ROOT, '.tap'), { recursive: true });
  const folder = mkdtempSync(join(ROOT, '.tap/folder-'));
  t.teardown(() => rmSync(folder, { recursive: true }));
  return folder;
}

/** Links the installed packages into a copy of the project, except contract-first, of which the copy has its own. */
export function linkModules(folder: string): void {
  const modules = join(folder, 'node_modules');
  mkdirSync(modules);
  for (const name of readdirSync(join(ROOT, 'node_modules'))) {
    const target = name === 'contract-first' ? '../src/contract-first' : join(ROOT, 'node_modules', name);
    symlinkSync(target, join(modules, name));
  }
}
