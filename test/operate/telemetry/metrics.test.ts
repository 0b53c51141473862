import t from 'tap';
import { buildCounts } from '../../../src/engine/http/log/counts.ts';
import { buildCommonMetrics, buildMetrics, type Snapshot } from '../../../src/operate/telemetry/metrics.ts';
import { StoreCounts } from '../../../src/store/counts.ts';

const valueIn = (metrics: Snapshot, name: string) => metrics.find((metric) => metric.name === name)?.values[0]?.value;

t.test('a file of the database that is not there has no size', async (t) => {
  const file = `${t.testdir({ 'pets.db': 'four' })}/pets.db`;
  const metrics = await buildCommonMetrics({ node: 'v20' }, file).read();
  t.equal(valueIn(metrics, 'sqlite_database_size_bytes'), 4);
  t.equal(valueIn(metrics, 'sqlite_wal_size_bytes'), 0);
  t.ok((valueIn(metrics, 'disk_free_bytes') as number) > 0);
});

t.test('what the system does not tell of a disk is left out', async (t) => {
  const metrics = await buildCommonMetrics({}, `${t.testdir()}/gone/pets.db`).read();
  t.equal(valueIn(metrics, 'sqlite_database_size_bytes'), 0);
  t.equal(valueIn(metrics, 'disk_free_bytes'), undefined);
});

t.test('a process that has not read the keys yet does not make them look old', async (t) => {
  const counts = buildCounts(String);
  const { read } = buildMetrics({ counts, stored: new StoreCounts(), deprecated: new Set() });
  t.equal(valueIn(await read(), 'api_keys_read_timestamp_seconds'), undefined);
  counts.keysReadAt = 1_790_000_000;
  t.equal(valueIn(await read(), 'api_keys_read_timestamp_seconds'), 1_790_000_000);
});
