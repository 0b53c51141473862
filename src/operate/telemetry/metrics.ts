/**
 * Metrics, written by prom-client. Names and labels are from OpenTelemetry's semantic conventions, where they have one. The numbers are
 * counted elsewhere, and read here on demand.
 */
import { statfsSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import client, { type Metric } from 'prom-client';
import type { Distribution } from '../../distribution.ts';
import type { Counts, Duration } from '../../engine/http/log/counts.ts';
import type { StoreCounts } from '../../store/counts.ts';

interface Sample {
  value: number;
  labels: Record<string, string | number>;
  /** The name of the sample, if it is not the metric's. */
  metricName?: string;
}

interface Description {
  name: string;
  help: string;
  type: 'counter' | 'gauge' | 'histogram';
  /** How the values of several processes are combined; by default they are added. */
  aggregator?: 'sum' | 'first' | 'min' | 'max';
}

/** All metrics of a process at one moment, as plain data that can be sent to another process. */
export type Snapshot = (Description & { values: Sample[] })[];

export interface Metrics {
  read(): Promise<Snapshot>;
}

export interface MetricsParts {
  counts: Counts;
  stored: StoreCounts;
  /** The paths of deprecated operations. */
  deprecated: ReadonlySet<string>;
}

/** Builds the metrics of a process that serves requests. */
export function buildMetrics(parts: MetricsParts): Metrics {
  const registry = new client.Registry();
  client.collectDefaultMetrics({ register: registry });
  const { counts, stored, deprecated } = parts;
  addRequests(registry, counts);
  addConnections(registry, counts);
  addStore(registry, stored);
  add(registry, 'http_server_deprecated_requests_total', 'Requests of deprecated operations.', 'counter', () =>
    counts
      .durations()
      .filter(({ route }) => deprecated.has(route))
      .map((duration) => ({ value: duration.seconds.count, labels: toLabels(duration) })),
  );
  return { read: () => registry.getMetricsAsJSON() as unknown as Promise<Snapshot> };
}

/** Builds the metrics that all processes have in common; the process that answers operators adds them once. */
export function buildCommonMetrics(build: Record<string, string>, databaseFile: string | undefined): Metrics {
  const registry = new client.Registry();
  add(registry, 'build_info', 'What runs: 1, with its versions.', 'gauge', () => [{ value: 1, labels: build }]);
  if (databaseFile !== undefined) addFiles(registry, databaseFile);
  return { read: () => registry.getMetricsAsJSON() as unknown as Promise<Snapshot> };
}

function addRequests(registry: client.Registry, counts: Counts): void {
  const name = 'http_server_request_duration_seconds';
  add(registry, name, 'Duration of requests, until their reply was sent.', 'histogram', () =>
    counts.durations().flatMap((duration) => toSamples(name, duration.seconds, toLabels(duration))),
  );
  add(registry, 'http_server_active_requests', 'Requests that have not been answered yet.', 'gauge', () => [
    { value: counts.inFlight, labels: {} },
  ]);
  add(
    registry,
    'api_keys_read_timestamp_seconds',
    'When the stored API keys were last read.',
    'gauge',
    // No value before the first read: it would be the minimum of all processes while one starts.
    () => (counts.keysReadAt > 0 ? [{ value: counts.keysReadAt, labels: {} }] : []),
    'min',
  );
  add(registry, 'http_server_refused_requests_total', 'Requests that were refused unread.', 'counter', () =>
    [...counts.refused].map(([code, value]) => ({ value, labels: { error_type: code } })),
  );
}

function addConnections(registry: client.Registry, counts: Counts): void {
  add(registry, 'http_server_open_connections', 'Connections of clients.', 'gauge', () => [
    { value: counts.connections, labels: {} },
  ]);
  add(registry, 'http_server_dropped_connections_total', 'Connections closed by the server.', 'counter', () =>
    Object.entries(counts.dropped).map(([reason, value]) => ({ value, labels: { reason } })),
  );
}

/** Adds the metrics of the store. Names for pools are from OpenTelemetry's conventions. */
function addStore(registry: client.Registry, { sizes, commits, writes, cached, pools }: StoreCounts): void {
  const histogram = (name: string, help: string, distribution: Distribution) =>
    add(registry, name, help, 'histogram', () => toSamples(name, distribution));
  histogram('store_commit_writes', 'Writes that one commit made durable.', sizes);
  histogram(
    'store_commit_duration_seconds',
    'Duration of commits: the time of the disk, or of the database server.',
    commits,
  );
  histogram('store_write_duration_seconds', 'Duration of writes until they were durable, with their wait.', writes);
  add(registry, 'store_cache_reads_total', 'Reads that the cache has answered or not.', 'counter', () =>
    Object.entries(cached).flatMap(([read, { hits, misses }]) => [
      { value: hits, labels: { read, outcome: 'hit' } },
      { value: misses, labels: { read, outcome: 'miss' } },
    ]),
  );
  const pool = (name: string) => ({ db_client_connection_pool_name: name });
  add(registry, 'db_client_connection_count', 'Connections to the database server.', 'gauge', () =>
    Object.entries(pools()).flatMap(([name, { used, idle }]) => [
      { value: used, labels: { ...pool(name), db_client_connection_state: 'used' } },
      { value: idle, labels: { ...pool(name), db_client_connection_state: 'idle' } },
    ]),
  );
  add(
    registry,
    'db_client_connection_pending_requests',
    'Statements that wait for a connection: each is of all calls that wait.',
    'gauge',
    () => Object.entries(pools()).map(([name, { waiting }]) => ({ value: waiting, labels: pool(name) })),
  );
}

/** Adds the metrics of SQLite's files. A missing file has the size 0; a value that cannot be read is left out. */
function addFiles(registry: client.Registry, file: string): void {
  const size = (name: string) => statSync(name, { throwIfNoEntry: false })?.size ?? 0;
  const gauge = (name: string, help: string, read: () => number) =>
    add(registry, name, help, 'gauge', () => {
      try {
        return [{ value: read(), labels: {} }];
      } catch {
        return [];
      }
    });
  gauge('sqlite_database_size_bytes', 'The size of the database.', () => size(file));
  gauge('sqlite_wal_size_bytes', "The size of the database's write-ahead log.", () => size(`${file}-wal`));
  gauge('disk_free_bytes', 'What is free on the disk of the database.', () => {
    const { bavail, bsize } = statfsSync(dirname(file));
    return bavail * bsize;
  });
}

function add(
  registry: client.Registry,
  name: string,
  help: string,
  type: Description['type'],
  read: () => Sample[],
  aggregator: Description['aggregator'] = 'sum',
): void {
  const description: Description = { name, help, type, aggregator };
  // prom-client only calls `get` of a metric, so that we need none of its classes, which would count by themselves.
  const metric = { ...description, get: async () => ({ ...description, values: read() }) };
  registry.registerMetric(metric as unknown as Metric);
}

function toLabels({ method, route, status, error }: Duration): Sample['labels'] {
  return {
    http_request_method: method,
    ...(route !== '' && { http_route: route }),
    ...(status !== undefined && { http_response_status_code: status }),
    ...(error !== undefined && { error_type: error }),
  };
}

function toSamples(name: string, { bounds, buckets, sum }: Distribution, labels: Sample['labels'] = {}): Sample[] {
  let count = 0;
  const samples = buckets.map((more, index) => {
    count += more;
    return { metricName: `${name}_bucket`, value: count, labels: { ...labels, le: bounds[index] ?? '+Inf' } };
  });
  return [
    ...samples,
    { metricName: `${name}_sum`, value: sum, labels },
    { metricName: `${name}_count`, value: count, labels },
  ];
}

/** Writes the combined metrics of all processes, in a format that the client accepts. */
export async function writeMetrics(snapshots: Snapshot[], accept = ''): Promise<{ type: string; text: string }> {
  const isOpen = /application\/openmetrics-text(?!\s*;[^,]*q=0(?:\.0*)?(?:,|$))/.test(accept);
  const { Registry } = client;
  // The second parameter is missing in prom-client's types.
  const aggregate = client.AggregatorRegistry.aggregate as (all: object[], type: string) => client.Registry;
  const type = isOpen ? Registry.OPENMETRICS_CONTENT_TYPE : Registry.PROMETHEUS_CONTENT_TYPE;
  // OpenMetrics names a counter without `_total`, which prom-client adds to each line.
  const shown = isOpen ? snapshots.map((each) => each.map(withoutTotal)) : snapshots;
  const registry = aggregate(shown, type);
  return { type, text: await registry.metrics() };
}

function withoutTotal<Of extends Description>(metric: Of): Of {
  return metric.type === 'counter' ? { ...metric, name: metric.name.replace(/_total$/, '') } : metric;
}

/** Adds the counts of workers that have ended to the totals, so that they never fall. */
export async function keepCounts(snapshots: Snapshot[]): Promise<Snapshot> {
  const counted = snapshots.map((each) => each.filter(({ type }) => type !== 'gauge'));
  const registry = client.AggregatorRegistry.aggregate(counted);
  return (await registry.getMetricsAsJSON()) as unknown as Snapshot;
}
