/** Fastify's ecosystem works with the engine: plugins and hooks of a team see every route and every reply. */
import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import compress from '@fastify/compress';
import etag from '@fastify/etag';
import helmet from '@fastify/helmet';
import { requestContext, fastifyRequestContext as requestContextPlugin } from '@fastify/request-context';
import underPressure from '@fastify/under-pressure';
import type { FastifyInstance, RouteOptions } from 'fastify';
import t, { type Test } from 'tap';
import { addCors } from '../src/contract-first/engine/http/cors.ts';
import { load, operation, serve, withPaths } from './added-operations.ts';
import { loadConfig } from './config.ts';
import { ContractCheck } from './contract-check.ts';
import { edited } from './edited-contract.ts';
import { connectRaw } from './raw-client.ts';
import { KEY, startService } from './service.ts';

const ORIGIN = 'https://shop.example';

interface Plugin {
  add: (app: FastifyInstance) => unknown;
  /** Headers of a reply that prove that the plugin took effect, each with the pattern of its value. */
  shows: Record<string, string | RegExp>;
  /** Headers that the plugin adds. */
  adds?: string[];
}

const UNHEALTHY = { healthCheck: async () => false, healthCheckInterval: 60_000 };

const PLUGINS: Record<string, Plugin> = {
  cors: {
    add: (app) => addCors(app, [ORIGIN]),
    shows: { 'access-control-allow-origin': ORIGIN, 'access-control-expose-headers': /\bLink\b/, vary: /\bOrigin\b/i },
  },
  compress: {
    add: (app) => app.register(compress, { threshold: 0, encodings: ['gzip'] }),
    shows: { 'content-encoding': 'gzip', vary: /accept-encoding/i },
  },
  etag: { add: (app) => app.register(etag), shows: { etag: /^"/ } },
  helmet: {
    add: (app) => app.register(helmet),
    shows: { 'x-content-type-options': 'nosniff', 'strict-transport-security': /./ },
  },
  'request-context': {
    add: async (app) => {
      await app.register(requestContextPlugin, { defaultStoreValues: ({ id }) => ({ id }) as never });
      app.addHook('onSend', async (_request, reply) => {
        reply.header('x-context', requestContext.get('id' as never));
      });
    },
    shows: { 'x-context': /^[\w-]+-\w+$/ },
  },
  'under-pressure': {
    add: (app) =>
      app.register(underPressure, {
        ...UNHEALTHY,
        pressureHandler: (_request, reply) => void reply.header('x-pressure', 'high'),
      }),
    shows: { 'x-pressure': 'high' },
  },
};

const REQUESTS: Record<string, [url: string, init: RequestInit, status: number]> = {
  'a list': ['/v1/pets', {}, 200],
  'a create': [
    '/v1/pets',
    { method: 'POST', body: '{"name":"Rex","categoryId":7}', headers: { 'content-type': 'application/json' } },
    201,
  ],
  'a 401': ['/v1/pets', { headers: { authorization: 'Bearer none' } }, 401],
  'a 404': ['/v1/pets/7', {}, 404],
  'an unknown path': ['/v1/nothing', {}, 404],
  '/docs': ['/docs/', {}, 200],
};

const contractCheck = new ContractCheck();

/** Sends a request like a browser, with an Origin and accepted encodings. */
async function ask(port: number, path: string, init: RequestInit) {
  const headers = { origin: ORIGIN, 'accept-encoding': 'gzip', authorization: `Bearer ${KEY}`, ...init.headers };
  const response = await fetch(`http://127.0.0.1:${port}${path}`, { ...init, headers });
  return { status: response.status, headers: Object.fromEntries(response.headers), text: await response.text() };
}

async function seesItsWork(t: Test, names: string[]): Promise<void> {
  const plugins = names.map((name) => PLUGINS[name] as Plugin);
  const { port } = await startService(t, {
    addPlugins: async (app) => {
      for (const { add } of plugins) await add(app);
    },
  });
  const shown: Record<string, string | RegExp> = Object.assign({}, ...plugins.map(({ shows }) => shows));
  // @fastify/compress compresses only replies of routes, in any Fastify server.
  const unseen = names.includes('compress') ? 'an unknown path' : '';
  for (const [name, [path, init, status]] of Object.entries(REQUESTS).filter(([name]) => name !== unseen)) {
    const reply = await ask(port, path, init);
    t.match(reply, { status, headers: { ...shown, 'x-request-id': /./ } }, `${names}: ${name}`);
    const problems = contractCheck.problemsOf(init.method ?? 'GET', path, reply);
    if (path !== '/docs/')
      t.strictSame(
        problems.filter((problem) => !OF_PLUGINS.test(problem)),
        [],
        `${names}: ${name}`,
      );
  }
}

/** Problems that plugins cause: undeclared headers, and a content security policy of @fastify/helmet. */
const OF_PLUGINS = /^header [\w-]+ is not documented$|^content-security-policy is not safe$/;

for (const name of Object.keys(PLUGINS)) {
  t.test(`@fastify/${name} takes effect on every kind of reply, and the replies still keep the contract`, (t) =>
    seesItsWork(t, [name]),
  );
}

t.test('all tested @fastify plugins together take effect on every kind of reply', (t) =>
  seesItsWork(t, Object.keys(PLUGINS)),
);

t.test('@fastify/etag answers 304 to a request for a list that has not changed', async (t) => {
  const { port } = await startService(t, { addPlugins: async (app) => void app.register(etag) });
  const { headers } = await ask(port, '/v1/pets', {});
  const again = await ask(port, '/v1/pets', { headers: { 'if-none-match': headers.etag as string } });
  t.match(again, { status: 304, text: '', headers: { 'x-request-id': /./ } });
});

t.test("a 503 that a plugin sends gets the contract's Error body, and keeps its Retry-After", async (t) => {
  const { request } = await startService(t, {
    addPlugins: async (app) => void app.register(underPressure, { ...UNHEALTHY, retryAfter: 7 }),
  });
  for (const url of ['/v1/pets', '/v1/pets/1']) {
    const { status, body, headers } = await request(url);
    t.match({ status, body, headers }, { status: 503, body: { code: 'unavailable' }, headers: { 'retry-after': '7' } });
  }
});

t.test('the server answers a CORS preflight without a key, and only for configured origins', async (t) => {
  const { port } = await startService(t, { corsOrigins: [ORIGIN] });
  const preflight = (origin: string, path: string) =>
    ask(port, path, {
      method: 'OPTIONS',
      headers: {
        origin,
        authorization: '',
        'access-control-request-method': 'POST',
        'access-control-request-headers': 'authorization,idempotency-key',
      },
    });
  t.match(await preflight(ORIGIN, '/v1/pets'), {
    status: 204,
    headers: {
      'access-control-allow-origin': ORIGIN,
      'access-control-allow-methods': 'GET, HEAD, POST',
      'access-control-allow-headers': 'authorization,idempotency-key',
      'access-control-max-age': '600',
      'x-request-id': /./,
    },
  });
  for (const origin of ['https://shop.example.evil.example', 'null', 'http://shop.example']) {
    const refused = await preflight(origin, '/v1/pets');
    t.match(refused, { status: 405, headers: { allow: 'GET, HEAD, POST', vary: 'Origin' } });
    t.notMatch(Object.keys(refused.headers).join(), 'access-control');
    t.notMatch(Object.keys((await ask(port, '/v1/pets', { headers: { origin } })).headers).join(), 'access-control');
  }
  t.match(await preflight('https://other.example', '/v1/nothing'), { status: 404 });
});

t.test(
  'the server checks a CORS preflight like other requests before it answers, and does not read its body',
  async (t) => {
    const { port } = await startService(t, { corsOrigins: [ORIGIN] });
    const ask = (method: string, path: string, ...headers: string[]) => {
      const head = [
        `OPTIONS ${path} HTTP/1.1`,
        `Origin: ${ORIGIN}`,
        `Access-Control-Request-Method: ${method}`,
        ...headers,
      ];
      return connectRaw(port, `${[...head, 'Connection: close', '', ''].join('\r\n')}{bad`).replies();
    };
    const body = ['Content-Type: application/json', 'Content-Length: 4'];
    t.match(await ask('GET', '/v1/pets'), [{ status: 400 }], 'a preflight without a Host header');
    t.match(await ask('GET', '/nowhere', 'Host: a', ...body), [{ status: 404 }]);
    const [reply] = await ask('PUT', '/v1/pets/1', 'Host: a', ...body);
    t.match(reply, { status: 204, headers: { 'access-control-allow-methods': 'GET, HEAD' } });
    t.notOk('content-length' in (reply?.headers ?? {}));
    const front = await fetch(`http://127.0.0.1:${port}/`, { redirect: 'manual', headers: { origin: ORIGIN } });
    t.equal(front.headers.get('vary'), 'Origin, accept');
  },
);

t.test('a CORS preflight that asks for too many headers gets a 431 that does not repeat them', async (t) => {
  const { port } = await startService(t, { corsOrigins: [ORIGIN] });
  const preflight = (path: string, asked: string) =>
    ask(port, path, {
      method: 'OPTIONS',
      headers: { 'access-control-request-method': 'POST', 'access-control-request-headers': asked },
    });
  const most = 'x'.repeat(1024);
  t.match(await preflight('/v1/pets', most), { status: 204, headers: { 'access-control-allow-headers': most } });
  for (const path of ['/v1/pets', '/nowhere', '/docs/']) {
    const { status, headers } = await preflight(path, 'a,'.repeat(3000));
    t.equal(status, 431, path);
    t.ok(JSON.stringify(headers).length < 2000, path);
  }
});

/** Requests that get an error before any hook runs, and the status. The last reply of each connection is the error. */
const BARE: [request: string, status: number][] = [
  ['GET /livez HTTP/1.1\r\nHost: a\r\n\r\n'.repeat(2), 503],
  ['GET /%zz HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n', 400],
  ['GET /v1/pets/%zz HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n', 400],
  [`GET /livez HTTP/1.1\r\nHost: a\r\nX: ${'x'.repeat(20_000)}\r\n\r\n`, 431],
  [`GET /${'x'.repeat(20_000)} HTTP/1.1\r\nHost: a\r\n\r\n`, 414],
  ['nonsense\r\n\r\n', 400],
];

t.test(
  "scripts of configured origins can read every error and its headers, even errors that Fastify's hooks do not see",
  async (t) => {
    const limits = { ...loadConfig({}), maxPipelined: 1 };
    const { port } = await startService(t, { corsOrigins: [ORIGIN], limits });
    for (const [request, status] of BARE) {
      const reply = (await connectRaw(port, request).replies()).at(-1);
      const name = `${status} ${request.slice(0, 40)}`;
      t.match(reply, { status, headers: { 'access-control-allow-origin': /^\*$/ } }, name);
      t.match(reply?.headers['access-control-expose-headers'], /\bRetry-After\b/, name);
    }
  },
);

t.test('if no origins are configured, replies have no CORS headers, and a preflight gets 405', async (t) => {
  const limits = { ...loadConfig({}), maxPipelined: 1 };
  const { port } = await startService(t, { limits });
  for (const [request, status] of BARE) {
    const reply = (await connectRaw(port, request).replies()).at(-1);
    t.equal(reply?.status, status);
    t.notMatch(Object.keys(reply?.headers ?? {}).join(), /access-control/);
  }
  const { status, headers } = await ask(port, '/v1/pets', { method: 'OPTIONS' });
  t.equal(status, 405);
  t.notMatch(Object.keys(headers).join(), /access-control|vary/);
});

const SERVED = ['/v1/pets', '/v1/pets/:petId', '/livez', '/readyz'];
const OF_REQUESTS = [
  'onRequest',
  'preParsing',
  'preValidation',
  'preHandler',
  'preSerialization',
  'onSend',
  'onResponse',
] as const;

/** Adds a hook of each kind. Each hook notes its kind and its route in `ran`. */
function addHooks(app: FastifyInstance, ran: Set<string>): void {
  const note = (kind: string, request?: { method: string; routeOptions: { url?: string | undefined } }) =>
    ran.add(request ? `${kind} ${request.method} ${request.routeOptions.url}` : kind);
  for (const kind of OF_REQUESTS) app.addHook(kind as 'onRequest', async (request) => void note(kind, request));
  app.addHook('onError', async (request) => void note('onError', request));
  app.addHook('onTimeout', async (request) => void note('onTimeout', request));
  app.addHook('onRequestAbort', async (request) => void note('onRequestAbort', request));
  for (const kind of ['onReady', 'onListen', 'preClose', 'onClose'])
    app.addHook(kind as 'onReady', async () => void note(kind));
  app.addHook('onRoute', ({ method, url }) => void note('onRoute', { method: String(method), routeOptions: { url } }));
}

/**
 * Makes a plugin without encapsulation, as fastify-plugin does: its hooks apply to the whole app, like those of
 * @fastify/swagger.
 */
function asPlugin(add: (app: FastifyInstance) => void) {
  const plugin = async (app: FastifyInstance) => add(app);
  return Object.assign(plugin, { [Symbol.for('skip-override')]: true });
}

const HANG = withPaths({ '/hang': { get: operation('hang') } });

for (const [way, addWith] of Object.entries<(app: FastifyInstance, ran: Set<string>) => unknown>({
  'if addPlugins adds the hooks': addHooks,
  'if a plugin of addPlugins adds the hooks': (app, ran) => app.register(asPlugin((inside) => addHooks(inside, ran))),
})) {
  t.test(`a hook of each kind in Fastify's life cycle runs for every route, ${way}`, async (t) => {
    const ran = new Set<string>();
    const service = await serve(
      t,
      HANG,
      { hang: () => new Promise(() => {}) },
      { addPlugins: async (app) => void addWith(app, ran) },
    );
    const { app, port, request } = service;
    await request('/v1/pets', { method: 'POST', body: { name: 'Rex', categoryId: 7 } });
    for (const url of ['/v1/pets', '/v1/pets/1', '/livez', '/readyz']) await request(url);
    for (const kind of OF_REQUESTS) {
      t.ok(ran.has(`${kind} POST /v1/pets`), `${kind} POST`);
      for (const url of SERVED) t.ok(ran.has(`${kind} GET ${url}`), `${kind} ${url}`);
    }
    for (const url of ['/docs', '/openapi.yaml']) await request(url);
    for (const url of ['/docs', '/openapi.yaml']) t.ok(ran.has(`onSend GET ${url}`), url);
    for (const url of ['/v1/pets?limit=0', '/v1/pets/2']) await request(url, { key: null });
    for (const url of ['/v1/pets', '/v1/pets/:petId']) t.ok(ran.has(`onError GET ${url}`), url);
    for (const url of [...SERVED, '/docs', '/openapi.json']) t.ok(ran.has(`onRoute GET ${url}`), url);

    const ask = `GET /v1/hang HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${KEY}\r\n\r\n`;
    const gone = connectRaw(port, ask);
    await until(() => ran.has('preHandler GET /v1/hang'));
    gone.socket.resetAndDestroy();
    await until(() => ran.has('onRequestAbort GET /v1/hang'));
    ran.delete('preHandler GET /v1/hang');
    const connected = once(app.server, 'connection');
    const slow = connectRaw(port, ask);
    const [served] = (await connected) as [Socket];
    await until(() => ran.has('preHandler GET /v1/hang'));
    served.setTimeout(50);
    await slow.ended;
    slow.socket.destroy();
    t.ok(ran.has('onTimeout GET /v1/hang'));
    await app.close();
    for (const kind of ['onReady', 'onListen', 'preClose', 'onClose']) t.ok(ran.has(kind), kind);
  });
}

async function until(isSo: () => boolean): Promise<void> {
  while (!isSo()) await new Promise((resolve) => setTimeout(resolve, 10));
}

t.test("an onRoute hook sees the contract's schema, body limit and configuration of each operation", async (t) => {
  const routes = new Map<string, RouteOptions>();
  const yaml = edited(({ createPet }) => (createPet['x-fastify-config'] = { share: 2 }));
  await startService(t, {
    contract: await load(t, yaml),
    addPlugins: async (app) =>
      void app.addHook('onRoute', (route) => void routes.set(`${route.method} ${route.url}`, route)),
  });
  const create = routes.get('POST /v1/pets');
  t.match(create, {
    bodyLimit: 16384,
    config: { share: 2 },
    schema: {
      operationId: 'createPet',
      tags: ['pets'],
      summary: 'Add an animal',
      headers: { properties: { 'Idempotency-Key': { maxLength: 255 } } },
      body: { content: { 'application/json': { schema: { required: ['name', 'categoryId'] } } } },
      response: { 201: { content: { 'application/json': { schema: { properties: { id: { format: 'int64' } } } } } } },
    },
  });
  t.match(routes.get('GET /v1/pets/:petId')?.schema, {
    operationId: 'getPet',
    params: { properties: { petId: { format: 'int64' } }, required: ['petId'] },
    'x-sunset': /^\d/,
  });
  t.match(routes.get('GET /v1/pets')?.schema, { querystring: { properties: { limit: { maximum: 100 } } } });
});

t.test(
  "a plugin may call writeHead in any form; the client gets each header once, with the plugin's value",
  async (t) => {
    const forms: ((response: ServerResponse) => void)[] = [
      (response) => response.writeHead(200, 'Fine', { 'Cache-Control': 'max-age=9', 'X-Own': '1' }),
      (response) => response.writeHead(200, 'Fine', ['cache-control', 'max-age=9', 'X-Own', '1']),
      (response) =>
        response.setHeader('x-own', '0').writeHead(200, 'Fine', { 'cache-control': 'max-age=9', 'x-own': '1' }),
      (response) => response.setHeader('x-own', '1').writeHead(200, 'Fine', { 'cache-control': 'max-age=9' }),
    ];
    const { port } = await startService(t, {
      addPlugins: async (app) => {
        for (const [index, write] of forms.entries()) {
          app.get(`/form/${index}`, (_request, reply) => {
            reply.hijack();
            write(reply.raw);
            reply.raw.end();
          });
        }
      },
    });
    for (const index of forms.keys()) {
      const response = await fetch(`http://127.0.0.1:${port}/form/${index}`);
      t.equal(response.statusText, 'Fine');
      const { headers } = response;
      t.strictSame(
        ['cache-control', 'x-own', 'x-content-type-options'].map((name) => headers.get(name)),
        ['max-age=9', '1', 'nosniff'],
        String(index),
      );
    }
  },
);

t.test("a plugin's preSerialization hook may change the body of an error", async (t) => {
  const changes: ((body: object) => object)[] = [
    (body) => ({ ...body, message: 'Changed.' }),
    (body) => Object.assign(body, { message: 'Changed.' }),
  ];
  for (const change of changes) {
    const { request } = await startService(t, {
      addPlugins: async (app) =>
        void app.addHook('preSerialization', async (_request, _reply, body) => change(body as object)),
    });
    t.match(await request('/v1/pets?limit=0', { key: null }), { status: 401, body: { message: 'Changed.' } });
  }
});

t.test('app.swagger() returns the contract to a plugin', async (t) => {
  const { app } = await startService(t);
  t.match(app.swagger(), { openapi: '3.1.0', paths: { '/pets': { get: { operationId: 'listPets' } } } });
});
