/** Whether a contract runs: in a copy of the project, it is put in place, generated, compiled and started, as its team will do. */
import { type ChildProcess, spawn } from 'node:child_process';
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import type { Judgement } from './judgement.ts';
import { place, toHandler, type Unfit } from './placing.ts';

const PARTS = ['handlers', 'openapi', 'scripts', 'src', 'package.json', 'tsconfig.json'];

/** The timeout of a step, in milliseconds. */
const TIME_LIMIT = 300_000;

/** A terminal sends them to its own processes, and not to the group of a step. */
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

/** How many lines of a step are told. */
const MOST_LINES = 5;

/** A program, which ends well, or writes that it is ready. */
export interface Step {
  name: string;
  args: string[];
  isReady?: RegExp;
}

export const STEPS: Step[] = [
  { name: 'npm run generate', args: ['--import=./scripts/typescript/register.js', 'scripts/generate.ts'] },
  { name: 'npm run build', args: ['scripts/build.js'] },
  { name: 'npm start', args: ['dist/src/main.js'], isReady: /"msg":"listening"/ },
];

export interface Trial extends Unfit {
  /** The output of the step that failed; empty if the server has started. */
  faults: string[];
}

/** `keepsErrors` says whether the team's `src/errors.ts` stays, `replaces` whether its handlers go. Those that do not fit are tried without. */
export async function tryOut(
  file: string,
  judgement: Judgement,
  root: URL,
  { keepsErrors = false, replaces = true, steps = STEPS, timeLimit = TIME_LIMIT } = {},
): Promise<Trial> {
  const interruption = new AbortController();
  const interrupt = () => interruption.abort();
  // Until the copy is gone: npm passes a signal on, and its group gets it, too.
  for (const signal of SIGNALS) process.on(signal, interrupt);
  const folder = mkdtempSync(join(tmpdir(), 'contract-use-'));
  const copy = pathToFileURL(`${folder}/`);
  const limits = { timeLimit, interrupted: interruption.signal };
  const unfit: Unfit = { domains: [], handlers: [] };
  try {
    copyProject(fileURLToPath(root), folder);
    if (!keepsErrors) rmSync(new URL('src/errors.ts', copy), { force: true });
    place(file, judgement, copy, { replaces, keepsErrors, domains: [], handlers: [] });
    for (;;) {
      const faults = await runSteps(steps, folder, limits);
      const domains = findOutdated(faults, root).filter((name) => !unfit.domains.includes(name));
      const handlers = replaces ? [] : findHandlers(faults, root).filter((name) => !unfit.handlers.includes(name));
      if (domains.length + handlers.length === 0) return { ...unfit, faults: faults.slice(0, MOST_LINES) };
      for (const name of domains) rmSync(new URL(`src/${name}`, copy), { recursive: true });
      for (const name of handlers) writeFileSync(new URL(`handlers/${name}.ts`, copy), toHandler(name));
      unfit.domains.push(...domains);
      unfit.handlers.push(...handlers);
    }
  } finally {
    // The processes of a step that was ended may still write there.
    rmSync(folder, { recursive: true, force: true, maxRetries: 10 });
    for (const signal of SIGNALS) process.off(signal, interrupt);
  }
}

/** Packages are linked, and so is what is kept of earlier builds: it makes this one quick. */
function copyProject(root: string, folder: string): void {
  for (const name of PARTS.filter((name) => existsSync(join(root, name)))) {
    cpSync(join(root, name), join(folder, name), { recursive: true });
  }
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
}

/** Domains of the contract before. A domain whose schema that contract does not have was written for this one, and stays. */
function findOutdated(faults: string[], root: URL): string[] {
  const folders = faults.flatMap((line) => /\bsrc\/([\w-]+)\/domain\.ts\b/.exec(line)?.slice(1) ?? []);
  return [...new Set(folders)].filter((name) => {
    const text = readFileSync(new URL(`src/${name}/domain.ts`, root), 'utf8');
    const before = readFileSync(new URL('openapi/petstore.yaml', root), 'utf8');
    const schemas = [...text.matchAll(/\bschema: '(\w+)'/g)].map(([, schema]) => schema);
    return schemas.some((schema) => new RegExp(`^ +"?${schema}"?:`, 'm').test(before));
  });
}

/** Handlers that the project had before. */
function findHandlers(faults: string[], root: URL): string[] {
  const names = faults.flatMap((line) => /\bhandlers\/([^/]+)\.ts\b/.exec(line)?.slice(1) ?? []);
  return [...new Set(names)].filter((name) => existsSync(new URL(`handlers/${name}.ts`, root)));
}

interface Limits {
  timeLimit: number;
  interrupted: AbortSignal;
}

async function runSteps(steps: Step[], folder: string, limits: Limits): Promise<string[]> {
  for (const step of steps) {
    const said = await run(step, folder, limits);
    if (said !== undefined) return toLines(said).map((line) => `${step.name}: ${line}`);
  }
  return [];
}

/** Returns the output of a program that fails. */
function run({ args, isReady }: Step, cwd: string, { timeLimit, interrupted }: Limits): Promise<string | undefined> {
  // The settings that services and plugins need; no listener of a server that runs beside it.
  const own = { HOST: '127.0.0.1', PORT: '0', ADMIN_PORT: '', WORKERS: '', DATABASE_URL: 'sqlite::memory:' };
  const env = { ...process.env, ...own };
  // In a group of its own, so that its own processes are ended with it.
  const child = spawn(process.execPath, args, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'], detached: true });
  return new Promise((resolve) => {
    let said = '';
    const timer = setTimeout(() => end(`it has not ended within ${timeLimit / 1000} s`), timeLimit);
    const interrupt = () => end('it was interrupted');
    function end(fault: string | undefined): void {
      clearTimeout(timer);
      interrupted.removeEventListener('abort', interrupt);
      endGroup(child);
      resolve(fault);
    }
    interrupted.addEventListener('abort', interrupt);
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (text: string) => {
        said += text;
        if (isReady?.test(said)) end(undefined);
      });
    }
    // Its own processes would keep its output open.
    child.once('exit', () => endGroup(child));
    child.once('close', (code) => end(code === 0 && !isReady ? undefined : said));
  });
}

function endGroup({ pid }: ChildProcess): void {
  try {
    process.kill(-(pid as number), 'SIGKILL');
  } catch {
    // All of them have ended.
  }
}

/** Without notes, and the stack of an error. */
function toLines(said: string): string[] {
  const lines = said.split('\n').filter((line) => line.trim() !== '' && !/^(note: |\s+at )/.test(line));
  return lines.length > 0 ? lines : ['it has ended, and said nothing'];
}
