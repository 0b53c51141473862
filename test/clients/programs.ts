/**
 * Builds two programs around the client of each language: the example of its README, and a driver that the tests
 * control.
 */
import { execFile, spawn } from 'node:child_process';
import { copyFileSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import openapiTS, { astToString } from 'openapi-typescript';
import type { Test } from 'tap';
import ts from 'typescript';
import { KEY } from '../service.ts';

export const CLIENTS = new URL('../../openapi/clients/', import.meta.url);
const DRIVERS = new URL('drivers/', import.meta.url);
const execute = promisify(execFile);

interface Language {
  client: string;
  example: string;
  driver: string;
  /** The command that runs a program, without the program's arguments. */
  run: (program: 'example' | 'driver') => string[];
}

export const LANGUAGES: Record<string, Language> = {
  typescript: {
    client: 'petstore-client.ts',
    example: 'example.ts',
    driver: 'driver.js',
    run: (program) => [process.execPath, `${program}.js`],
  },
  python: {
    client: 'petstore.py',
    example: 'example.py',
    driver: 'driver.py',
    run: (program) => ['python3', `${program}.py`],
  },
};

export interface Job {
  url: string;
  key: string;
  /**
   * The name of the animal to add, with `once` as the Idempotency-Key. Without a name, the client lists the animals.
   */
  name?: string;
  once?: string;
  /** In milliseconds. */
  limits: { attempts?: number; timeout?: number; total?: number };
}

export interface Result {
  pets: string[];
  error?: {
    /** Whether the error has the client's only class of errors. */
    isOurs: boolean;
    status?: number;
    code?: string;
    requestId?: string | null;
    message: string;
    cause?: string;
  };
}

export interface Program {
  folder: string;
  /** Runs the example against a URL, with an Idempotency-Key. */
  example: (url: string, once: string) => Promise<{ code: number; stdout: string; stderr: string }>;
  startDriver: (t: Test) => (job: Job) => Promise<Result>;
}

/** Builds all programs before any of them runs. */
export async function buildPrograms(t: Test, document: string): Promise<Map<string, Program>> {
  const files = { 'package.json': '{ "type": "module" }' };
  const folder = t.testdir(Object.fromEntries(Object.keys(LANGUAGES).map((name) => [name, { ...files }])));
  const programs = new Map<string, Program>();
  for (const name of Object.keys(LANGUAGES)) {
    programs.set(name, await buildProgram(t, name, { folder: join(folder, name), document }));
  }
  return programs;
}

interface Place {
  folder: string;
  /** The file of the contract as JSON. */
  document: string;
}

async function buildProgram(t: Test, name: string, { folder, document }: Place): Promise<Program> {
  const { client, example, driver, run } = LANGUAGES[name] as Language;
  const from = new URL(`${name}/`, CLIENTS);
  copyFileSync(new URL(client, from), join(folder, client));
  copyFileSync(new URL(driver, DRIVERS), join(folder, driver));
  const readme = readFileSync(new URL('README.md', from), 'utf8');
  writeFileSync(join(folder, example), /```(?!sh)\w+\n([\s\S]*?)```/.exec(readme)?.[1] as string);
  if (name === 'typescript') {
    symlinkSync(fileURLToPath(new URL('../../node_modules', import.meta.url)), join(folder, 'node_modules'));
    writeFileSync(join(folder, 'petstore.ts'), astToString(await openapiTS(document)));
    t.strictSame(compile(join(folder, example)), []);
  }
  const env = { PATH: process.env.PATH, HOME: process.env.HOME, PETSTORE_KEY: KEY };
  const [command = '', ...parts] = run('example');
  return {
    folder,
    example: (url, once) =>
      execute(command, [...parts, url, once], { cwd: folder, env, timeout: 60_000 }).then(
        (output) => ({ code: 0, ...output }),
        (error) => error,
      ),
    startDriver: (t) => startDriver(t, folder, run('driver')),
  };
}

/** After this time a job counts as endless, in milliseconds. */
const ENDLESS = 45_000;

/** Starts one process for all jobs, because starting a process takes longer than a job in every language. */
function startDriver(t: Test, folder: string, [command = '', ...parts]: string[]): (job: Job) => Promise<Result> {
  const driver = spawn(command, parts, { cwd: folder, stdio: ['pipe', 'pipe', 'inherit'] });
  const running = new Map<string, (result: Result) => void>();
  let count = 0;
  createInterface(driver.stdout).on('line', (line) => {
    const { job, ...result } = JSON.parse(line);
    running.get(job)?.(result);
  });
  driver.on('exit', () => {
    for (const end of running.values()) end({ pets: [], error: { isOurs: false, message: 'The driver has ended.' } });
  });
  driver.stdin.on('error', () => {});
  t.teardown(() => driver.kill('SIGKILL'));

  return async (job) => {
    const number = String(count++);
    const result = await new Promise<Result>((resolve) => {
      running.set(number, resolve);
      setTimeout(() => resolve({ pets: [], error: { isOurs: false, message: 'It does not end.' } }), ENDLESS).unref();
      driver.stdin.write(`${JSON.stringify({ job: number, ...job })}\n`);
    });
    running.delete(number);
    return result;
  };
}

/** The strictest options that a consumer may compile with. */
const OPTIONS: ts.CompilerOptions = {
  target: ts.ScriptTarget.ES2023,
  module: ts.ModuleKind.NodeNext,
  rewriteRelativeImportExtensions: true,
  strict: true,
  skipLibCheck: true,
  types: ['node'],
};

/** Reads the compiler's own libraries only once for all programs. */
const host = ts.createCompilerHost(OPTIONS);
const { getSourceFile } = host;
const libraries = new Map<string, ts.SourceFile | undefined>();
host.getSourceFile = (file, ...rest) => {
  if (!/\/typescript\/lib\//.test(file)) return getSourceFile(file, ...rest);
  if (!libraries.has(file)) libraries.set(file, getSourceFile(file, ...rest));
  return libraries.get(file);
};

/**
 * Compiles a program with this main file, and returns the compiler's messages. The JavaScript is written next to each
 * file.
 */
export function compile(main: string): string[] {
  const program = ts.createProgram([main], OPTIONS, host);
  const problems = [...ts.getPreEmitDiagnostics(program), ...program.emit().diagnostics];
  return problems.map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, ' '));
}
