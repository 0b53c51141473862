import { setTimeout as wait } from 'node:timers/promises';
import t from 'tap';
import { RequestCounts } from '../../../src/contract-first/operate/telemetry/request-counts.ts';
import { send, startService } from '../../service.ts';

t.test('a method that no contract has is counted as any other such', async (t) => {
  const counts = new RequestCounts((id) => `/${id}`);
  const { port } = await startService(t, { counts });
  for (const method of ['PROPFIND', 'MKCOL', 'GET']) await send(port, '/v1/nothing', { method });
  while (counts.durations().length < 2) await wait(5);
  t.strictSame(
    counts.durations().map(({ labels }) => labels),
    ['_OTHER', 'GET'].map((method) => ({
      http_request_method: method,
      http_response_status_code: 404,
      error_type: 'route_not_found',
    })),
  );
});
