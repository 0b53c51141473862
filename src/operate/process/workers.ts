/** Runs several processes on one port and one database: the first starts the workers, replaces them, and stops them. */
import cluster, { type Worker } from 'node:cluster';
import { format } from 'node:url';
import { buildWindowCounter } from '../../store/window-counter.ts';
import type { Log } from '../telemetry/log.ts';
import { passOutput, WORKER_STDIO } from './output.ts';
import type { Reports } from './reports.ts';
import { answerWorker } from './shared-window-counter.ts';
import { onStopSignals } from './signals.ts';
import { closeUntaken } from './untaken.ts';
import { Watchdog } from './watchdog.ts';
import { ANSWER, BEAT, CLOSED, STOP } from './worker.ts';

export interface WorkersOptions {
  count: number;
  /** Variables that are added to the environment of every worker. */
  env: Record<string, string>;
  log: Log;
  /** Collects the workers' metrics and health for operators. */
  reports: Reports | undefined;
  /** How long workers may take to stop before they are killed, in milliseconds. */
  deadline: number;
  /** Kills this process. */
  endByForce: () => void;
  /** Called once, when the first worker listens: `http://127.0.0.1:3000`. */
  onListening: (origin: string) => void;
}

/** The pause before a worker that ended is replaced, in milliseconds; it doubles with each failure, up to LONGEST_DELAY. */
const SHORTEST_DELAY = 50;
const LONGEST_DELAY = 30_000;
/** For each such time that a worker has run, in milliseconds, one earlier failure no longer counts. */
const STEADY = 10_000;
/** How long this process lives on after it has killed its workers, in milliseconds: enough to write the last lines of the log. */
const OWN_END = 2000;

/**
 * Runs until every worker has ended. The exit code is 0, or 1 if workers cannot start, or did not stop gracefully. The other workers start
 * when the first one listens: a fault that keeps the first from starting would keep all from starting.
 */
export function superviseWorkers(options: WorkersOptions): void {
  // Standard error may be closed; everything important is in the log.
  process.stderr.on('error', () => {});
  cluster.setupPrimary({ stdio: WORKER_STDIO });
  const supervisor = new Supervisor(options);
  onStopSignals({ onFirst: () => supervisor.stop(), onSecond: () => supervisor.kill(), logger: options.log.logger });
  supervisor.startWorker();
}

class Supervisor {
  readonly #options: WorkersOptions;
  readonly #workers = new Set<Worker>();
  readonly #listening = new Set<Worker>();
  readonly #closed = new Set<Worker>();
  readonly #delayed = new Set<NodeJS.Timeout>();
  readonly #countWindow = buildWindowCounter();
  readonly #watchdog: Watchdog;
  #hasListened = false;
  #isStopping = false;

  constructor(options: WorkersOptions) {
    this.#options = options;
    this.#watchdog = new Watchdog(options.log.logger);
  }

  /** Starts a worker, and another one whenever it ends. `failures` is how many have failed in a row. */
  startWorker(failures = 0): void {
    const { env, log, reports } = this.#options;
    const worker = cluster.fork(env);
    const started = Date.now();
    this.#workers.add(worker);
    closeUntaken(worker);
    answerWorker(worker, this.#countWindow);
    reports?.add(worker);
    passOutput(worker, log.write);
    // Sending to a worker that is dying fails: its `exit` event is enough.
    worker.on('error', () => {});
    worker.once('listening', ({ address, port }) => this.#noteListening(worker, toOrigin(address, port)));
    // `close` comes after all its output.
    worker.process.once('close', (code, signal) => {
      this.#workers.delete(worker);
      this.#watchdog.forget(worker);
      if (this.#isStopping) this.#noteStopped(worker, code);
      else if (!this.#hasListened && signal === null) {
        // A new worker would fail, too; this one has printed why.
        process.exitCode = 1;
        this.stop();
      } else {
        const failed = Math.max(0, failures + 1 - Math.floor((Date.now() - started) / STEADY));
        this.#replace(worker, failed, { code, signal });
      }
      this.#listening.delete(worker);
    });
    worker.on('message', (message) => {
      if (message === BEAT) this.#watchdog.hear(worker);
      if (message === CLOSED) this.#closed.add(worker);
      this.#answerWhenClosed();
    });
  }

  stop(): void {
    this.#isStopping = true;
    for (const timer of this.#delayed) clearTimeout(timer);
    for (const worker of this.#workers) {
      tell(worker, STOP);
      // The signal ends a worker that does not listen yet; later, workers ignore signals.
      if (!this.#listening.has(worker)) worker.process.kill('SIGTERM');
    }
    setTimeout(() => this.kill(), this.#options.deadline).unref();
    this.#endWhenAlone();
  }

  kill(): void {
    process.exitCode = 1;
    for (const worker of this.#workers) worker.process.kill('SIGKILL');
    setTimeout(this.#options.endByForce, OWN_END).unref();
  }

  #noteListening(worker: Worker, origin: string): void {
    this.#listening.add(worker);
    if (this.#hasListened || this.#isStopping) return;
    this.#hasListened = true;
    this.#options.onListening(origin);
    for (let others = 1; others < this.#options.count; others++) this.startWorker();
  }

  #noteStopped(worker: Worker, code: number | null): void {
    if (code !== 0 && this.#listening.has(worker)) process.exitCode = 1;
    this.#answerWhenClosed();
    this.#endWhenAlone();
  }

  #replace(worker: Worker, failures: number, ending: { code: number | null; signal: string | null }): void {
    const delay = Math.min(SHORTEST_DELAY * 2 ** failures, LONGEST_DELAY);
    this.#options.log.logger.error({ worker: worker.process.pid, ...ending, delay }, 'a worker ended, and is replaced');
    const timer = setTimeout(() => {
      this.#delayed.delete(timer);
      this.startWorker(failures);
    }, delay);
    this.#delayed.add(timer);
  }

  /** Lets all workers answer at the same time: a client that is answered early could come back to a worker that is about to close. */
  #answerWhenClosed(): void {
    if ([...this.#workers].every((worker) => this.#closed.has(worker)))
      for (const worker of this.#workers) tell(worker, ANSWER);
  }

  /** Without workers, this process ends by itself. */
  #endWhenAlone(): void {
    if (this.#workers.size === 0) void this.#options.log.end();
  }
}

/** Sends a message; the callback ignores the error if the worker has just died. */
function tell(worker: Worker, message: string): void {
  worker.send(message, () => {});
}

/** The origin, with brackets around an IPv6 address. */
function toOrigin(hostname: string, port: number): string {
  return format({ protocol: 'http', hostname, port });
}
