/** The servers that are compared, and one of them as a running process. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { toCommand } from './machine.ts';
import { API_KEY, PREFIX } from './workloads.ts';

const ROOT = new URL('../../', import.meta.url);
const BASELINES = 'scripts/bench/baselines';
/** How long a server may take from its start to its first reply, in milliseconds. */
const START_DEADLINE = 30_000;

export interface Server {
  name: string;
  title: string;
  script: string;
  /** Answers every request with the list of 20. */
  isConstant: boolean;
}

export const SERVICE = 'service';
export const STRAIGHTFORWARD = 'straightforward';
export const STRAIGHTFORWARD_POSTGRES = 'straightforward-postgres';
export const CONSTANT = 'constant-node';

const toServer = (name: string, title: string, script = `${BASELINES}/${name}.js`): Server => ({
  name,
  title,
  script,
  isConstant: name === CONSTANT,
});

export const SERVERS: Server[] = [
  toServer(CONSTANT, 'constant text, node:http'),
  toServer(STRAIGHTFORWARD, 'straightforward Fastify + glue + better-sqlite3'),
  toServer(STRAIGHTFORWARD_POSTGRES, 'straightforward Fastify + pg'),
  toServer(SERVICE, 'this service', 'dist/src/main.js'),
];

export interface Running {
  pid: number;
  port: number;
  /** From its start to its first reply, in milliseconds. */
  firstReply: number;
  /** Kills it: its database is no longer needed. */
  stop(): void;
}

const processes = new Set<ChildProcess>();
process.on('exit', () => {
  for (const child of processes) child.kill('SIGKILL');
});

/** Every server takes the same environment, and nothing of ours but the path. */
export async function startServer({ script }: Server, url: string, isPinned: boolean): Promise<Running> {
  const port = await findPort();
  const env = {
    PATH: process.env.PATH,
    NODE_ENV: 'production',
    PORT: String(port),
    DATABASE_URL: url,
    API_KEYS: API_KEY,
    LOG_LEVEL: 'warn',
  };
  const begin = performance.now();
  const [command, args] = toCommand('server', [process.execPath, fileURLToPath(new URL(script, ROOT))], isPinned);
  const child = spawn(command, args, { env, stdio: ['ignore', 'ignore', 'inherit'] });
  processes.add(child);
  child.once('exit', () => processes.delete(child));

  while (!(await isAnswering(port))) {
    if (child.exitCode !== null) throw new Error(`${script} ended with code ${child.exitCode} before it answered.`);
    if (performance.now() - begin > START_DEADLINE) throw new Error(`${script} did not answer in time.`);
    await sleep(2);
  }
  return {
    pid: child.pid as number,
    port,
    firstReply: performance.now() - begin,
    stop: () => void child.kill('SIGKILL'),
  };
}

export async function findPort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

async function isAnswering(port: number): Promise<boolean> {
  try {
    const headers = { authorization: `Bearer ${API_KEY}` };
    const reply = await fetch(`http://127.0.0.1:${port}${PREFIX}/pets`, { headers });
    await reply.arrayBuffer();
    return reply.ok;
  } catch {
    return false;
  }
}
