/** Starts the servers of a round, which run until `stopAll` is called, or until this process ends. */
import { type SpawnOptions, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { findFreePort } from '../free-port.ts';
import { API_KEY, PREFIX } from './workloads.ts';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
/** The time that a server may take to start, in milliseconds. */
const START_TIMEOUT = 30_000;

/** The servers run on one core, and the load generator runs on another. */
const CORES = { server: '0', load: '1' };

/**
 * True if `taskset` can assign cores (on Linux, with at least two cores). The benchmark itself is also moved to the
 * load generator's core, because it only waits during a measurement.
 */
const isPinned = spawnSync('taskset', ['-acp', CORES.load, String(process.pid)]).status === 0;

/** Returns the command that runs a program on its core. */
export const toCommand = (core: keyof typeof CORES, [command = '', ...args]: string[]): [string, string[]] =>
  isPinned ? ['taskset', ['-c', CORES[core], command, ...args]] : [command, args];

export interface Server {
  title: string;
  script: string;
}

const toBaseline = (name: string, title: string): Server => ({ title, script: `scripts/bench/baselines/${name}.js` });

/** The server that replies to every request with the list of 20 pets. */
export const CONSTANT = toBaseline('constant-node', 'constant text, node:http');
export const STRAIGHTFORWARD = toBaseline('straightforward', 'straightforward Fastify + glue + better-sqlite3');
export const SERVICE: Server = { title: 'this service', script: 'dist/src/main.js' };

export interface Running {
  pid: number;
  port: number;
  /**
   * Forces the garbage collections that V8 runs when a server is idle. After the first of them, each tick of Node's
   * event loop takes longer for the rest of the process. The benchmark forces the collections before the measurements,
   * so that the conditions of all measurements are the same.
   */
  collect(): void;
  stop(): Promise<unknown>;
}

/**
 * The options that make Node collect garbage at SIGWINCH. Servers do not use this signal, which reports a new size of a
 * terminal's window.
 */
const COLLECTING = [
  '--expose-gc',
  "--import=data:text/javascript,process.on('SIGWINCH',()=>{for(let n=0;n<5;n++)setTimeout(gc,n*100)})",
];

const stops = new Set<() => Promise<unknown>>();
const stopEach = () => [...stops].map((stop) => stop());
process.on('exit', stopEach);

export async function stopAll(): Promise<void> {
  await Promise.all(stopEach());
  stops.clear();
}

/**
 * Starts a program on the servers' core, and waits until `ask` succeeds. `stop` sends the signal `killSignal`, which
 * may end the program before it has saved its data, because the data is not needed any more.
 */
export async function start(
  command: string[],
  { ask, ...options }: SpawnOptions & { ask(): Promise<unknown> },
): Promise<Pick<Running, 'pid' | 'stop'>> {
  const deadline = performance.now() + START_TIMEOUT;
  const child = spawn(...toCommand('server', command), { stdio: ['ignore', 'ignore', 'inherit'], ...options });
  const ended = once(child, 'exit');
  const stop = () => {
    child.kill(options.killSignal);
    return ended;
  };
  stops.add(stop);
  for (;;) {
    try {
      await ask();
      return { pid: child.pid as number, stop };
    } catch (cause) {
      if (child.exitCode !== null || performance.now() > deadline) throw new Error(`${command} fails`, { cause });
      await sleep(20);
    }
  }
}

/**
 * Starts a server, and checks its error replies. Every server gets the same environment: only PATH is copied from this
 * process.
 */
export async function startServer(server: Server, url: string): Promise<Running> {
  const port = await findFreePort();
  const env = {
    PATH: process.env.PATH,
    NODE_ENV: 'production',
    PORT: String(port),
    DATABASE_URL: url,
    API_KEYS: API_KEY,
    LOG_LEVEL: 'warn',
  };
  const ask = () => expectStatus(200, port, '/pets');
  const program = await start([process.execPath, ...COLLECTING, ROOT + server.script], {
    env,
    killSignal: 'SIGKILL',
    ask,
  });
  if (server !== CONSTANT) await checkRefusals(port);
  return { port, ...program, collect: () => process.kill(program.pid, 'SIGWINCH') };
}

async function expectStatus(status: number, port: number, path: string, { key = API_KEY, body = '' } = {}) {
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/json' };
  const post = body ? { method: 'POST', body } : {};
  const reply = await fetch(`http://127.0.0.1:${port}${PREFIX}${path}`, { headers, ...post });
  const text = await reply.text();
  if (reply.status !== status) throw new Error(`${path} was answered ${reply.status}, not ${status}: ${text}`);
}

/** Checks error replies. Successful replies are checked before each measurement. */
async function checkRefusals(port: number): Promise<void> {
  await expectStatus(401, port, '/pets', { key: 'another-key-of-the-benchmark' });
  await expectStatus(404, port, '/pets/987654321');
  await expectStatus(400, port, '/pets?limit=101');
  await expectStatus(400, port, '/pets', { body: '{"name":"Rex"}' });
}
