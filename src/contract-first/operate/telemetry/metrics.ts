/** Metrics, by prom-client. Names and labels follow OpenTelemetry's semantic conventions where possible. */
import { statfsSync, statSync } from 'node:fs';
import { dirname } from 'node:path';
import client, { type Metric, type Registry } from 'prom-client';
import type { StoreCounts } from '../../store/store.ts';
import { type Durations, type RequestCounts, SECONDS } from './request-counts.ts';

/** The upper bounds of the buckets of `store_commit_writes`. */
const WRITES = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000];

/** The labels of all metrics about requests. */
const LABELS = ['http_request_method', 'http_route', 'http_response_status_code', 'error_type'];

interface MetricsParts {
  counts: RequestCounts;
  stored: StoreCounts;
  /** The paths of deprecated operations. */
  deprecated: ReadonlySet<string>;
  /** The versions of the service, the package and Node, as labels. */
  build: Record<string, string>;
  /** The file of the SQLite database; undefined for other databases. */
  databaseFile: string | undefined;
}

export function buildMetrics({ counts, stored, deprecated, build, databaseFile }: MetricsParts): Registry {
  const registry = new client.Registry();
  client.collectDefaultMetrics({ register: registry });
  const add = buildAdd(registry);
  add.gauge('build_info', 'What runs: 1, with its versions.', Object.keys(build), () => [[build, 1]]);
  addDurations(registry, 'http_server_request_duration_seconds', counts);
  addRequests(add, counts, deprecated);
  addStore(add, stored);
  if (databaseFile !== undefined) addFiles(add, databaseFile);
  return registry;
}

type Sample = [labels: Record<string, string | number>, value: number];
type Add = ReturnType<typeof buildAdd>;

/**
 * Builds functions that add a metric to the registry. Gauges and counters read their samples when metrics are
 * requested.
 */
function buildAdd(registry: Registry) {
  const registers = [registry];
  const adding =
    (Kind: typeof client.Gauge | typeof client.Counter) =>
    (name: string, help: string, labelNames: string[], read: () => Sample[]): void => {
      const metric = new Kind({ name, help, labelNames, registers, collect });
      function collect(): void {
        metric.reset();
        // Removes the sample with the value 0 that `reset` adds to a metric without labels.
        if (labelNames.length === 0) metric.remove();
        for (const [labels, value] of read()) metric.inc(labels, value);
      }
    };
  return {
    gauge: adding(client.Gauge),
    counter: adding(client.Counter),
    histogram: (name: string, help: string, buckets = SECONDS) =>
      new client.Histogram({ name, help, buckets, registers }),
  };
}

function addRequests({ gauge, counter }: Add, counts: RequestCounts, deprecated: ReadonlySet<string>): void {
  const one = (value: number): Sample[] => [[{}, value]];
  gauge('http_server_active_requests', 'Requests that have not been answered yet.', [], () => one(counts.inFlight));
  gauge('http_server_open_connections', 'Connections of clients.', [], () => one(counts.connections));
  // Before the keys were read for the first time, the sample of the gauge is left out. The value 0 would mean that they
  // were read in 1970.
  const readAt = () => (counts.keysReadAt > 0 ? one(counts.keysReadAt) : []);
  gauge('api_keys_read_timestamp_seconds', 'When the stored API keys were last read.', [], readAt);
  const unread = () => [...counts.unread].map(([code, value]): Sample => [{ error_type: code }, value]);
  counter('http_server_refused_requests_total', 'Requests that were refused unread.', ['error_type'], unread);
  const dropped = () => Object.entries(counts.dropped).map(([reason, value]): Sample => [{ reason }, value]);
  counter('http_server_dropped_connections_total', 'Connections closed by the server.', ['reason'], dropped);
  const ofDeprecated = () => counts.durations().filter(({ labels }) => deprecated.has(labels.http_route as string));
  const called = () => ofDeprecated().map(({ labels, count }): Sample => [labels, count]);
  counter('http_server_deprecated_requests_total', 'Requests of deprecated operations.', LABELS, called);
}

