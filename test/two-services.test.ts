/**
 * Checks the promises of the README and the guide with two very different services, which run from the built package.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import contractFirst, { build, serverOptions } from 'contract-first/fastify';
import fastify, { type FastifyInstance } from 'fastify';
import { pino } from 'pino';
import t, { type Test } from 'tap';
import { parse } from 'yaml';
import { withPrefix } from '../src/contract-first/engine/contract/operator-changes.ts';
import { loadServiceContract } from '../src/contract-first/service-contract.ts';
import { openTestServer } from '../src/contract-first/testing/index.ts';
import { startProgram } from './program.ts';
import { KEY } from './service.ts';
import { buildStations, copyStations, PETS, type Subject, toStations } from './two-services.ts';

const QUIET = pino({ level: 'silent' });

type Start = (subject: Subject, more?: { rates?: object; handlers?: object }) => Promise<FastifyInstance>;

const withHandlers = ({ service }: Subject, handlers = {}) => ({
  ...service,
  handlers: { ...service.handlers, ...handlers },
});

async function register(app: FastifyInstance, subject: Subject, { rates = {}, handlers = {} }) {
  await app.register(contractFirst, {
    service: withHandlers(subject, handlers),
    ...{ store: { url: 'sqlite::memory:' }, apiKeys: [KEY], rates, docs: {}, health: {} },
  });
  return app;
}

const WAYS: Record<string, Start> = {
  'in a plain app': (subject, more = {}) => register(fastify(), subject, more),
  'in an app with serverOptions()': (subject, more = {}) =>
    register(fastify(serverOptions({ logger: QUIET })), subject, more),
  'in an app made by build()': (subject, { rates, handlers } = {}) =>
    build(
      withHandlers(subject, handlers),
      { database: { kind: 'memory' }, apiKeys: [KEY], ...rates },
      { log: { logger: QUIET, write: () => {} } },
    ),
};

/** Builds a function that sends requests with a valid key in the location that the contract declares. */
function buildSend(app: FastifyInstance, { toKeyed }: Subject) {
  const [{ header = {} } = {}] = toKeyed(KEY);
  return (url: string, method: 'GET' | 'POST' | 'PUT' | 'DELETE' = 'GET', payload?: object | string) =>
    app.inject({
      ...{ url, method, headers: { ...header, ...(payload !== undefined && { 'content-type': 'application/json' }) } },
      ...(payload !== undefined && { payload }),
    });
}

type Reply = Awaited<ReturnType<ReturnType<typeof buildSend>>>;

function checkError(t: Test, { errorType, isError }: Subject, reply: Reply, status: number, what: string) {
  t.equal(reply.statusCode, status, what);
  t.equal(reply.headers['content-type'], errorType, what);
  t.ok(isError(reply.json(), status), `${what}: ${reply.body}`);
}

const stations = await buildStations(t);
const SUBJECTS = { 'the pet store': PETS, stations: toStations(stations.service) };

