/** Stopping in good order, after a signal or an error that nobody caught. */
import { setTimeout as wait } from 'node:timers/promises';
import closeWithGrace from 'close-with-grace';
import type { FastifyInstance } from 'fastify';
import type { Config } from '../config.ts';
import type { Store } from '../store/store.ts';
import type { Log } from '../telemetry/log.ts';

/** What the machine raises at a fault of the program: a listener would only bring the same fault again, for ever. */
const FAULTS: closeWithGrace.Signals[] = ['SIGILL', 'SIGTRAP', 'SIGABRT', 'SIGBUS', 'SIGFPE', 'SIGSEGV'];

/** How long the store may take to close, in milliseconds: what takes longer is ended by force. */
const STORE_TIMEOUT = 5000;

export interface StoppingOptions {
  app: FastifyInstance;
  store: Store;
  config: Config;
  log: Log;
  /** Tells everybody who asks that the stop has begun. */
  stop: { isAsked: boolean };
  /** False leaves SIGINT and SIGTERM to somebody else. */
  onSignals: boolean;
}

/** Returns what asks for a stop without a signal. The process then ends: with 0, or with 1 after an error or too long a stop. */
export function prepareStop({ app, store, config, log, stop, onSignals }: StoppingOptions): () => void {
  const { logger } = log;
  const skip: closeWithGrace.Signals[] = onSignals ? FAULTS : [...FAULTS, 'SIGINT', 'SIGTERM'];
  const stopping = closeWithGrace({ delay: stopDeadline(config), logger, skip }, async ({ signal, err }) => {
    if (err) logger.fatal({ err }, 'stopping after an error');
    else logger.info({ signal }, 'stopping');
    stop.isAsked = true;
    await wait(err ? 0 : config.drainDelay);
    const cut = setTimeout(() => app.server.closeAllConnections(), config.stopTimeout);
    await app.close();
    clearTimeout(cut);
    await store.close();
    logger.info('stopped');
    await log.end();
  });
  return stopping.close;
}

/** How long a stop may take in all, in milliseconds. */
export function stopDeadline({ drainDelay, stopTimeout }: Config): number {
  return drainDelay + stopTimeout + STORE_TIMEOUT;
}
