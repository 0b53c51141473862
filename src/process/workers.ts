/** Several processes on one port and one database: the first starts the others, keeps them running, and stops them. */
import cluster, { type Worker } from 'node:cluster';
import { format } from 'node:url';
import type { Logger } from 'pino';

export interface WorkersOptions {
  count: number;
  /** What every worker finds in its environment, beside what is there. */
  env: Record<string, string>;
  logger: Logger;
  /** How long workers may take to stop, in milliseconds; then they are killed. */
  deadline: number;
  /** Called once, when the first worker listens: `http://127.0.0.1:3000`. */
  onListening: (origin: string) => void;
}

/** To a worker: stop as after a signal. Signals themselves are the first process's, whoever sends them. */
const STOP = 'stop';

/** Runs until every worker has ended; the process then ends with 0, or with 1 when a worker could not start or stop. */
export function superviseWorkers({ count, env, logger, deadline, onListening }: WorkersOptions): void {
  const listening = new Set<Worker>();
  let isStopping = false;

  function stop(): void {
    for (const worker of Object.values(cluster.workers as Record<string, Worker>)) {
      if (isStopping) worker.process.kill('SIGKILL');
      else worker.send(STOP);
    }
    isStopping = true;
    setTimeout(stop, deadline).unref();
  }

  cluster.once('listening', (_worker, { address, port }) => onListening(toOrigin(address, port)));
  cluster.on('listening', (worker) => listening.add(worker));
  cluster.on('exit', (worker, code, signal) => {
    const hasServed = listening.delete(worker);
    if (code !== 0 && (isStopping || !hasServed)) process.exitCode = 1;
    if (isStopping) return;
    if (hasServed) {
      logger.error({ worker: worker.process.pid, code, signal }, 'a worker ended, and is replaced');
      cluster.fork(env);
    } else {
      // It would fail again; it has told why on standard error.
      stop();
    }
  });
  process.on('SIGTERM', stop).on('SIGINT', stop);
  for (let started = 0; started < count; started++) cluster.fork(env);
}

/** With brackets around an IPv6 address. */
function toOrigin(hostname: string, port: number): string {
  return format({ protocol: 'http', hostname, port });
}

/** In a worker: calls back when the first process asks it to stop. A signal to the whole group asks that process alone. */
export function onStopRequested(stop: () => void): void {
  process.on('SIGTERM', () => {}).on('SIGINT', () => {});
  process.on('message', (message) => {
    if (message === STOP) stop();
  });
}
