/** The graceful stop, after a signal or an uncaught error. */
import { setTimeout as wait } from 'node:timers/promises';
import closeWithGrace from 'close-with-grace';
import type { FastifyInstance } from 'fastify';
import type { Logger } from 'pino';
import { httpServerOf } from '../../engine/http/server-options.ts';
import type { Store } from '../../store/store.ts';
import type { Config } from '../config.ts';
import type { Log } from '../telemetry/log.ts';
import { STOP_SIGNALS } from './signals.ts';

/** Signals of faults in the program itself: with a listener, the fault would repeat for ever. */
const FAULTS: closeWithGrace.Signals[] = ['SIGILL', 'SIGTRAP', 'SIGABRT', 'SIGBUS', 'SIGFPE', 'SIGSEGV'];

/** The signals that close-with-grace must ignore: `signals.ts` handles those that ask for a stop. */
const SKIPPED: closeWithGrace.Signals[] = [...FAULTS, ...STOP_SIGNALS];

/** How long the store may take to close, in milliseconds; then the process is killed. */
const STORE_TIMEOUT = 5000;

/** How long to wait for the last line of the log to be written, in milliseconds. */
const LAST_LINE = 100;

export interface StoppingOptions {
  app: FastifyInstance;
  store: Store;
  config: Config;
  log: Log;
  /** Kills this process. */
  endByForce: () => void;
  /** Resolves when the server listens; it cannot be closed before. */
  listening: Promise<unknown>;
  /** `isAsked` becomes true when the stop begins. */
  stop: { isAsked: boolean };
}

/** Stops the process after an uncaught error, or when the returned function is called. The exit code is 0, or 1 after an error. */
export function prepareStop(options: StoppingOptions): (signal?: string) => void {
  const { app, store, config, log, endByForce, listening, stop } = options;
  const { logger } = log;
  let askedBy: string | undefined;
  const stopping = closeWithGrace({ delay: false, logger, skip: SKIPPED }, async ({ err }) => {
    setTimeout(endByForce, config.drainDelay + config.stopTimeout + STORE_TIMEOUT).unref();
    if (err) logger.fatal({ err }, 'stopping after an error');
    else logger.info({ signal: askedBy }, 'stopping');
    stop.isAsked = true;
    await listening;
    await wait(err ? 0 : config.drainDelay);
    const cut = setTimeout(() => httpServerOf(app)?.connections.cut(), config.stopTimeout);
    await app.close();
    clearTimeout(cut);
    await store.close();
    logger.info('stopped');
    await log.end();
  });
  return (signal) => {
    askedBy = signal;
    stopping.close();
  };
}

/** Builds a function that kills the process: `process.exit` would wait for threads, and so for a stalled disk. */
export function buildForcedEnd(logger: Logger, pid: number): () => Promise<void> {
  return async () => {
    logger.error('killed, because it had not stopped yet');
    await wait(LAST_LINE);
    process.kill(pid, 'SIGKILL');
  };
}
