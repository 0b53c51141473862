import { connect } from 'node:net';
import { hostname } from 'node:os';
import { setTimeout as wait } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { startPostgres } from '../../postgres.ts';
import { startServer } from '../../program.ts';
import { connectRaw, flood, sendRaw } from '../../raw-client.ts';
import { KEY, type RequestOptions, readOurs, send } from '../../service.ts';

const PET = { name: 'Rex', categoryId: 1 };

/** Starts a server with a port for operators. */
async function start(t: Test, env: Record<string, string> = {}) {
  const server = await startServer(t, { env: { ADMIN_PORT: '0', ...env }, isCovered: true });
  const [, port] = await server.written('stdout', /"admin":"http:\/\/127\.0\.0\.1:(\d+)"/);
  const ask = (path: string, options: RequestOptions = {}) => send(Number(port), path, { key: null, ...options });
  /** Returns the value of every sample by its name and labels. */
  async function scrape(): Promise<Map<string, number>> {
    const { text } = await ask('/metrics');
    const lines = text.split('\n').filter((line) => line && !line.startsWith('#'));
    return new Map(lines.map((line) => [line.replace(/ \S+$/, ''), Number(/\S+$/.exec(line)?.[0])]));
  }
  return { ...server, ask, scrape, adminPort: Number(port) };
}

const CREATED =
  'http_server_request_duration_seconds_count{http_request_method="POST",http_route="/v1/pets",http_response_status_code="201"}';

t.test("the operators' port serves health checks and metrics, which the public port does not", async (t) => {
  const { ask, scrape, request, child, exit, port } = await start(t);
  t.match(await ask('/'), { status: 200, text: /\/metrics[\s\S]*\/livez[\s\S]*\/readyz/ });
  t.match(await ask('/livez'), { status: 200, text: 'ok\n' });
  t.match(await ask('/readyz'), { status: 200, text: 'ok\n' });
  t.equal((await ask('/v1/pets')).status, 404);
  const upgrade = await ask('http://a/livez?b', { headers: { connection: 'upgrade', upgrade: 'a' } });
  t.match(upgrade, { status: 200, text: 'ok\n', headers: { connection: 'close' } });
  t.match(await ask('/metrics', { method: 'POST' }), { status: 405, headers: { allow: 'GET, HEAD' } });
  t.equal((await send(port, '/metrics', { key: null })).status, 404, 'the public port has no metrics');

  await request('/v1/pets', { method: 'POST', body: PET });
  await request('/v1/pets/1');
  await request('/v1/pets/2');
  await request('/v1/pets', { key: null });
  await request('/v1/pets?limit=0');
  const gone = connect(port, '127.0.0.1');
  gone.write(`POST /v1/pets HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${KEY}\r\nContent-Type: application/json\r\n`);
  gone.write('Content-Length: 9\r\n\r\n{');
  const untilActive = async (count: number) => {
    for (;;) {
      const samples = await scrape();
      if (samples.get('http_server_active_requests') === count) return samples;
      await wait(20);
    }
  };
  await untilActive(1);
  gone.resetAndDestroy();
  await connectRaw(port, 'nonsense\r\n\r\n').replies(1);
  const samples = await untilActive(0);
  t.equal(samples.get('http_server_refused_requests_total{error_type="malformed_request"}'), 1);
  const count = (labels: string) => samples.get(`http_server_request_duration_seconds_count{${labels}}`);
  t.equal(samples.get(CREATED), 1);
  const get = 'http_request_method="GET",http_route="/v1/pets';
  t.equal(count(`${get}/{petId}",http_response_status_code="404",error_type="pet_not_found"`), 1);
  t.equal(count(`${get}",http_response_status_code="401",error_type="unauthorized"`), 1);
  t.equal(count(`${get}",http_response_status_code="400",error_type="invalid_request"`), 1);
  t.equal(count('http_request_method="POST",http_route="/v1/pets",error_type="aborted"'), 1);
  const ended = [...samples].filter(([name]) => name.startsWith('http_server_request_duration_seconds_bucket'));
  t.equal(ended.find(([name]) => name.includes('le="+Inf"') && name.includes('"201"'))?.[1], 1);
  const deprecated = [...samples].filter(([name]) => name.startsWith('http_server_deprecated_requests_total'));
  t.equal(
    deprecated.reduce((sum, [, value]) => sum + value, 0),
    2,
  );
  const { document, digest } = await readOurs();
  const build = `contract="${document.info.version}",digest="${digest}"}`;
  t.ok([...samples.keys()].some((name) => name.startsWith('build_info{node="v') && name.endsWith(build)));
  for (const name of [
    'nodejs_eventloop_lag_p99_seconds',
    'nodejs_heap_size_used_bytes',
    'process_resident_memory_bytes',
  ])
    t.ok((samples.get(name) as number) >= 0, name);
  child.kill('SIGTERM');
  t.equal(await exit, 0);
});

