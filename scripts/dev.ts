/** `npm run dev`: builds and starts the service, and again at each change; while there is an error, shows it and keeps the last good server. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { watch } from 'node:fs';
import ts from 'typescript';
import { makeKey } from '../src/access/api-keys.ts';

const env = { ...process.env, DRAIN_DELAY: '0', API_KEYS: process.env.API_KEYS || makeKey() };

let server: ChildProcess | undefined;

const say = (text: string) => console.log(`\n${text}\n`);

/** A script of this folder, with the types erased as this one's are; resolves with its exit code. */
async function run(script: string, ...args: string[]): Promise<number> {
  const [code] = await once(
    spawn(process.execPath, [...process.execArgv, script, ...args], { stdio: 'inherit' }),
    'exit',
  );
  return code;
}

async function stop(): Promise<void> {
  const running = server;
  server = undefined;
  if (running?.kill('SIGTERM')) await once(running, 'exit');
}

async function restart(): Promise<void> {
  await stop();
  const started = spawn(process.execPath, ['--enable-source-maps', 'dist/src/main.js'], { stdio: 'inherit', env });
  server = started.once('exit', () => {
    if (server !== started) return;
    server = undefined;
    say('The server is down; the next change starts it again.');
  });
}

/** Does it once for all changes that come together, after what it did before. */
function soon(work: () => Promise<void>): () => void {
  let timer: NodeJS.Timeout | undefined;
  let working = Promise.resolve();
  return () => {
    clearTimeout(timer);
    timer = setTimeout(() => {
      working = working.then(work);
    }, 100);
  };
}

const restartSoon = soon(restart);
const generateSoon = soon(generate);

function tellErrors(count: number): void {
  say(`Errors: ${count}. ${server ? 'The last good server goes on.' : 'No server runs yet.'}`);
}

async function generate(): Promise<void> {
  // What it writes is compiled like any other change.
  if ((await run('scripts/generate.ts')) !== 0) tellErrors(1);
}

const host = ts.createWatchCompilerHost(
  'scripts/tsconfig.build.json',
  {},
  ts.sys,
  ts.createEmitAndSemanticDiagnosticsBuilderProgram,
  (error) => console.error(ts.formatDiagnostic(error, ts.createCompilerHost({}))),
  (_status, _newLine, _options, errors) => {
    if (errors) tellErrors(errors);
    else if (errors === 0) restartSoon();
  },
);

await run('scripts/build.js', '--assets');
await generate();
say(`Keys that are valid: ${env.API_KEYS}`);
ts.createWatchProgram(host);
watch('openapi', (_event, name) => name === 'petstore.yaml' && generateSoon());
watch('src', { recursive: true }, async (_event, name) => {
  if (!name?.endsWith('.ts') && (await run('scripts/build.js', '--assets')) === 0) restartSoon();
});
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => stop().then(() => process.exit(0)));