for (const [name, subject] of Object.entries(SUBJECTS)) {
  for (const [way, start] of Object.entries(WAYS)) {
    t.test(`a client stores and reads a record, and each error has the contract's form: ${name}, ${way}`, async (t) => {
      const app = await start(subject);
      t.teardown(() => app.close());
      const send = buildSend(app, subject);
      const made = await send(subject.list, 'POST', subject.record);
      t.equal(made.statusCode, 201, made.body);
      t.match(made.json(), subject.record);
      const found = await send(made.headers.location as string);
      t.strictSame([found.statusCode, found.json()], [200, made.json()]);
      t.match(JSON.stringify((await send(subject.list)).json()), made.body);
      for (const [what, status, reply] of [
        ['a wrong parameter', 400, await send(subject.wrong)],
        ['malformed JSON', 400, await send(subject.list, 'POST', '{')],
        ['a missing field', 400, await send(subject.list, 'POST', {})],
        ['no key', 401, await app.inject(subject.list)],
        ['a missing record, by refuse', 404, await send(subject.absent)],
        ['an unknown path', 404, await send(`${subject.list}/a/b`)],
        ['another method', 405, await send(subject.list, 'PUT')],
      ] as const)
        checkError(t, subject, reply, status, what);
      const wrongType = await app.inject({
        ...{ url: subject.list, method: 'POST', payload: 'a', headers: { ...subject.toKeyed(KEY)[0]?.header } },
      });
      checkError(t, subject, wrongType, 415, 'another type');
    });

    t.test(
      `the server accepts keys where the contract declares them, and limits their rates: ${name}, ${way}`,
      async (t) => {
        const app = await start(subject, { rates: { keyRate: { limit: 3, window: 86_400 } } });
        t.teardown(() => app.close());
        const { headers } = await app.inject(subject.list);
        t.match([headers['www-authenticate']].flat()[0], subject.challenge);
        for (const { header = {}, query } of subject.toKeyed(KEY)) {
          const url = query ? `${subject.list}?${query}` : subject.list;
          t.equal((await app.inject({ url, headers: header })).statusCode, 200, query ?? JSON.stringify(header));
        }
        const send = buildSend(app, subject);
        for (let left = 3 - subject.toKeyed(KEY).length; left > 0; left--) await send(subject.list);
        const limited = await send(subject.list);
        checkError(t, subject, limited, 429, 'too many requests');
        t.match(limited.headers, { 'retry-after': /^\d+$/ });
        for (const { header = {}, query } of subject.toKeyed('wrong-key-0123456789'))
          t.equal((await app.inject({ url: `${subject.list}?${query ?? ''}`, headers: header })).statusCode, 401);
      },
    );

    t.test(
      `if a handler's answer breaks the contract, the reply is a 500 with the contract's Error body: ${name}, ${way}`,
      async (t) => {
        const broken = Object.assign(async () => ({ status: 200, body: 'none' }), { operation: subject.listId });
        const app = await start(subject, { handlers: { [subject.listId]: broken } });
        t.teardown(() => app.close());
        checkError(t, subject, await buildSend(app, subject)(subject.list), 500, 'a broken answer');
      },
    );

    t.test(`the server serves its documents and health checks: ${name}, ${way}`, async (t) => {
      const app = await start(subject);
      t.teardown(() => app.close());
      t.match((await app.inject('/docs')).body, /^<!doctype html>/i);
      const { paths } = (await app.inject(subject.path)).json();
      t.ok(Object.keys(paths).length > 1);
      t.notMatch(JSON.stringify(paths), '.yaml', 'the served contract refers to no other file');
      for (const path of ['/livez', '/readyz']) t.equal((await app.inject(path)).statusCode, 200);
    });
  }

  t.test(`the test client calls each operation by its name and sends the service's key: ${name}`, async (t) => {
    const { client, request } = await openTestServer(t, subject.service);
    const call = (client as Record<string, (sent?: object) => Promise<{ status: number }>>)[subject.listId];
    t.equal((await call?.())?.status, 200);
    t.equal((await call?.({ key: null }))?.status, 401);
    const made = await request(subject.list, { method: 'POST', body: subject.record });
    t.equal(made.status, 201);
    t.equal((await request(made.headers.location as string)).status, 200);
    const addPlugins = async (app: FastifyInstance) => {
      app.addHook('onSend', async () => '{"more":1}');
    };
    const other = await openTestServer(t, { ...subject.service, loadPlugins: async () => ({ addPlugins }) });
    await t.rejects(other.request(subject.list), { message: /^The reply breaks the contract: body: / });
  });
}

t.test('two services in one app keep their own error codes, Error bodies and keys', async (t) => {
  const app = fastify(serverOptions({ logger: QUIET }));
  t.teardown(() => app.close());
  const all = Object.values(SUBJECTS);
  for (const [index, { service }] of all.entries())
    await app.register(contractFirst, {
      ...{ service, store: { url: 'sqlite::memory:' }, apiKeys: [KEY], prefix: `/${index}` },
    });
  for (const [index, subject] of all.entries()) {
    const send = buildSend(app, subject);
    const at = (url: string) => url.replace('/v1', `/${index}`);
    t.equal((await send(at(subject.list), 'POST', subject.record)).statusCode, 201);
    checkError(t, subject, await send(at(subject.absent)), 404, 'a missing record');
  }
});

