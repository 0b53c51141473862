/** Load from processes of their own that live on, so that no start of theirs disturbs what is measured. */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import type { Test } from 'tap';
import { type Server, startServer } from '../program.ts';
import type { OpenLoad, OpenLoadResult } from './open-loop.ts';

/** A core each for the servers and for their load: otherwise the load takes from a server what it measures. */
const isPinned = availableParallelism() > 1 && spawnSync('taskset', ['-c', '0,1', 'true']).status === 0;
const onCore = (core: string) => (isPinned ? `taskset -cp ${core} $$ >/dev/null; ` : '');

/** A server whose log is read and forgotten. */
export async function startOnCore(t: Test, env: Record<string, string>, shell = ':'): Promise<Server> {
  const server = await startServer(t, { env, shell: `${onCore('0')}${shell}` });
  server.child.stdout?.removeAllListeners('data').resume();
  return server;
}

/** Sends a load, and resolves with what came of it. One load at a time. */
export type Generator = (load: OpenLoad) => Promise<OpenLoadResult>;

/** `nice` is how far its load gives way to other load on its core. */
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
