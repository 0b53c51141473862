import { setTimeout as wait } from 'node:timers/promises';
import client from 'prom-client';
import t from 'tap';
import { buildMetrics } from '../../../src/contract-first/operate/telemetry/metrics.ts';
import { listenForOperators } from '../../../src/contract-first/operate/telemetry/operators.ts';
import { RequestCounts } from '../../../src/contract-first/operate/telemetry/request-counts.ts';
import { StoreCounts } from '../../../src/contract-first/store/store.ts';
import { send, startService } from '../../service.ts';

/** Builds the metrics of a process with this database, and a function that reads the value of one. */
function build(databaseFile?: string) {
  const counts = new RequestCounts(String, {});
  const parts = { counts, stored: new StoreCounts(), deprecated: new Set<string>(), build: {}, databaseFile };
  const metrics = buildMetrics(parts);
  const read = async (name: string) => (await metrics.getSingleMetric(name)?.get())?.values[0]?.value;
  return { counts, read };
}

t.test('the metrics report a size of 0 for a database file that does not exist', async (t) => {
  const { read } = build(`${t.testdir({ 'pets.db': 'four' })}/pets.db`);
  t.equal(await read('sqlite_database_size_bytes'), 4);
  t.equal(await read('sqlite_wal_size_bytes'), 0);
  t.ok(((await read('disk_free_bytes')) as number) > 0);
});

t.test('if the free disk space cannot be read, the metrics omit it', async (t) => {
  const { read } = build(`${t.testdir()}/gone/pets.db`);
  t.equal(await read('sqlite_database_size_bytes'), 0);
  t.equal(await read('disk_free_bytes'), undefined);
});

t.test('the metrics show the time of the last read of API keys only after the first read', async (t) => {
  const { counts, read } = build();
  t.equal(await read('api_keys_read_timestamp_seconds'), undefined);
  counts.keysReadAt = 1_790_000_000;
  t.equal(await read('api_keys_read_timestamp_seconds'), 1_790_000_000);
});

t.test('the metrics count requests with unknown HTTP methods under one label, _OTHER', async (t) => {
  const counts = new RequestCounts((id) => `/${id}`, {});
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

t.test('if one metric cannot be read, /metrics answers 500', async (t) => {
  const metrics = new client.Registry();
  const fail = () => Promise.reject(new Error('the disk does not answer'));
  new client.Gauge({ name: 'free', help: 'What is free.', registers: [metrics], collect: fail });
  const { port } = new URL(await listenForOperators({ isReady: async () => true, metrics }, '127.0.0.1', 0));
  t.equal((await send(Number(port), '/metrics', { key: null })).status, 500);
});
