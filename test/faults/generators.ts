/**
 * Sends load from processes of their own. They keep running between the measurements, so that starting them disturbs
 * none.
 */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import type { Test } from 'tap';
import { type Server, startServer } from '../program.ts';
import type { OpenLoad, OpenLoadResult } from './open-loop.ts';

/**
 * The servers get one core and their load another one. On the same core, the load would take processor time from the
 * server that it measures.
 */
const isPinned = availableParallelism() > 1 && spawnSync('taskset', ['-c', '0,1', 'true']).status === 0;
const onCore = (core: string) => (isPinned ? `taskset -cp ${core} $$ >/dev/null; ` : '');

/** Starts a server and discards its log. */
export async function startOnCore(t: Test, env: Record<string, string>, shell = ':'): Promise<Server> {
  const server = await startServer(t, { env, shell: `${onCore('0')}${shell}` });
  server.child.stdout?.removeAllListeners('data').resume();
  return server;
}

/** Sends a load, and resolves with its result. A generator sends one load at a time. */
export type Generator = (load: OpenLoad) => Promise<OpenLoadResult>;

/** `nice` is the niceness of the generator's process: with a higher one it yields more to other load on its core. */
export function startGenerator(t: Test, nice = 0): Generator {
  const file = fileURLToPath(new URL('open-loop.ts', import.meta.url));
  const command = `${onCore('1')}exec nice -n ${nice} "$@"`;
  const child = spawn('sh', ['-c', command, 'sh', process.execPath, ...process.execArgv, file], {
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  t.teardown(() => child.kill());
  return async (load) => {
    child.send(load);
    const [result] = await once(child, 'message');
    return result;
  };
}
