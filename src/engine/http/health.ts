/** For supervisors and load balancers, without a key: `/livez`, the process answers; `/readyz`, it can do its work. */
import type { FastifyInstance } from 'fastify';
import type { Store } from '../../store/store.ts';
import { Failure } from '../errors.ts';
import { checkServices } from '../services.ts';

export function addHealth(app: FastifyInstance, store: Store, isDraining: () => boolean): void {
  app.get('/livez', () => ({ status: 'ok' }));
  app.get('/readyz', async () => {
    if (isDraining()) throw new Failure('unavailable', 'The service is stopping.');
    await store.check();
    await checkServices(app.services);
    return { status: 'ok' };
  });
}