t.test(
  "if a contract declares an operation at /openapi.json, the server's own documents are served below /docs",
  async (t) => {
    const { service } = SUBJECTS.stations;
    const store = { url: 'sqlite::memory:' };
    const contract = withPrefix(await loadServiceContract(service), '');
    const whole = await build(
      service,
      { database: { kind: 'memory' } },
      { contract, log: { logger: QUIET, write() {} } },
    );
    const plain = fastify();
    await plain.register(contractFirst, { service, store, prefix: '/', docs: {} });
    const around = fastify();
    const add = async (app: FastifyInstance) =>
      void (await app.register(contractFirst, { service, store, docs: { prefix: '/v1' } }));
    await around.register(add, { prefix: '/api' });
    for (const [app, operation, docs] of [
      [whole, '', '/docs'],
      [plain, '', '/docs'],
      [around, '/api/v1', '/api/v1/docs'],
    ] as const) {
      t.teardown(() => app.close());
      t.match((await app.inject(`${operation}/openapi.json`)).json(), { measures: ['temperature'] });
      t.equal((await app.inject(`${operation}/openapi.yaml`)).statusCode, 404);
      const served = (await app.inject(`${docs}/openapi.json`)).json();
      t.equal(served.info.title, 'Weather stations');
      t.strictSame(parse((await app.inject(`${docs}/openapi.yaml`)).body), served);
      for (const page of [docs, `${docs}/`, `${docs}/try`]) {
        const links = [...(await app.inject(page)).body.matchAll(/href="([^"]*openapi\.(?:json|yaml))"/g)];
        const paths = links.map(([, link]) => new URL(link as string, `http://localhost${page}`).pathname);
        const [json, yaml] = [`${docs}/openapi.json`, `${docs}/openapi.yaml`];
        t.strictSame(paths, [json, json, yaml], page);
      }
    }
    const { headers } = await whole.inject('/');
    t.match(headers, { location: '/docs/openapi.json', link: '</docs/openapi.json>; rel="service-desc"' });
  },
);

t.test('a service with CSV, JSON Patch, composed records and its own /openapi.json runs as a program', async (t) => {
  const { folder } = stations;
  const env = { PORT: '0', DATABASE_URL: 'sqlite::memory:', API_KEYS: KEY };
  const program = startProgram(t, join(folder, 'dist/src/main.js'), { root: folder, env });
  const [, origin] = await program.written('stdout', /"origin":"(http:[^"]*)"/);
  const send = (path: string, init: RequestInit = {}) => fetch(`${origin}${path}`, init);
  const authorization = `Basic ${Buffer.from(`a:${KEY}`).toString('base64')}`;
  const json = { authorization, 'content-type': 'application/json' };
  const body = JSON.stringify({ name: 'Zugspitze', region: 'Wetterstein' });
  const made = await send('/v1/Me%C3%9Fstellen', { method: 'POST', headers: json, body });
  t.equal(made.status, 201);
  const url = String(made.headers.get('location'));
  const csv = await send(`/v1/Me%C3%9Fstellen?key=${KEY}`, { headers: { accept: 'text/csv' } });
  t.match(await csv.text(), /^[\w-]{36},Zugspitze,Wetterstein\r\n$/);
  const patch = (value: object[]) =>
    send(url, {
      ...{ method: 'PATCH', body: JSON.stringify(value) },
      headers: { authorization, 'content-type': 'application/json-patch+json' },
    });
  const changed = await patch([{ op: 'replace', path: '/height', value: 2962.06 }]);
  t.match(await changed.json(), { name: 'Zugspitze', height: 2962.06 });
  const refused = await patch([{ op: 'test', path: '/name', value: 'Watzmann' }]);
  t.match([refused.status, await refused.json()], [409, { title: 'Conflict', status: 409 }]);
  t.match(await (await send('/v1/openapi.json')).json(), { measures: ['temperature'] });
  t.match(await (await send('/openapi.json')).json(), { info: { title: 'Weather stations' } });
  t.notMatch(program.output.stdout, KEY, 'a key in the query is not logged');
  t.equal((await send(url, { method: 'DELETE', headers: { authorization } })).status, 204);
});

t.test('`lint`, `release` and `diff` work with a contract of several files in another style', (t) => {
  const { folder, run } = copyStations(t);
  t.match(run('lint'), { status: 0 });
  t.match(run('release'), { status: 0 });
  t.match(run('diff'), { status: 0 });
  const file = join(folder, 'openapi/schemas/NewStation.yaml');
  writeFileSync(file, readFileSync(file, 'utf8').replace('[name, region]', '[name, region, height]'));
  t.match(run('diff'), { status: 1, stdout: /height/ });
  t.end();
});
