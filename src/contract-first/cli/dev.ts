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

/** The time to wait for further changes before work starts, in milliseconds. */
const TOGETHER = 50;

let server: ChildProcess | undefined;
/** The number of errors that the compiler has found; undefined until it has run once. */
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
  // The old server stops before `dist/` is replaced: if it is still starting, it would load files of both programs.
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
 * Runs the work once for changes that arrive together, and only after all earlier work has ended, so that a server
 * starts with the code that belongs to its contract.
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
 * Runs `generate` in another process, because it loads modules of the service, and a process loads a module only once.
 */
async function generate(): Promise<void> {
  const command = [...process.execArgv, process.argv[1] as string, 'generate'];
  const [code] = await once(spawn(process.execPath, command, { stdio: 'inherit' }), 'exit');
  const wasBroken = isBroken;
  isBroken = code !== 0;
  if (isBroken) reportErrors(1);
  // If `generate` has changed a file, the compiler notices and restarts the server. If a correction changes no file,
  // this line restarts it.
  else if (errorCount === 0 && (wasBroken || !server)) restartSoon();
}

/**
 * Calls the compiler's timers after `TOGETHER`, because its own watcher would wait a quarter of a second after a
 * change.
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
    // If `generate` has failed, it runs again, because the developer may have added the missing handler.
    else if (errors === 0) (isBroken ? generateSoon : restartSoon)();
  },
);

/**
 * Watches the files of a folder. Watching single files with Node 20's `watch` would miss changes by an editor that
 * replaces the file. `dist` is ignored, also that of a package below `src/`.
 */
function onChange(folder: string, then: (file: string) => void): void {
  const ignored = (path: string) => /^(dist|node_modules)$/.test(basename(path));
  watch(folder, { ignored, ignoreInitial: true }).on('all', (_event, file) => then(file));
}

await generate();
say(`Keys that are valid: ${env.API_KEYS}`);
ts.createWatchProgram(host);
// All files of the folder are watched, because a contract may be in several files.
onChange(dirname(contract), (file) => /\.(ya?ml|json)$/.test(file) && generateSoon());
onChange('src', (file) => !file.endsWith('.ts') && restartSoon());
const end = () => stop().then(() => process.exit(0));
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, end);
whenShellEnds(process.env, 'dev', end);
