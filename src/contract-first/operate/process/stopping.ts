/** Stops the process gracefully, after a signal or an uncaught error. */
import { setTimeout as wait } from 'node:timers/promises';
import type { FastifyInstance } from 'fastify';
import type { Logger } from 'pino';
import { httpServerOf } from '../../engine/http/server-options.ts';
import type { Store } from '../../store/store.ts';
import type { Config } from '../config.ts';
import type { Log } from '../telemetry/log.ts';

/** The time that the store may take to close, in milliseconds. After that, the process is killed. */
const STORE_TIMEOUT = 5000;

/** The time that the last line of the log may take to be written before the process is killed, in milliseconds. */
const LAST_LINE = 100;

interface StoppingOptions {
  app: FastifyInstance;
  store: Store;
  config: Config;
  log: Log;
  /** Kills this process. */
  endByForce: () => void;
  /**
   * Resolves when the server listens. The stop waits for this, because Fastify cannot close a server that is about to
   * listen.
   */
  listening: Promise<unknown>;
  /** `isAsked` is set to true when the stop begins. */
  stop: { isAsked: boolean };
}

/**
 * Makes uncaught errors stop the process, and returns a function that stops the process after a signal. The exit code
 * is 0 after a signal, and 1 after an error.
 */
export function prepareStop(options: StoppingOptions): (signal: string) => void {
  const { app, store, config, log, endByForce, listening, stop } = options;
  const { logger } = log;
  async function end(reason: { err: unknown } | { signal: string }): Promise<void> {
    // Removes these listeners, so that another error during the stop ends the process immediately.
    process.off('uncaughtException', onError).off('unhandledRejection', onError);
    setTimeout(endByForce, config.drainDelay + config.stopTimeout + STORE_TIMEOUT).unref();
    const isError = 'err' in reason;
    if (isError) logger.fatal(reason, 'stopping after an error');
    else logger.info(reason, 'stopping');
    stop.isAsked = true;
    await listening;
    await wait(isError ? 0 : config.drainDelay);
    const cut = setTimeout(() => httpServerOf(app)?.connections.cut(), config.stopTimeout);
    await app.close();
    clearTimeout(cut);
    await store.close();
    logger.info('stopped');
    await log.end();
    process.exit(Number(isError));
  }
  const onError = (err: unknown) => void end({ err });
  process.on('uncaughtException', onError).on('unhandledRejection', onError);
  return (signal) => void end({ signal });
}

/**
 * Builds a function that kills the process by SIGKILL. `process.exit` would wait for all threads, and a thread may wait
 * for a stalled disk.
 */
export function buildForcedEnd(logger: Logger, pid: number): () => Promise<void> {
  return async () => {
    logger.error('killed, because it had not stopped yet');
    await wait(LAST_LINE);
    process.kill(pid, 'SIGKILL');
  };
}
