/** Health checks without a key: `/livez` shows that the process answers, `/readyz` that it can do its work. */
import type { FastifyInstance } from 'fastify';
import type { Logger } from 'pino';
import { type Store, StoreUnavailable } from '../../store/store.ts';
import { HttpError } from '../errors/catalogue.ts';
import { buildCheckServices } from '../services.ts';
import type { Stop } from './connections/connection.ts';
import { describeThrown } from './thrown.ts';

/** A team's own @fastify/swagger does not list these routes as operations. */
const UNLISTED = { schema: { hide: true } };

/** Whether the service can do its work. */
export type IsReady = () => Promise<boolean>;

/**
 * Builds the readiness check of a process. The reason why the service is not ready is logged only when it changes, because probes come
 * every second.
 */
export function buildIsReady(store: Store, services: object, logger: Logger): IsReady {
  const checkServices = buildCheckServices(services);
  let reported: string | undefined;
  return async () => {
    try {
      await store.check();
      await checkServices();
      if (reported !== undefined) logger.info('ready again');
      reported = undefined;
      return true;
    } catch (error) {
      const cause = toCause(error);
      const reason = `${describeThrown(cause)} ${describeThrown((cause as Error | undefined)?.cause)}`;
      if (reason !== reported) logger.error({ err: cause }, 'not ready');
      reported = reason;
      return false;
    }
  };
}

function toCause(error: unknown): unknown {
  const isOurs = error instanceof StoreUnavailable || error instanceof HttpError;
  return isOurs ? error.cause : error;
}

export interface HealthPaths {
  livez: string;
  readyz: string;
}

export function addHealth(app: FastifyInstance, { livez, readyz }: HealthPaths, isReady: IsReady, stop: Stop): void {
  app.get(livez, UNLISTED, () => ({ status: 'ok' }));
  app.get(readyz, UNLISTED, async () => {
    if (stop.isAsked) throw new HttpError('unavailable', 'The service is stopping.');
    if (!(await isReady())) throw new HttpError('unavailable', 'The service is unavailable. Try again later.');
    return { status: 'ok' };
  });
}
