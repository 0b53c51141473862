import { setTimeout as wait } from 'node:timers/promises';
import t from 'tap';
import { buildCounts } from '../../../src/engine/http/log/counts.ts';
import { send, startService } from '../../service.ts';

t.test('a method that no contract has is counted as any other such', async (t) => {
  const counts = buildCounts((id) => `/${id}`);
  const { port } = await startService(t, { counts });
  for (const method of ['PROPFIND', 'MKCOL', 'GET']) await send(port, '/v1/nothing', { method });
  while (counts.durations().length < 2) await wait(5);
  t.strictSame(
    counts.durations().map(({ method, route, status, error }) => ({ method, route, status, error })),
    ['_OTHER', 'GET'].map((method) => ({ method, route: '', status: 404, error: 'route_not_found' })),
  );
});
