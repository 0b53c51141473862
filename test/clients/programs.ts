/** The example of each client's README as a program, with a client that has less time. */
import { execFile } from 'node:child_process';
import { mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import openapiTS, { astToString } from 'openapi-typescript';
import type { Test } from 'tap';
import { KEY } from '../service.ts';
import { compile } from './compile.ts';

export const CLIENTS = new URL('../../openapi/clients/', import.meta.url);
const execute = promisify(execFile);

/** How long an attempt may take, in milliseconds: on a busy machine, longer than an answer takes. */
export const TIMEOUT = 4000;

/** In the four languages: what a client says, and what is tried. */
const TIMES: [RegExp, string][] = [
  [/\bTIMEOUT = 10\b(?!_)/, `TIMEOUT = ${TIMEOUT / 1000}`],
  [/\bTIMEOUT = 10_000\b/, `TIMEOUT = ${TIMEOUT}`],
  [/\bTimeout += 10 \* time\.Second/, `Timeout = ${TIMEOUT} * time.Millisecond`],
  [/\bFIRST_WAIT = 0\.5\b/, 'FIRST_WAIT = 0.02'],
  [/\bFIRST_WAIT = 500\b/, 'FIRST_WAIT = 20'],
  [/\bFirstWait += 500 /, 'FirstWait = 20 '],
];

interface Language {
  client: string;
  example: string;
  /** Run in the folder of the two, before the first run. */
  build?: string[];
  run: string[];
}

const GSON = '/usr/share/java/gson.jar';

export const LANGUAGES: Record<string, Language> = {
  typescript: { client: 'petstore-client.ts', example: 'example.ts', run: [process.execPath, 'example.js'] },
  python: { client: 'petstore.py', example: 'example.py', run: ['python3', 'example.py'] },
  go: {
    client: 'petstore/petstore.go',
    example: 'main.go',
    build: ['go', 'build', '-o', 'example', '.'],
    run: ['./example'],
  },
  java: {
    client: 'Petstore.java',
    example: 'Example.java',
    build: ['javac', '-cp', GSON, 'Petstore.java', 'Example.java'],
    run: ['java', '-XX:TieredStopAtLevel=1', '-cp', `${GSON}:.`, 'Example'],
  },
};

export interface Ran {
  code: number;
  stdout: string;
  stderr: string;
}

/** Runs the example against a URL, with an Idempotency-Key. */
export type Run = (url: string, once: string) => Promise<Ran>;

/** All of them, before any is run. */
export async function buildPrograms(t: Test, document: string): Promise<Map<string, Run>> {
  const files = { 'package.json': '{ "type": "module" }', 'go.mod': 'module example.com/shop\n' };
  const folder = t.testdir(Object.fromEntries(Object.keys(LANGUAGES).map((name) => [name, { ...files }])));
  const programs = new Map<string, Run>();
  for (const name of Object.keys(LANGUAGES)) {
    programs.set(name, await buildProgram(t, name, { folder: join(folder, name), document }));
  }
  return programs;
}

interface Place {
  folder: string;
  /** The contract as JSON. */
  document: string;
}

async function buildProgram(t: Test, name: string, { folder, document }: Place): Promise<Run> {
  const { client, example, build, run } = LANGUAGES[name] as Language;
  const from = new URL(`${name}/`, CLIENTS);
  let source = readFileSync(new URL(client.replace(/.*\//, ''), from), 'utf8');
  const shorter = TIMES.filter(([time]) => time.test(source));
  t.equal(shorter.length, 2, 'the client says how long it waits');
  for (const [time, less] of shorter) source = source.replace(time, less);
  mkdirSync(join(folder, client, '..'), { recursive: true });
  writeFileSync(join(folder, client), source);
  const readme = readFileSync(new URL('README.md', from), 'utf8');
  writeFileSync(join(folder, example), /```(?!sh)\w+\n([\s\S]*?)```/.exec(readme)?.[1] as string);
  if (build) await execute(build[0] as string, build.slice(1), { cwd: folder });
  if (name === 'typescript') {
    symlinkSync(fileURLToPath(new URL('../../node_modules', import.meta.url)), join(folder, 'node_modules'));
    writeFileSync(join(folder, 'petstore.ts'), astToString(await openapiTS(document)));
    t.strictSame(compile(join(folder, example)), []);
  }
  const env = { PATH: process.env.PATH, HOME: process.env.HOME, PETSTORE_KEY: KEY };
  const [command = '', ...parts] = run;
  return (url, once) =>
    execute(command, [...parts, url, once], { cwd: folder, env, timeout: 60_000 }).then(
      (output) => ({ code: 0, ...output }),
      (error) => error,
    );
}
