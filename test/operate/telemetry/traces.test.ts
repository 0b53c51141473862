import { once } from 'node:events';
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { pathToFileURL } from 'node:url';
import * as api from '@opentelemetry/api';
import t, { type Test } from 'tap';
import { loadOpenTelemetry } from '../../../src/contract-first/operate/telemetry/open-telemetry.ts';
import { traceCalls } from '../../../src/contract-first/operate/telemetry/traces.ts';
import { loadConfig } from '../../config.ts';
import { prepareFaultyDisk } from '../../faulty-disk.ts';
import { startPostgres } from '../../postgres.ts';
import { startProgram, startServer } from '../../program.ts';
import { KEY, readOurs, send } from '../../service.ts';

interface Span {
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  traceState?: string;
  name: string;
  kind: number;
  attributes: { key: string; value: Record<string, unknown> }[];
  status: { code?: number };
  links?: { traceId: string; spanId: string }[];
}

/** Starts a collector, and a server that exports each span to it within 50 ms. */
async function startTraced(t: Test, env: Record<string, string> = {}) {
  const spans: Span[] = [];
  const resources: unknown[] = [];
  const headers: unknown[] = [];
  const collector = createServer(async (request, reply) => {
    headers.push(request.headers['x-team']);
    for (const { resource, scopeSpans } of JSON.parse((await request.toArray()).join('')).resourceSpans) {
      resources.push(resource);
      for (const scope of scopeSpans) spans.push(...scope.spans);
    }
    reply.setHeader('content-type', 'application/json').end('{}');
  });
  await once(collector.listen(0, '127.0.0.1'), 'listening');
  t.teardown(() => collector.close());
  const OTEL_EXPORTER_OTLP_ENDPOINT = `http://127.0.0.1:${(collector.address() as AddressInfo).port}`;
  const all = {
    OTEL_EXPORTER_OTLP_ENDPOINT,
    OTEL_BSP_SCHEDULE_DELAY: '50',
    CREATE_TIMEOUT: '5000',
    TRUST_TRACES: '127.0.0.1',
    ...env,
  };
  const server = await startServer(t, { env: all, isCovered: true });
  /** Resolves with the spans once there are this many. */
  const untilThere = async (count: number) => {
    while (spans.length < count) await wait(20);
    return spans;
  };
  return { server, resources, headers, untilThere };
}

const toObject = ({ attributes }: Pick<Span, 'attributes'>) =>
  Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]]));

const TRACE = '0af7651916cd43dd8448eb211c80319c';
const PARENT = 'b7ad6b7169203331';

t.test('a request with a sampled traceparent adds a span to its trace, and each store call a child span', async (t) => {
  const OTEL_EXPORTER_OTLP_HEADERS = 'x-team=pets';
  const OTEL_RESOURCE_ATTRIBUTES = 'deployment.environment.name=staging';
  const { server, resources, headers, untilThere } = await startTraced(t, {
    OTEL_EXPORTER_OTLP_HEADERS,
    OTEL_RESOURCE_ATTRIBUTES,
  });
  const { status } = await server.request('/v1/pets/7?x=1', { headers: { traceparent: `00-${TRACE}-${PARENT}-01` } });
  t.equal(status, 400);
  await server.request('/v1/pets/7', { headers: { traceparent: `00-${TRACE}-${PARENT}-00` } });
  await server.request('/v1/pets', {
    method: 'POST',
    body: { name: 'Rex', categoryId: 7 },
    headers: { traceparent: `00-${TRACE}-${PARENT}-01`, tracestate: 'team=pets' },
  });
  const [refused, store, created] = (await untilThere(3)) as [Span, Span, Span];
  t.match(refused, { traceId: TRACE, parentSpanId: PARENT, name: 'GET /v1/pets/{petId}', kind: 2 });
  t.match(created, { traceId: TRACE, parentSpanId: PARENT, traceState: 'team=pets', name: 'POST /v1/pets' });
  t.strictSame(toObject(created), {
    'http.request.method': 'POST',
    'url.path': '/v1/pets',
    'url.scheme': 'http',
    'http.response.status_code': 201,
    'http.route': '/v1/pets',
  });
  t.match(store, { traceId: TRACE, parentSpanId: created.spanId, kind: 3 });
  t.match(toObject(store), { 'db.system.name': 'sqlite', 'db.operation.name': store.name });
  t.match(toObject(resources[0] as Span), {
    'service.name': 'petstore',
    'service.version': (await readOurs()).document.info.version,
    'deployment.environment.name': 'staging',
  });
  t.equal(headers[0], 'pets');
  await server.written(
    'stdout',
    new RegExp(`"traceId":"${TRACE}","parentId":"${PARENT}","spanId":"${created.spanId}"`),
  );
  server.child.kill('SIGTERM');
  t.equal(await server.exit, 0);
});

