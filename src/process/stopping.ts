/** Stopping in good order, after a signal or an error that nobody caught. */
import { setTimeout as wait } from 'node:timers/promises';
import closeWithGrace from 'close-with-grace';
import type { FastifyInstance } from 'fastify';
import type { Logger } from 'pino';
import type { Config } from '../config.ts';
import type { Store } from '../store/store.ts';
import type { Log } from '../telemetry/log.ts';

/** What the machine raises at a fault of the program: a listener would only bring the same fault again, for ever. */
const FAULTS: closeWithGrace.Signals[] = ['SIGILL', 'SIGTRAP', 'SIGABRT', 'SIGBUS', 'SIGFPE', 'SIGSEGV'];

/** What `signals.ts` listens for, or leaves to the first of several processes. */
const SKIPPED: closeWithGrace.Signals[] = [...FAULTS, 'SIGINT', 'SIGTERM'];

/** How long the store may take to close, in milliseconds: what takes longer is ended by force. */
const STORE_TIMEOUT = 5000;

/** How long the last line of the log has, in milliseconds. */
const LAST_LINE = 100;

export interface StoppingOptions {
  app: FastifyInstance;
  store: Store;
  config: Config;
  log: Log;
  /** Resolves when the server listens: it cannot be closed while it begins to. */
  listening: Promise<unknown>;
  /** Tells everybody who asks that the stop has begun. */
  stop: { isAsked: boolean };
}

/** Stops after an error. Returns what asks for a stop; the process then ends: with 0, with 1 after an error, or by force. */
export function prepareStop(options: StoppingOptions): (signal?: string) => void {
  const { app, store, config, log, listening, stop } = options;
  const { logger } = log;
  const endByForce = buildForcedEnd(logger, process.pid);
  let askedBy: string | undefined;
  const stopping = closeWithGrace({ delay: false, logger, skip: SKIPPED }, async ({ err }) => {
    setTimeout(endByForce, stopDeadline(config)).unref();
    if (err) logger.fatal({ err }, 'stopping after an error');
    else logger.info({ signal: askedBy }, 'stopping');
    stop.isAsked = true;
    await listening;
    await wait(err ? 0 : config.drainDelay);
    const cut = setTimeout(() => app.server.closeAllConnections(), config.stopTimeout);
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

/** Ends a process that did not stop in time. One that exits waits for its threads, and so for a disk that stalls. */
export function buildForcedEnd(logger: Logger, pid: number): () => Promise<void> {
  return async () => {
    logger.error('killed, because it did not stop in time');
    await wait(LAST_LINE);
    process.kill(pid, 'SIGKILL');
  };
}

/** How long a stop may take in all, in milliseconds. */
export function stopDeadline({ drainDelay, stopTimeout }: Config): number {
  return drainDelay + stopTimeout + STORE_TIMEOUT;
}
