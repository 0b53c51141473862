/** `contract-first dev` builds and starts the service, again after each change. Prints errors; the last server keeps running. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { basename, dirname } from 'node:path';
import { watch } from 'chokidar';
import ts from 'typescript';
import { whenShellEnds } from '../operate/process/signals.ts';
import { makeKey } from '../store/api-keys.ts';
import { withoutScope } from './generate/service-files.ts';
import { placeProgram, prepareEngine } from './program.js';
import { findContractOrExit, readPackage, writeCompilerSettings } from './project.js';

const contract = findContractOrExit();
const env = {
  ...process.env,
  DRAIN_DELAY: '0',
  API_KEYS: process.env.API_KEYS || makeKey(withoutScope(readPackage().name ?? '')),
};

/** How long to wait for further changes, in milliseconds. */
const TOGETHER = 50;

let server: ChildProcess | undefined;
/** The number of errors that the compiler has found; unknown until it has run once. */
let errorCount: number | undefined;
/** Whether `generate` has failed on the current contract. */
let isBroken = false;

const say = (text: string) => console.log(`\n${text}\n`);

async function stop(): Promise<void> {
  const running = server;
  server = undefined;
  if (running?.kill('SIGTERM')) await once(running, 'exit');
}

async function restart(): Promise<void> {
  if (isBroken) return reportErrors(1);
  await prepareEngine();
  // A server that is still starting would load removed files.
  await placeProgram(undefined, '', stop);
  const started = spawn(process.execPath, ['dist/src/main.js'], { stdio: 'inherit', env });
  server = started.once('exit', () => {
    if (server !== started) return;
    server = undefined;
    say('The server is down; the next change starts it again.');
  });
}

let working = Promise.resolve();

/**
 * Runs the work once for changes that arrive together, and only after all earlier work. A server must start with the code that belongs to
 * its contract.
 */
function soon(work: () => Promise<void>): () => void {
  let timer: NodeJS.Timeout | undefined;
  return () => {
    clearTimeout(timer);
    timer = setTimeout(() => {
      working = working.then(work).catch((error: Error) => say(error.message));
    }, TOGETHER);
  };
}

const restartSoon = soon(restart);
const generateSoon = soon(generate);

function reportErrors(count: number): void {
  say(`Errors: ${count}. ${server ? 'The last good server goes on.' : 'No server runs yet.'}`);
}

/** Runs `generate` in another process, because it loads modules of the service. */
async function generate(): Promise<void> {
  const command = [...process.execArgv, process.argv[1] as string, 'generate'];
  const [code] = await once(spawn(process.execPath, command, { stdio: 'inherit' }), 'exit');
  const wasBroken = isBroken;
  isBroken = code !== 0;
  if (isBroken) reportErrors(1);
  // The compiler notices files that `generate` has changed. If a corrected contract changes no file, the server is started again here.
  else if (errorCount === 0 && (wasBroken || !server)) restartSoon();
}

/** Notices changes at once. The compiler's own watcher would wait for a quarter of a second. */
const system: ts.System = { ...ts.sys, setTimeout: (work, _delay, ...args) => setTimeout(work, TOGETHER, ...args) };

const host = ts.createWatchCompilerHost(
  writeCompilerSettings(),
  {},
  system,
  ts.createSemanticDiagnosticsBuilderProgram,
  (error) => console.error(ts.formatDiagnostic(error, ts.createCompilerHost({}))),
  (_status, _newLine, _options, errors) => {
    errorCount = errors;
    if (errors) reportErrors(errors);
    // A missing handler may have been added.
    else if (errors === 0) (isBroken ? generateSoon : restartSoon)();
  },
);

/**
 * Watches the files of the service. In Node 20, `watch` of a single file misses changes by an editor that replaces the file. A package
 * below `src/` is left out, because it is built into its own `dist/`.
 */
function onChange(folder: string, then: (file: string) => void): void {
  const ignored = (path: string) => /^(dist|node_modules)$/.test(basename(path));
  watch(folder, { ignored, ignoreInitial: true }).on('all', (_event, file) => then(file));
}

await generate();
say(`Keys that are valid: ${env.API_KEYS}`);
ts.createWatchProgram(host);
// A contract may be in several files.
onChange(dirname(contract), (file) => /\.(ya?ml|json)$/.test(file) && generateSoon());
onChange('src', (file) => !file.endsWith('.ts') && restartSoon());
const end = () => stop().then(() => process.exit(0));
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, end);
whenShellEnds(process.env, 'dev', end);