t.test(
  'a request without a traceparent begins a trace, and the log names its id; the span of a failed request has an error',
  async (t) => {
    const disk = prepareFaultyDisk(t);
    const { server, untilThere } = await startTraced(t, { ...disk.env, OTEL_SERVICE_NAME: 'other' });
    await server.request('/none');
    const [none] = (await untilThere(1)) as [Span];
    t.match(none, { name: 'GET', parentSpanId: undefined });
    await server.written('stdout', new RegExp(`"traceId":"${none.traceId}","spanId":"${none.spanId}"`));

    const create = { method: 'POST', key: KEY, body: { name: 'Rex', categoryId: 7 } };
    disk.fail();
    t.equal((await send(server.port, '/v1/pets', create)).status, 503);
    const [, store, failed] = (await untilThere(3)) as [Span, Span, Span];
    t.equal(store.status.code, 2);
    t.match([toObject(failed)['error.type'], failed.status.code], ['503', 2]);
    disk.mend();
    server.child.kill('SIGTERM');
    t.equal(await server.exit, 0);
  },
);

/** The number of writes: enough for some of them to share a commit on any machine. */
const WRITES = 100;

t.test('the span of a write has a link to the span of the commit that stored the record', async (t) => {
  const postgres = await startPostgres(t);
  for (const DATABASE_URL of [`sqlite:${t.testdir()}/pets.db`, postgres.newUrl()]) {
    const { server, untilThere } = await startTraced(t, { DATABASE_URL });
    const create = { method: 'POST', body: { name: 'Rex', categoryId: 7 } };
    const replies = await Promise.all(Array.from({ length: WRITES }, () => server.request('/v1/pets', create)));
    // PostgreSQL may reject some creates if the machine pauses.
    const stored = replies.filter(({ status }) => status === 201).length;
    await server.request('/v1/pets/1');
    const spans = await untilThere(2 * WRITES + 2);
    const findCommits = () => spans.filter(({ name }) => name === 'commit');
    const countCommitted = () =>
      findCommits().reduce((sum, commit) => sum + Number(toObject(commit)['db.operation.batch.size']), 0);
    while (countCommitted() < stored) await wait(20);
    server.child.kill('SIGTERM');
    t.equal(await server.exit, 0);
    const commits = findCommits();
    const writes = spans.filter(({ name, status }) => name === 'create' && status.code !== 2);
    t.ok(commits.length > 0 && commits.length < WRITES, `${commits.length} commits`);
    t.equal(countCommitted(), stored);
    for (const { links } of writes)
      t.ok(commits.some(({ spanId, traceId }) => links?.[0]?.spanId === spanId && links[0].traceId === traceId));
    t.equal(writes.length, stored);
    for (const { parentSpanId } of commits) t.equal(parentSpanId, undefined);
    t.equal(spans.find(({ name }) => name === 'get')?.links?.length ?? 0, 0);
  }
});

t.test('a store call for one tenant has a span with the name of the call', async (t) => {
  const names: string[] = [];
  const startSpan = (name: string) => ({ end: () => names.push(name) });
  const items = { of: (tenant: string) => ({ get: (id: number) => `${tenant} ${id}` }) };
  const traced = traceCalls(items, { api, tracer: { startSpan }, commits: { counts: {} } } as never);
  t.equal(await traced.of('Ada').get(7), 'Ada 7');
  t.strictSame(names, ['get']);
});

