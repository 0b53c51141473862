import t from 'tap';
import { buildCommonMetrics } from '../../src/telemetry/metrics.ts';

t.test('a file of the database that is not there has no size', async (t) => {
  const file = `${t.testdir({ 'pets.db': 'four' })}/pets.db`;
  const metrics = await buildCommonMetrics({ node: 'v20' }, file).read();
  const valueIn = (name: string) => metrics.find((metric) => metric.name === name)?.values[0]?.value;
  t.equal(valueIn('sqlite_database_size_bytes'), 4);
  t.equal(valueIn('sqlite_wal_size_bytes'), 0);
  t.ok((valueIn('disk_free_bytes') as number) > 0);
});
