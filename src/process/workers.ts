/** Several processes on one port and one database: the first starts the others, keeps them running, and stops them. */
import cluster, { type Worker } from 'node:cluster';
import { format } from 'node:url';
import { buildTally } from '../access/tally.ts';
import type { Log } from '../telemetry/log.ts';
import { passOutput, WORKER_STDIO } from './output.ts';
import type { Reports } from './reports.ts';
import { answerWorker } from './shared-tally.ts';
import { onStopSignals } from './signals.ts';
import { closeUntaken } from './untaken.ts';
import { ANSWER, CLOSED, STOP } from './worker.ts';

export interface WorkersOptions {
  count: number;
  /** Variables that are added to the environment of every worker. */
  env: Record<string, string>;
  log: Log;
  /** What operators ask of the workers. */
  reports: Reports | undefined;
  /** How long workers may take to stop, in milliseconds; then they are killed. */
  deadline: number;
  /** Kills this process. */
  endByForce: () => void;
  /** Called once, when the first worker listens: `http://127.0.0.1:3000`. */
  onListening: (origin: string) => void;
}

/** The pause before a worker that ended is replaced, in milliseconds: doubled by each failure, up to a bound. */
const SHORTEST_DELAY = 50;
const LONGEST_DELAY = 30_000;
/** How long a worker must run, in milliseconds, for one earlier failure not to count any more. */
const STEADY = 10_000;
/** How long this process may live on after it has killed its workers, in milliseconds: long enough for the last lines of the log. */
const OWN_END = 2000;

/**
 * Runs until every worker has ended; the process then ends with 0, or with 1 when workers cannot start, or did not stop
 * gracefully. The others start when the first one listens: what stops the first from starting would stop all of them.
 */
export function superviseWorkers(options: WorkersOptions): void {
  const { count, env, log, reports, deadline, endByForce, onListening } = options;
  const workers = new Set<Worker>();
  const listening = new Set<Worker>();
  const closed = new Set<Worker>();
  const delayed = new Set<NodeJS.Timeout>();
  const tally = buildTally();
  let hasListened = false;
  let isStopping = false;

  /** Starts a worker, and another one whenever it ends. `failures`: how many have failed in a row. */
  function keepWorker(failures = 0): void {
    const worker = cluster.fork(env);
    const started = Date.now();
    workers.add(worker);
    closeUntaken(worker);
    answerWorker(worker, tally);
    reports?.add(worker);
    passOutput(worker, log.write);
    // Sending to a worker that is dying fails: its `exit` event is enough.
    worker.on('error', () => {});
    worker.once('listening', ({ address, port }) => {
      listening.add(worker);
      if (hasListened || isStopping) return;
      hasListened = true;
      onListening(toOrigin(address, port));
      for (let others = 1; others < count; others++) keepWorker();
    });
    // Its last words have come by then.
    worker.process.once('close', (code, signal) => {
      workers.delete(worker);
      if (isStopping) {
        if (code !== 0 && listening.has(worker)) process.exitCode = 1;
        answerWhenClosed();
        endWhenAlone();
      } else if (!hasListened && signal === null) {
        // It would fail again; it has printed why.
        process.exitCode = 1;
        stop();
      } else {
        const failed = Math.max(0, failures + 1 - Math.floor((Date.now() - started) / STEADY));
        const delay = Math.min(SHORTEST_DELAY * 2 ** failed, LONGEST_DELAY);
        log.logger.error({ worker: worker.process.pid, code, signal, delay }, 'a worker ended, and is replaced');
        const timer = setTimeout(() => {
          delayed.delete(timer);
          keepWorker(failed);
        }, delay);
        delayed.add(timer);
      }
      listening.delete(worker);
    });
    worker.on('message', (message) => {
      if (message === CLOSED) closed.add(worker);
      answerWhenClosed();
    });
  }

  /** All answer together: a client that is answered early could come back to another worker that is about to close. */
  function answerWhenClosed(): void {
    if ([...workers].every((worker) => closed.has(worker))) for (const worker of workers) tell(worker, ANSWER);
  }

  function stop(): void {
    isStopping = true;
    for (const timer of delayed) clearTimeout(timer);
    for (const worker of workers) {
      tell(worker, STOP);
      // The signal ends a worker that does not listen yet; later, workers ignore signals.
      if (!listening.has(worker)) worker.process.kill('SIGTERM');
    }
    setTimeout(end, deadline).unref();
    endWhenAlone();
  }

  /** This process then ends by itself. */
  function endWhenAlone(): void {
    if (workers.size === 0) log.end();
  }

  function end(): void {
    process.exitCode = 1;
    for (const worker of workers) worker.process.kill('SIGKILL');
    setTimeout(endByForce, OWN_END).unref();
  }

  // Nobody may read what is for people; the log has what matters.
  process.stderr.on('error', () => {});
  cluster.setupPrimary({ stdio: WORKER_STDIO });
  onStopSignals(stop, end);
  keepWorker();
}

/** No error where the worker has just died. */
function tell(worker: Worker, message: string): void {
  worker.send(message, () => {});
}

/** With brackets around an IPv6 address. */
function toOrigin(hostname: string, port: number): string {
  return format({ protocol: 'http', hostname, port });
}