t.test('if the trace collector cannot be reached, requests are answered and the log reports the failure', async (t) => {
  const { server } = await startTraced(t, { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9' });
  for (let count = 0; count < 20; count++) t.equal((await server.request('/v1/pets')).status, 200);
  await server.written('stdout', /ECONNREFUSED/);
  server.child.kill('SIGTERM');
  t.equal(await server.exit, 0);
});

t.test(
  'the sampling ratio decides for requests without a traceparent; the sampled flag decides for the others',
  async (t) => {
    const OTEL_TRACES_SAMPLER = 'parentbased_traceidratio';
    for (const [OTEL_TRACES_SAMPLER_ARG, least, most] of [
      ['0', 0, 0],
      ['0.5', 20, 80],
      ['1', 100, 100],
      ['all', 100, 100],
    ] as const) {
      const { server, untilThere } = await startTraced(t, { OTEL_TRACES_SAMPLER, OTEL_TRACES_SAMPLER_ARG });
      for (let count = 0; count < 100; count++) {
        const headers = count % 2 === 0 ? {} : { traceparent: `00-${TRACE}-x` };
        await server.request('/none', { headers });
      }
      for (const flag of ['00', '02', '01', '03'])
        await server.request('/livez', { headers: { traceparent: `00-${TRACE}-${PARENT}-${flag}` } });
      const spans = await untilThere(0);
      while (spans.filter(({ parentSpanId }) => parentSpanId !== undefined).length < 2) await wait(20);
      server.child.kill('SIGTERM');
      t.equal(await server.exit, 0);
      const own = spans.filter(({ parentSpanId }) => parentSpanId === undefined).length;
      t.ok(own >= least && own <= most, `${own} of 100 with the ratio ${OTEL_TRACES_SAMPLER_ARG}`);
      t.equal(spans.length - own, 2, 'both requests with a sampled traceparent have a span');
    }
  },
);

t.test('the server logs a traceparent from an untrusted address, but does not continue its trace', async (t) => {
  const OTEL_TRACES_SAMPLER = 'parentbased_traceidratio';
  for (const [OTEL_TRACES_SAMPLER_ARG, count] of [
    ['0', 0],
    ['1', 1],
  ] as const) {
    const TRUST_TRACES = '192.0.2.0/24';
    const { server, untilThere } = await startTraced(t, { OTEL_TRACES_SAMPLER, OTEL_TRACES_SAMPLER_ARG, TRUST_TRACES });
    await server.request('/livez', { headers: { traceparent: `00-${TRACE}-${PARENT}-01` } });
    const line = JSON.parse((await server.written('stdout', /.*"url":"\/livez".*\n/))[0]);
    const spans = await untilThere(count);
    server.child.kill('SIGTERM');
    t.equal(await server.exit, 0);
    t.equal(spans.length, count);
    for (const { traceId, spanId, parentSpanId } of spans) {
      t.notSame([traceId, parentSpanId], [TRACE, PARENT]);
      t.match(line, { traceId, spanId });
    }
    if (count === 0) t.match(line, { traceId: TRACE, parentId: PARENT });
  }
});

t.test("without OpenTelemetry's packages, the start and `--check` print the command that installs them", async (t) => {
  const root = mkdtempSync(join(tmpdir(), 'untraced-'));
  t.teardown(() => rmSync(root, { recursive: true }));
  cpSync(process.env.TEST_PROGRAM as string, root, { recursive: true });
  const modules = join(process.cwd(), 'node_modules');
  for (const name of readdirSync(modules).filter((name) => !/^(\.|@opentelemetry$|contract-first$)/.test(name)))
    symlinkSync(join(modules, name), join(root, 'node_modules', name));
  const { devDependencies } = JSON.parse(readFileSync('src/contract-first/package.json', 'utf8'));
  const wanted = Object.keys(devDependencies).filter((name) => name.startsWith('@opentelemetry/'));
  const command = `npm install ${wanted.map((name) => `${name}@${devDependencies[name]}`).join(' ')}`;
  const words = `Traces need packages that are not installed: run \`${command}\`.`;

  const run = async (env: Record<string, string>, ...args: string[]) => {
    const settings = { PORT: '0', DATABASE_URL: `sqlite:${root}/pets.db`, ...env };
    const { exit, output } = startProgram(t, 'src/main.js', { root, args, env: settings });
    return { code: await exit, ...output };
  };
  const env = { OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:4318' };
  const started = await run(env);
  t.match(started, { code: 1, stdout: '', stderr: words });
  t.notOk(readdirSync(root).includes('pets.db'), 'the start has created no database');
  t.match(await run(env, '--check'), { code: 1, stdout: `\ntraces: WRONG: ${words}\n` });
  t.match(await run({}, '--check'), { code: 0, stdout: /^((?!traces)[\s\S])*$/ });
});

t.test('the server sends traces only if an OTEL_EXPORTER variable is set and no variable disables them', async (t) => {
  const url = 'http://127.0.0.1:4318';
  for (const [env, isTraced] of [
    [{}, false],
    [{ OTEL_SERVICE_NAME: 'a' }, false],
    [{ OTEL_EXPORTER_OTLP_ENDPOINT: url }, true],
    [{ OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: url }, true],
    [{ OTEL_EXPORTER_OTLP_ENDPOINT: url, OTEL_SDK_DISABLED: 'true' }, false],
    [{ OTEL_EXPORTER_OTLP_ENDPOINT: url, OTEL_TRACES_EXPORTER: 'none' }, false],
  ] as const) {
    t.equal(loadConfig(env).isTraced, isTraced, JSON.stringify(env));
  }
});

t.test('loading OpenTelemetry without its packages fails with the npm command that installs them', async (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'untraced-'));
  t.teardown(() => rmSync(folder, { recursive: true }));
  t.throws(() => loadOpenTelemetry(pathToFileURL(join(folder, 'contract.yaml'))), {
    message: /run `npm install @opentelemetry\/api@\S+ .*@opentelemetry\/sdk-trace-base@\S+/,
  });
});
