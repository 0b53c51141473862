/**
 * Adds health checks, which need no key: `/livez` replies if the process is running, `/readyz` shows whether it can
 * serve requests.
 */
import type { FastifyInstance } from 'fastify';
import type { Logger } from 'pino';
import { type Store, StoreUnavailable } from '../../store/store.ts';
import { HttpError } from '../errors/catalogue.ts';
import { buildCheckServices } from '../services.ts';
import type { Stop } from './connections/connection.ts';
import { describeThrown } from './thrown.ts';

/** Hides the routes from a team's own @fastify/swagger, which would list them as operations. */
const UNLISTED = { schema: { hide: true } };

/** Resolves with true if the service can serve requests. */
export type IsReady = () => Promise<boolean>;

/**
 * Builds the readiness check of a process. If the service is not ready, the reason is logged only when it changes,
 * because load balancers may check every second.
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