/** Adds the metrics of the store. The names for connection pools follow OpenTelemetry's conventions. */
function addStore({ gauge, counter, histogram }: Add, stored: StoreCounts): void {
  const sizes = histogram('store_commit_writes', 'Writes that one commit made durable.', WRITES);
  const ofCommits = 'Duration of commits: the time of the disk, or of the database server.';
  const commits = histogram('store_commit_duration_seconds', ofCommits);
  const ofWrites = 'Duration of writes until they were durable, with their wait.';
  const writes = histogram('store_write_duration_seconds', ofWrites);
  stored.onCommit = (seconds, size) => {
    commits.observe(seconds);
    sizes.observe(size);
  };
  stored.onWrite = (seconds) => writes.observe(seconds);
  const reads = () =>
    Object.entries(stored.cached).flatMap(([read, { hits, misses }]): Sample[] => [
      [{ read, outcome: 'hit' }, hits],
      [{ read, outcome: 'miss' }, misses],
    ]);
  counter('store_cache_reads_total', 'Reads that the cache has answered or not.', ['read', 'outcome'], reads);
  const [name, state] = ['db_client_connection_pool_name', 'db_client_connection_state'];
  const open = () =>
    Object.entries(stored.pools()).flatMap(([pool, { used, idle }]): Sample[] => [
      [{ [name]: pool, [state]: 'used' }, used],
      [{ [name]: pool, [state]: 'idle' }, idle],
    ]);
  gauge('db_client_connection_count', 'Connections to the database server.', [name, state], open);
  const ofWaiting = 'Statements that wait for a connection: each is of all calls that wait.';
  const waiting = () =>
    Object.entries(stored.pools()).map(([pool, { waiting }]): Sample => [{ [name]: pool }, waiting]);
  gauge('db_client_connection_pending_requests', ofWaiting, [name], waiting);
}

/**
 * Adds the sizes of SQLite's files, and the free bytes on their disk. The size of a missing file is 0. If a value
 * cannot be read, the sample of its metric is left out.
 */
function addFiles({ gauge }: Add, file: string): void {
  const size = (name: string) => statSync(name, { throwIfNoEntry: false })?.size ?? 0;
  const add = (name: string, help: string, read: () => number) =>
    gauge(name, help, [], () => {
      try {
        return [[{}, read()]];
      } catch {
        return [];
      }
    });
  add('sqlite_database_size_bytes', 'The size of the database.', () => size(file));
  add('sqlite_wal_size_bytes', "The size of the database's write-ahead log.", () => size(`${file}-wal`));
  add('disk_free_bytes', 'What is free on the disk of the database.', () => {
    const { bavail, bsize } = statfsSync(dirname(file));
    return bavail * bsize;
  });
}

/**
 * Adds the histogram of the durations that `counts` has collected. The histogram is a plain object with a function
 * `get`, because prom-client calls only this function.
 */
function addDurations(registry: Registry, name: string, counts: RequestCounts): void {
  const metric = { name, help: 'Duration of requests, until their reply was sent.', type: 'histogram' };
  const toSamples = ({ buckets, sum, count, labels }: Durations) => {
    let before = 0;
    const upTo = buckets.map((more, index) => {
      before += more;
      return { metricName: `${name}_bucket`, value: before, labels: { ...labels, le: SECONDS[index] ?? '+Inf' } };
    });
    return [
      ...upTo,
      { metricName: `${name}_sum`, value: sum, labels },
      { metricName: `${name}_count`, value: count, labels },
    ];
  };
  const get = async () => ({ ...metric, values: counts.durations().flatMap(toSamples) });
  registry.registerMetric({ ...metric, get } as unknown as Metric);
}

/**
 * Renders the metrics as OpenMetrics if `accept`, the request's `Accept` header, allows it, and otherwise as Prometheus
 * text.
 */
export async function writeMetrics(registry: Registry, accept = ''): Promise<{ type: string; text: string }> {
  const isOpen = /application\/openmetrics-text(?!\s*;[^,]*q=0(?:\.0*)?(?:,|$))/.test(accept);
  if (!isOpen) return { type: registry.contentType, text: await registry.metrics() };
  // The metrics are copied, because prom-client renames counters when it writes OpenMetrics: it removes `_total`.
  const open = new client.Registry();
  open.setContentType(client.Registry.OPENMETRICS_CONTENT_TYPE as never);
  for (const metric of await registry.getMetricsAsJSON()) {
    const copy = { ...metric, get: async () => copy };
    open.registerMetric(copy as unknown as Metric);
  }
  return { type: open.contentType, text: await open.metrics() };
}
