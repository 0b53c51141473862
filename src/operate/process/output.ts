/**
 * Passes the workers' output through the first process. When several processes share a pipe, each makes it blocking for all of them when
 * it starts (libuv) and when it ends (Node): then a write of the log would hang.
 */
import type { Worker } from 'node:cluster';
import type { Readable } from 'node:stream';

/** To be given to `cluster.setupPrimary`. */
export const WORKER_STDIO: ('ignore' | 'pipe' | 'ipc')[] = ['ignore', 'pipe', 'pipe', 'ipc'];

/** `write` gets whole lines of the worker's standard output. */
export function passOutput(worker: Worker, write: (lines: string) => void): void {
  const { stdout, stderr } = worker.process as { stdout: Readable; stderr: Readable };
  let rest = '';
  stdout.setEncoding('utf8').on('data', (text: string) => {
    const all = rest + text;
    const end = all.lastIndexOf('\n') + 1;
    rest = all.slice(end);
    write(all.slice(0, end));
  });
  stderr.on('data', (bytes: Buffer) => process.stderr.write(bytes));
}
