/**
 * The command `dev`: builds and starts the service, again after each change. If a change has errors, the previous
 * server keeps running.
 */
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

/** The time to wait for further changes after a change, in milliseconds. */
const TOGETHER = 50;

let server: ChildProcess | undefined;
/** The number of errors that the compiler has found. Undefined until the compiler has run once. */
let errorCount: number | undefined;
/** True if `generate` has failed for the current contract. */
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
  // Stops the old server before `dist/` is replaced. Otherwise, an old server that is still starting would load files
  // of both programs.
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
 * Builds a function that runs `work` once for all changes in the time `TOGETHER`. The work starts only after all
 * earlier work has ended, so that a server never starts while `generate` still writes files for its contract.
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

/**
 * Runs `generate` in another process, because `generate` loads the service's modules, and one process would load a
 * module only once, even after changes.
 */
async function generate(): Promise<void> {
  const command = [...process.execArgv, process.argv[1] as string, 'generate'];
  const [code] = await once(spawn(process.execPath, command, { stdio: 'inherit' }), 'exit');
  const wasBroken = isBroken;
  isBroken = code !== 0;
  if (isBroken) reportErrors(1);
  // Starts the server again after a correction that changes no generated file. If `generate` has changed a file, the
  // compiler notices and restarts the server.
  else if (errorCount === 0 && (wasBroken || !server)) restartSoon();
}

/**
 * Replaces the delays of the compiler's timers by `TOGETHER`, because the compiler would wait a quarter of a second
 * after a change.
 */
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
    // If the last `generate` failed, it runs again after a change of the code, because the developer may have added the
    // missing handler.
    else if (errors === 0) (isBroken ? generateSoon : restartSoon)();
  },
);

/**
 * Calls `then` for each change in a folder. Node 20's own `watch` would miss changes by editors that replace a file.
 * Ignores each folder `dist`, also that of a package below `src/`.
 */
function onChange(folder: string, then: (file: string) => void): void {
  const ignored = (path: string) => /^(dist|node_modules)$/.test(basename(path));
  watch(folder, { ignored, ignoreInitial: true }).on('all', (_event, file) => then(file));
}

await generate();
say(`Keys that are valid: ${env.API_KEYS}`);
ts.createWatchProgram(host);
// Watches all files in the contract's folder, because a contract may be in several files.
onChange(dirname(contract), (file) => /\.(ya?ml|json)$/.test(file) && generateSoon());
onChange('src', (file) => !file.endsWith('.ts') && restartSoon());
const end = () => stop().then(() => process.exit(0));
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, end);
whenShellEnds(process.env, 'dev', end);