t.test(
  "the metrics show the store's commits, cache and connections, and the time of the last read of API keys",
  async (t) => {
    const postgres = await startPostgres(t);
    for (const DATABASE_URL of [`sqlite:${t.testdir()}/pets.db`, postgres.newUrl()]) {
      const before = Date.now() / 1000;
      const { scrape, request, child, exit } = await start(t, { DATABASE_URL });
      // PostgreSQL may reject some creates if the machine pauses, so they are repeated.
      for (let created = 0; created < 20; ) {
        const create = () => request('/v1/pets', { method: 'POST', body: PET });
        const replies = await Promise.all(Array.from({ length: 20 - created }, create));
        created += replies.filter(({ status }) => status === 201).length;
      }
      await request('/v1/pets/1');
      let samples = new Map<string, number>();
      const read = (name: string) => samples.get(name) ?? Number.NaN;
      let lists = 0;
      // Pages are not cached for a second after a write.
      for (let isOver = false; !isOver; lists++) {
        await request('/v1/pets?limit=2');
        samples = await scrape();
        isOver = !DATABASE_URL.startsWith('sqlite') || read('store_cache_reads_total{read="page",outcome="hit"}') > 0;
      }
      t.equal(read('store_commit_writes_sum'), 20);
      t.ok(read('store_commit_writes_count') > 0 && read('store_commit_writes_count') <= 20);
      t.equal(read('store_commit_duration_seconds_count'), read('store_commit_writes_count'));
      t.equal(read('store_write_duration_seconds_count'), 20);
      t.ok(read('store_write_duration_seconds_sum') >= read('store_commit_duration_seconds_sum'));
      t.ok(read('api_keys_read_timestamp_seconds') >= Math.floor(before));
      t.ok(read('api_keys_read_timestamp_seconds') <= Date.now() / 1000);
      if (DATABASE_URL.startsWith('sqlite')) {
        t.equal(read('store_cache_reads_total{read="page",outcome="hit"}'), 1);
        t.equal(read('store_cache_reads_total{read="page",outcome="miss"}'), lists - 1);
        t.equal(read('store_cache_reads_total{read="record",outcome="miss"}'), 1);
      } else {
        const count = (pool: string, state: string) =>
          read(
            `db_client_connection_count{db_client_connection_pool_name="${pool}",db_client_connection_state="${state}"}`,
          );
        t.equal(count('read', 'used') + count('read', 'idle'), 3);
        t.equal(count('write', 'used') + count('write', 'idle'), 1);
        const pending = 'db_client_connection_pending_requests{db_client_connection_pool_name="read"}';
        // The server itself also makes requests now and then, to read keys and to check its health.
        while (read(pending) !== 0) samples = await scrape();
        t.equal(read(pending), 0);
      }
      child.kill('SIGTERM');
      t.equal(await exit, 0);
    }
  },
);

t.test("the operators' port reads only a limited part of a request body", async (t) => {
  const { adminPort } = await start(t);
  for (const [line, status] of [
    ['GET /metrics', 200],
    ['POST /metrics', 405],
  ] as const) {
    const { reply, sent } = await flood(adminPort, `${line} HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n`);
    t.equal(reply?.status, status, line);
    // Most of these bytes are in the buffers of the operating system.
    t.ok(sent < 50_000_000, `${sent} bytes were taken of ${line}`);
  }
});

t.test("the operators' port sends one reply per connection, for any number of pipelined requests", async (t) => {
  const { adminPort, child, exit } = await start(t);
  for (const version of ['HTTP/1.1', 'HTTP/1.0\r\nConnection: keep-alive']) {
    const { replies, closed, socket } = connectRaw(
      adminPort,
      `GET /metrics ${version}\r\nHost: a\r\n\r\n`.repeat(5000),
    );
    t.match(await replies(), { length: 1, 0: { status: 200, headers: { connection: 'close' } } });
    socket.destroy();
    await closed;
  }
  child.kill('SIGTERM');
  t.equal(await exit, 0);
});

