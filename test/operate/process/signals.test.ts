import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { startProgram, startServer } from '../../program.ts';
import { KEY } from '../../service.ts';

t.test('SIGUSR1 does not open a debugger on the server', async (t) => {
  const { child, exit, output } = await startServer(t, { isCovered: true });
  child.kill('SIGUSR1');
  await wait(500);
  child.kill('SIGTERM');
  t.equal(await exit, 0);
  t.notMatch(output.stderr, /Debugger listening/);
});

for (const signal of ['SIGQUIT', 'SIGUSR2'] as const) {
  t.test(`${signal} stops the server gracefully`, async (t) => {
    const { child, exit, output } = await startServer(t, { isCovered: true });
    child.kill(signal);
    t.equal(await exit, 0);
    t.match(output.stdout, '"msg":"stopped"');
  });
}

t.test("a server started by npm stops gracefully if npm's shell ends without passing the signal on", async (t) => {
  const shell = '"$@" & wait; exit';
  const server = await startServer(t, { shell, isCovered: true, env: { npm_lifecycle_event: 'start' } });
  server.child.kill('SIGTERM');
  t.equal(await server.exit, 'SIGTERM');
  t.match(server.output.stdout, '"msg":"stopped"');
});

t.test("if npm's shell ends while the server stops, the server still stops gracefully", async (t) => {
  const shell = '"$@" & wait; exit';
  const env = { npm_lifecycle_event: 'start', DRAIN_DELAY: '3000' };
  const { child, exit, output, written } = await startServer(t, { shell, isCovered: true, env });
  process.kill(Number(/"pid":(\d+)/.exec(output.stdout)?.[1]), 'SIGTERM');
  await written('stdout', /"stopping"/);
  await wait(1000);
  child.kill('SIGTERM');
  t.equal(await exit, 'SIGTERM');
  t.match(output.stdout, '"msg":"stopped"');
});

t.test('a server without a terminal logs SIGHUP and keeps running', async (t) => {
  const { child, exit, written, request } = await startServer(t, { isCovered: true });
  child.kill('SIGHUP');
  await written('stdout', /"signal":"SIGHUP","msg":"ignored/);
  t.equal((await request('/livez')).status, 200);
  child.kill('SIGTERM');
  t.equal(await exit, 0);
});

/**
 * A program that gets the signal before it adds its new listener. No turn of the event loop ends in between, so the
 * signal is delivered to the new listener.
 */
const SIGNAL_MEANWHILE = `
  const { endOnSignals, onSignals } = await import('./src/contract-first/operate/process/signals.ts');
  endOnSignals();
  process.kill(process.pid, 'SIGTERM');
  onSignals((signal) => {
    console.log(signal);
    process.exit(0);
  });
  setTimeout(() => process.exit(1), 30_000);
`;

t.test('a signal is not lost if it arrives while the program replaces its first signal handlers', async (t) => {
  const args = ['--import=./scripts/typescript/register.js', '--input-type=module', '--eval', SIGNAL_MEANWHILE];
  const said = await new Promise((resolve) => execFile(process.execPath, args, (_error, stdout) => resolve(stdout)));
  t.equal(said, 'SIGTERM\n');
});

/** Starts the server. Resolves as soon as it catches signals, while it is still loading. */
async function load(t: Test, env: Record<string, string> = {}) {
  const program = startProgram(t, 'src/main.ts', { env: { PORT: '0', ...env }, isCovered: true });
  const { pid } = program.child;
  const catches = () =>
    BigInt(`0x${/SigCgt:\t(\w+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]}`) & (1n << 11n);
  while (!catches()) await wait(1);
  return program;
}

t.test('SIGTERM ends a server that is still loading, with exit code 0', async (t) => {
  // The server waits for a database that never answers, so that it is certainly still loading when the signal comes.
  const silent = createServer().listen(0, '127.0.0.1');
  t.teardown(() => silent.close());
  await once(silent, 'listening');
  const { port } = silent.address() as AddressInfo;
  const { child, exit, output } = await load(t, { DATABASE_URL: `postgres://ada:ada@127.0.0.1:${port}/pets` });
  child.kill('SIGTERM');
  t.equal(await exit, 0);
  t.equal(output.stdout, '');
});

t.test('SIGHUP does not end a server without a terminal that is still loading', async (t) => {
  const { child, exit, written } = await load(t, { DATABASE_URL: 'sqlite::memory:', API_KEYS: KEY });
  child.kill('SIGHUP');
  await written('stdout', /"msg":"listening"/);
  child.kill('SIGTERM');
  t.equal(await exit, 0);
});

t.test('a server stops if its terminal closes', async (t) => {
  const shell = 'set -- script -qec "$*" /dev/null';
  const { child, output } = await startServer(t, { shell, env: { LOG_FORMAT: 'json' } });
  const server = Number(/"pid":(\d+)/.exec(output.stdout)?.[1]);
  const isRunning = () => existsSync(`/proc/${server}`);
  t.ok(isRunning());
  child.kill('SIGKILL');
  while (isRunning()) await wait(50);
  t.pass('the server has ended');
});

t.test('SIGHUP gracefully stops a server that was started in a terminal', async (t) => {
  const shell = 'set -- script -qec "$*" /dev/null';
  const { exit, output } = await startServer(t, { shell, env: { LOG_FORMAT: 'json' } });
  process.kill(Number(/"pid":(\d+)/.exec(output.stdout)?.[1]), 'SIGHUP');
  t.equal(await exit, 0);
  t.match(output.stdout, /"signal":"SIGHUP","msg":"stopping"[\s\S]*"msg":"stopped"/);
});