t.test("the operators' port answers even if 100 clients connect to it and neither read nor send", async (t) => {
  const { adminPort, ask, child, exit } = await start(t);
  const clients = Array.from({ length: 100 }, (_, index) => {
    const socket = connect(adminPort, '127.0.0.1').on('error', () => {});
    if (index % 2) socket.pause().write('GET /metrics HTTP/1.1\r\nHost: a\r\n\r\n'.repeat(100));
    return socket;
  });
  for (let count = 0; count < 5; count++) t.equal((await ask('/readyz')).status, 200);
  for (const socket of clients) socket.destroy();
  child.kill('SIGTERM');
  t.equal(await exit, 0);
});

t.test("the operators' port rejects unknown names in Host, so that a web page cannot read the metrics", async (t) => {
  const { adminPort, child, exit } = await start(t, { ADMIN_HOST: '127.1' });
  const ask = (host: string) => send(adminPort, '/livez', { key: null, headers: { host } });
  for (const host of [
    '127.0.0.1',
    '127.0.0.1:9000',
    '[::1]:9000',
    'localhost:9000',
    'LOCALHOST',
    'petstore:9000',
    hostname(),
    '127.1',
  ])
    t.match(await ask(host), { status: 200, headers: { 'x-content-type-options': 'nosniff' } }, host);
  for (const host of ['evil.example', 'evil.example:9000', '127.0.0.1.evil.example', 'evil.example.'])
    t.match(await ask(host), { status: 421, text: /ADMIN_HOST/ }, host);
  t.match(
    await sendRaw(adminPort, 'GET /livez HTTP/1.0\r\n\r\n'),
    [{ status: 200 }],
    'a health check of HAProxy, in HTTP/1.0 without Host',
  );
  child.kill('SIGTERM');
  t.equal(await exit, 0);
});

t.test('/metrics answers in the OpenMetrics format if the Accept header prefers it', async (t) => {
  const { ask, request, child, exit } = await start(t);
  await request('/v1/pets');
  const plain = await ask('/metrics', { headers: { accept: 'application/openmetrics-text;q=0,text/plain' } });
  t.match(plain.headers['content-type'], 'text/plain; version=0.0.4');
  t.match(
    plain.text,
    /^# TYPE http_server_dropped_connections_total counter\nhttp_server_dropped_connections_total\{/m,
  );
  const accept = 'application/openmetrics-text;version=1.0.0;q=0.5,text/plain;version=0.0.4;q=0.3';
  const open = await ask('/metrics', { headers: { accept } });
  t.match(open.headers['content-type'], 'application/openmetrics-text');
  t.match(open.text, /^# TYPE http_server_dropped_connections counter\nhttp_server_dropped_connections_total\{/m);
  t.match(open.text, /# EOF\n$/);
  t.notMatch(open.text, '_total_total');
  child.kill('SIGTERM');
  t.equal(await exit, 0);
});

t.test('clients cannot add time series to the metrics with new paths, methods or headers', async (t) => {
  const { scrape, port } = await start(t);
  const METHODS = ['GET', 'PUT', 'PURGE', 'MKCOL', 'REPORT', 'LINK'];
  const ask = (from: number) => {
    const socket = connect(port, '127.0.0.1').on('error', () => {});
    for (let index = from; index < from + 50; index++) {
      const method = METHODS[index % METHODS.length];
      const path = ['/v1/pets/', '/v1/', '/docs/static/', '/%zz'][index % 4];
      socket.write(`${method} ${path}x${index}?y=${index} HTTP/1.1\r\nHost: a${index}\r\nX-${index}: 1\r\n\r\n`);
    }
    socket.write('GET /livez HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n');
    return new Promise((resolve) => socket.resume().once('close', resolve));
  };
  await ask(0);
  const series = (samples: Map<string, number>) =>
    [...samples.keys()].filter((name) => /^http_\w+(count|total|requests|connections)\b/.test(name)).sort();
  const before = series(await scrape());
  for (let from = 0; from < 10_000; from += 50) await ask(from);
  t.strictSame(series(await scrape()), before);
  t.ok(before.length < 100, `${before.length} series`);
});

t.test("while the server stops, the operators' port answers 503 to /readyz", async (t) => {
  const { ask, child, written, exit } = await start(t, { DRAIN_DELAY: '2000' });
  child.kill('SIGTERM');
  await written('stdout', /"msg":"stopping"/);
  t.equal((await ask('/readyz')).status, 503);
  t.equal(await exit, 0);
});

t.test("if the operators' port is in use, the start fails and names ADMIN_PORT", async (t) => {
  const { port } = await start(t);
  await t.rejects(start(t, { ADMIN_PORT: String(port) }), /Cannot listen: .*EADDRINUSE.*Set ADMIN_HOST or ADMIN_PORT/);
});
