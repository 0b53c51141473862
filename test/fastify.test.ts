/** The engine as a plugin in a team's own Fastify app, in an app with serverOptions(), and in an app of build(). */
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import bearerAuth from '@fastify/bearer-auth';
import swagger from '@fastify/swagger';
import websocket from '@fastify/websocket';
import contractFirst, {
  type BuildParts,
  build,
  type ContractFirstOptions,
  type HttpOptions,
  serverOptions,
} from 'contract-first/fastify';
import fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest } from 'fastify';
import { pino } from 'pino';
import t, { type Test } from 'tap';
import { WebSocket } from 'ws';
import { addErrors, HttpError, refuse } from '../src/contract-first/engine/errors/catalogue.ts';
import { httpServerOf } from '../src/contract-first/engine/http/server-options.ts';
import type { AnyHandler } from '../src/contract-first/engine/routes/handler.ts';
import { buildCodecs } from '../src/contract-first/engine/routes/stored-records.ts';
import type { Service } from '../src/contract-first/start/service.ts';
import { domain } from '../src/generated/domain.ts';
import { service as own } from '../src/generated/service.ts';
import { loadConfig } from './config.ts';
import { openUrl } from './database.ts';
import { type Edit, edited } from './edited-contract.ts';
import { connectRaw } from './raw-client.ts';
import { buildRequest, KEY, loadOurs, type SendRequest, send } from './service.ts';

const MEMORY = { url: 'sqlite::memory:' };
const REX = { name: 'Rex', categoryId: 7 };

interface Started {
  app: FastifyInstance;
  port: number;
  request: SendRequest;
  lines: string[];
}

interface StartOptions {
  /** Adds the team's own routes and hooks to the app before contract-first is registered. */
  add?: (app: FastifyInstance) => unknown;
  options?: Partial<ContractFirstOptions>;
  server?: Partial<HttpOptions>;
}

async function listen(t: Test, app: FastifyInstance, lines: string[]): Promise<Started> {
  t.teardown(() => app.close());
  await app.listen({ port: 0, host: '127.0.0.1' });
  const { port } = app.server.address() as AddressInfo;
  return { app, port, request: buildRequest(port), lines };
}

const logTo = (lines: string[]) => ({ write: (line: string) => void lines.push(line) });

async function startIn(t: Test, app: FastifyInstance, { add, options = {} }: StartOptions, lines: string[]) {
  await add?.(app);
  await app.register(contractFirst, { service: own, store: MEMORY, apiKeys: [KEY], ...options });
  return listen(t, app, lines);
}

type Start = (t: Test, options?: StartOptions) => Promise<Started>;

const startPlain: Start = (t, options = {}) => {
  const lines: string[] = [];
  return startIn(t, fastify({ logger: { stream: logTo(lines) } }), options, lines);
};

const startWithOptions: Start = (t, options = {}) => {
  const lines: string[] = [];
  return startIn(t, fastify(serverOptions({ logger: pino({}, logTo(lines)), ...options.server })), options, lines);
};

const startBuilt: Start = async (t, { add, options = {} } = {}) => {
  const lines: string[] = [];
  const log = { logger: pino({}, logTo(lines)), ...logTo(lines), end: async () => {} };
  const { service = own, docs, health } = options;
  const parts: BuildParts = { log, ...(docs !== undefined && { docs }), ...(health !== undefined && { health }) };
  const loadPlugins = async () => ({ addPlugins: async (app: FastifyInstance) => void (await add?.(app)) });
  return listen(
    t,
    await build({ ...service, loadPlugins }, { database: { kind: 'memory' }, apiKeys: [KEY] }, parts),
    lines,
  );
};

const WAYS: Record<string, Start> = {
  'in a plain app': startPlain,
  'in an app with serverOptions()': startWithOptions,
  'in an app made by build()': startBuilt,
};

const withHandlers = (handlers: Record<string, AnyHandler>): Service => ({
  ...own,
  handlers: { ...own.handlers, ...handlers },
});

for (const [way, start] of Object.entries(WAYS)) {
  t.test(`every operation works as the contract declares, ${way}`, async (t) => {
    const { request } = await start(t);
    t.match(await request('/v1/pets', { method: 'POST', body: REX }), {
      status: 201,
      headers: { location: '/v1/pets/1' },
    });
    t.match(await request('/v1/pets/1'), { status: 200, body: REX });
    t.match(await request('/v1/pets?limit=0'), { status: 400, body: { code: 'invalid_request' } });
    t.match(await request('/v1/pets/2'), { status: 404, body: { code: 'pet_not_found' } });
    t.match(await request('/v1/nothing'), { status: 404, body: { code: 'route_not_found' } });
    t.match(await request('/v1/pets', { method: 'PUT' }), { status: 405, headers: { allow: 'GET, HEAD, POST' } });
    t.match(await request('/v1/pets/1?%zz'), { status: 400, body: { code: 'malformed_request' } });
    const json = { 'content-type': 'application/json' };
    t.match(await request('/v1/pets', { method: 'POST', body: '{', headers: json }), { status: 400 });
    for (const key of [null, 'wrong']) {
      const refused = await request('/v1/pets', { method: 'POST', body: '{', headers: json, key });
      t.match(refused, { status: 401, body: { code: 'unauthorized' } }, 'the key is checked before the body is read');
    }
  });

  t.test(`two services in one process may give the same error code different statuses, ${way}`, async (t) => {
    // As the generated domain.ts of a second service in the process would do.
    const errors = addErrors({ pet_not_found: { status: 410 }, pet_is_sold: { status: 422 } });
    const listPets = async () => Promise.reject(new HttpError('pet_not_found', 'None.'));
    const addPet = async () => Promise.reject(new HttpError('pet_not_found', 'None.', { status: 409 }));
    const failing = withHandlers({ listPets, createPet: addPet });
    const other = { ...failing, domain: { pets: { ...own.domain.pets, errors } } };
    for (const [service, status] of [
      [failing, 404],
      [other, 410],
    ] as const) {
      const { request } = await start(t, { options: { service } });
      const error = { status, body: { code: 'pet_not_found', status } };
      t.match(await request('/v1/pets/2'), error, 'the code of a handler that calls refuse()');
      t.match(await request('/v1/pets'), error, 'the code of a handler that throws an HttpError');
      t.match(
        await request('/v1/pets', { method: 'POST', body: REX }),
        { status: 409 },
        'the status of an HttpError comes before that of its code',
      );
    }
  });

  t.test(
    `a team's preHandler gets the checked values, and what it adds to the request reaches the handlers, ${way}`,
    async (t) => {
      const seen: unknown[] = [];
      const { request } = await start(t, {
        options: {
          service: withHandlers({
            getPet: async ({ request }) => refuse('pet_not_found', `${(request as { user?: string }).user} asked`),
          }),
        },
        add: (app) => {
          app.decorateRequest('user', '');
          app.addHook('preHandler', async (request) => {
            Object.assign(request, { user: 'ada' });
            const { params, query, body } = request;
            seen.push({ params, query, body, caller: request.contractFirst.caller?.name });
          });
        },
      });
      t.match(await request('/v1/pets/9007199254740993'), { status: 404, body: { message: 'ada asked' } });
      await request('/v1/pets?limit=5');
      await request('/v1/pets', {
        method: 'POST',
        body: '{"name":"Rex","categoryId":9007199254740993}',
        headers: { 'content-type': 'application/json' },
      });
      for (const url of ['/v1/pets/x', '/v1/pets?limit=0']) t.equal((await request(url)).status, 400);
      t.match(seen, [
        { params: { petId: 9007199254740993n }, caller: 'API_KEYS' },
        { query: { limit: 5 } },
        { body: { categoryId: 9007199254740993n } },
      ]);
      t.equal(seen.length, 3);
    },
  );

  t.test(
    `a request without a valid key never reaches the handler, even if a hook throws null or calls done() twice, ${way}`,
    async (t) => {
      const NULL = () => {
        throw null;
      };
      const twice = (_request: FastifyRequest, _reply: FastifyReply, done: () => void) => {
        done();
        done();
      };
      const hooks: [kind: string, hook: () => void, statusWithKey?: number][] = [
        ['onRequest', NULL, 500],
        ['preParsing', NULL],
        ['preValidation', NULL, 500],
        ['onRequest', twice as () => void],
      ];
      for (const [kind, hook, statusWithKey] of hooks) {
        let calls = 0;
        const countCalls: AnyHandler = async () => {
          calls++;
          return { status: 200, body: [] };
        };
        const { request } = await start(t, {
          add: (app) => app.addHook(kind as 'onRequest', hook),
          options: { service: withHandlers({ listPets: countCalls }) },
        });
        for (const key of [null, 'wrong']) {
          const { status } = await request('/v1/pets', { key });
          t.ok([401, 500].includes(status), `${kind}: ${status}`);
        }
        if (statusWithKey) t.equal((await request('/v1/pets')).status, statusWithKey);
        t.equal(calls, 0);
      }
    },
  );

  t.test(
    `a team's onError sees errors of the contract's routes; its error handler only gets errors of its own routes, ${way}`,
    async (t) => {
      const statuses: unknown[] = [];
      const { request, port } = await start(t, {
        options: {
          service: withHandlers({
            getPet: async () => {
              throw new Error('No.');
            },
          }),
        },
        add: (app) => {
          app.addHook('onError', async (_request, _reply, error) => void statuses.push(error.statusCode));
          app.get('/own', async () => {
            throw new HttpError('unauthorized', 'Who are you?');
          });
          app.setErrorHandler((error: { statusCode: number }, _request, reply) => {
            reply.code(error.statusCode).send({ team: true });
          });
        },
      });
      t.match(await send(port, '/own'), { status: 401, text: '{"team":true}' });
      t.match(await request('/v1/pets?limit=0'), { status: 400, body: { code: 'invalid_request' } });
      t.match(await request('/v1/pets', { key: null }), { status: 401, body: { code: 'unauthorized' } });
      t.match(await request('/v1/pets/1'), { status: 500, body: { code: 'internal_error' } });
      t.match(await request('/v1/nothing'), { status: 404, body: { code: 'route_not_found' } });
      t.strictSame(statuses, [401, 400, 401, undefined, 404]);
    },
  );

  t.test(
    `if a team's hook throws during an error reply, the client still gets the contract's Error body, ${way}`,
    async (t) => {
      const { request, lines } = await start(t, {
        add: (app) => {
          app.setErrorHandler((_error, _request, reply) => void reply.send('team'));
          app.addHook('onSend', async () => Promise.reject(new Error('It fails each time.')));
        },
      });
      t.match(await request('/v1/pets/1'), { status: 500, body: { code: 'internal_error' } });
      t.match(lines.join(''), 'It fails each time.');
    },
  );

  t.test(
    `a team's setNotFoundHandler answers unknown URLs, except those below the contract's prefix, ${way}`,
    async (t) => {
      const { request, port } = await start(t, {
        add: (app) => {
          app.setNotFoundHandler((_request, reply) => reply.code(404).send('nothing of the team'));
          app.register(
            async (inside) => inside.setNotFoundHandler((_request, reply) => reply.code(404).send('nothing inside')),
            { prefix: '/inside' },
          );
        },
      });
      t.match(await send(port, '/nothing'), { status: 404, text: 'nothing of the team' });
      t.match(await send(port, '/inside/nothing'), { status: 404, text: 'nothing inside' });
      t.match(await request('/v1/nothing'), { status: 404, body: { code: 'route_not_found' } });
      t.match(await request('/v1/pets', { method: 'DELETE' }), { status: 405 });
    },
  );

  t.test(`setChildLoggerFactory, logSerializers and logLevel work as Fastify documents, ${way}`, async (t) => {
    const log = async ({ log }: FastifyRequest) => void log.info({ secret: 'shown' }, 'of the team');
    const hide = { secret: () => 'hidden' };
    const { port, lines } = await start(t, {
      add: async (app) => {
        app.get('/plain', log);
        app.get('/hidden', { logSerializers: hide }, log);
        app.get('/quiet', { logLevel: 'error' }, log);
        await app.register(async (inside) => void inside.get('/hidden-inside', log), { logSerializers: hide } as never);
        await app.register(async (inside) => {
          inside.setChildLoggerFactory((logger, bindings, options) => logger.child({ ...bindings, own: 1 }, options));
          inside.get('/made', log);
          inside.get('/made-hidden', { logSerializers: hide }, log);
        });
      },
    });
    const logged = async (url: string) => {
      lines.length = 0;
      await send(port, url);
      return lines.map((line) => JSON.parse(line)).filter(({ msg }) => msg === 'of the team');
    };
    t.match(await logged('/plain'), [{ secret: 'shown', reqId: /./ }]);
    for (const url of ['/hidden', '/hidden-inside']) t.match(await logged(url), [{ secret: 'hidden', reqId: /./ }]);
    t.strictSame(await logged('/quiet'), []);
    t.match(await logged('/made'), [{ secret: 'shown', own: 1, reqId: /./ }]);
    t.match(await logged('/made-hidden'), [{ secret: 'hidden', own: 1 }]);
  });

  t.test(
    `the plugin does not break a team's own swagger, bearer keys, WebSockets and decorations, ${way}`,
    async (t) => {
      const { app, port, request } = await start(t, {
        add: async (app) => {
          app.decorate('services', 'of the team').decorate('collections', 'of the team');
          app.decorateRequest('caller', 'of the team').decorateRequest('operationId', 'of the team');
          await app.register(swagger, { openapi: { info: { title: 'All', version: '1' } } });
          await app.register(bearerAuth, { keys: new Set(['key-of-the-team']), addHook: false });
          await app.register(websocket);
          app.get('/own', { onRequest: app.verifyBearerAuth as never }, async (request) => [
            (app as unknown as { services: string }).services,
            (request as unknown as { caller: string }).caller,
          ]);
          app.get('/echo', { websocket: true }, (socket) => {
            socket.on('message', (message) => socket.send(String(message)));
          });
        },
      });
      t.match(await send(port, '/own', { key: 'key-of-the-team' }), {
        status: 200,
        text: '["of the team","of the team"]',
      });
      t.equal((await send(port, '/own')).status, 401);
      t.equal((await request('/v1/pets')).status, 200);
      t.equal((await request('/v1/pets', { key: 'key-of-the-team' })).status, 401);
      const { paths } = app.swagger() as { paths: Record<string, { get?: { operationId?: string } }> };
      t.ok(paths['/own']);
      t.equal(paths['/v1/pets']?.get?.operationId, 'listPets');
      const socket = new WebSocket(`ws://127.0.0.1:${port}/echo`);
      await once(socket, 'open');
      socket.send('hello');
      t.equal(String((await once(socket, 'message'))[0]), 'hello');
      socket.terminate();
    },
  );

  t.test(`a reply has the headers that a team's hook sets and also those of the engine, ${way}`, async (t) => {
    const { port } = await start(t, {
      add: (app) => app.addHook('onRequest', async (_request, reply) => void reply.header('cache-control', 'private')),
    });
    for (const [url, key] of [
      ['/v1/pets', KEY],
      ['/v1/pets', 'wrong'],
      ['/v1/nothing', KEY],
    ] as const) {
      const { headers } = await send(port, url, { key });
      t.match(
        headers,
        { 'cache-control': /^private$/, 'x-content-type-options': /^nosniff$/, 'x-request-id': /./ },
        url,
      );
    }
    const refusing = await start(t, {
      add: (app) => {
        app.addHook('onRequest', async () => Promise.reject(Object.assign(new Error('Not now.'), { statusCode: 409 })));
      },
    });
    t.match(await refusing.request('/v1/pets'), { status: 409, body: { code: 'conflict', message: 'Not now.' } });
  });

  t.test(`a team can serve the documents and health checks at other paths or not at all, ${way}`, async (t) => {
    const moved = await start(t, { options: { docs: { prefix: '/internal' }, health: { livez: '/alive' } } });
    for (const url of [
      '/internal/docs',
      '/internal/openapi.json',
      '/internal/docs/static/page.css',
      '/alive',
      '/readyz',
    ])
      t.equal((await send(moved.port, url)).status, 200, url);
    for (const url of ['/docs', '/openapi.json', '/livez']) t.equal((await send(moved.port, url)).status, 404, url);
    const without = await start(t, { options: { docs: false, health: false } });
    for (const url of ['/', '/docs', '/openapi.json', '/livez', '/readyz'])
      t.equal((await send(without.port, url)).status, 404, url);
    t.equal((await without.request('/v1/pets')).status, 200);
  });
}

t.test(
  'links, Location headers and the served contract contain the prefix under which the Fastify plugin is registered',
  async (t) => {
    const within = async (prefix: string, options: object, add = (app: FastifyInstance) => app) => {
      const app = fastify();
      await add(app).register(
        async (inside) => {
          await inside.register(contractFirst, { service: own, store: MEMORY, apiKeys: [KEY], docs: {}, ...options });
        },
        { prefix },
      );
      return listen(t, app, []);
    };
    const cases: [served: string, around: string, options: object, docs: string][] = [
      ['/shop/pets', '', { prefix: '/shop' }, '/shop'],
      ['/pets', '', { prefix: '/' }, ''],
      ['/api/v1/pets', '/api', {}, '/api'],
      ['/api/pets', '/api', { prefix: '' }, '/api'],
      ['/a:b/shop/pets', '/a::b', { prefix: '/shop' }, '/a:b/shop'],
    ];
    for (const [url, around, options, docs] of cases) {
      const { port } = await within(around, options);
      const post = { method: 'POST', body: REX };
      t.match(await send(port, url, post), { status: 201, headers: { location: `${url}/1` } });
      await send(port, url, post);
      t.match((await send(port, `${url}?limit=1`)).headers.link, `<${url}?limit=1&after=`);
      const { servers } = JSON.parse((await send(port, `${docs}/openapi.json`)).text);
      const path = url.slice(0, -'/pets'.length);
      t.match(servers, [{ url: path || '/' }, { url: `{production_origin}${path}` }], url);
    }
    const { port } = await within('/api', { prefix: '/shop' });
    t.match(await send(port, '/api/shop/nothing'), { status: 404, text: /"route_not_found"/ });
    t.match(await send(port, '/api/nothing'), { status: 404, text: /"Not Found"/ });
    await t.rejects(within('/:tenant', {}), {
      message: 'contract-first needs a prefix without parameters, not /:tenant.',
    });
    for (const prefix of ['/a b', '/宠物', '/a%20b', '/a"b'])
      await t.rejects(within(prefix, {}), {
        message: `contract-first needs a prefix of characters that URLs have unencoded, not ${prefix}.`,
      });
  },
);

t.test(
  'invalid API keys and rate limits fail the registration of the plugin; the error does not show the key',
  async (t) => {
    for (const [options, message] of [
      [{ apiKeys: [KEY, 'short'] }, 'contract-first: apiKeys: key 2 is shorter than 16 characters.'],
      [
        { apiKeys: ['a key with spaces in it'] },
        'contract-first: apiKeys: key 1 is not a bearer token (RFC 6750, section 2.1).',
      ],
      ...[{ limit: 0, window: 1 }, { limit: 10 }, '10/s', null].map((keyRate) => [
        { rates: { keyRate } },
        'contract-first: rates.keyRate must be a limit and a window in seconds, such as { limit: 100, window: 1 }.',
      ]),
    ] as [Partial<ContractFirstOptions>, string][])
      await t.rejects(startPlain(t, { options }), { message });
    const right = { keyRate: { limit: 100, window: 1 }, unauthorizedRate: undefined };
    t.equal((await (await startPlain(t, { options: { rates: right } })).request('/v1/pets')).status, 200);
  },
);

/** The pet store with an edited contract. */
function withContract(t: Test, edit: Edit): Service {
  const files = { openapi: { 'pets.yaml': edited(edit) } };
  return { ...own, contract: pathToFileURL(join(t.testdir(files), 'openapi/pets.yaml')) };
}

t.test('a contract with a JSON and a CSV reply for one status causes no warning at the start', async (t) => {
  const service = withContract(t, ({ getPet }) => {
    getPet.responses['200'].content['text/csv'] = { schema: { type: 'string' } };
  });
  const { lines } = await startPlain(t, { options: { service } });
  t.strictSame(
    lines.filter((line) => JSON.parse(line).level > 30),
    [],
  );
});

t.test('a server made with serverOptions() never logs an API key from the query', async (t) => {
  const service = withContract(t, ({ securitySchemes, headers }) => {
    headers['WWW-Authenticate'].schema = { type: 'string' };
    securitySchemes.bearerAuth = { type: 'apiKey', in: 'query', name: 'pets-key' };
  });
  const { port, lines } = await startWithOptions(t, { options: { service } });
  t.equal((await send(port, `/v1/pets?pets-key=${KEY}`)).status, 200);
  t.equal((await send(port, '/v1/pets?pets-key=of-nobody-0123456789')).status, 401);
  await send(port, `/v1/pets/${KEY}`);
  t.match(lines.join(''), '/v1/pets?***');
  t.notMatch(lines.join(''), new RegExp(`${KEY}|of-nobody`));
});

t.test(
  'if a team registers @fastify/swagger, it lists the operations, but not the documents and health checks',
  async (t) => {
    const add = async (app: FastifyInstance) => void (await app.register(swagger, { openapi: {} }));
    const { app } = await startPlain(t, { add, options: { docs: {}, health: {} } });
    t.strictSame(Object.keys(app.swagger().paths ?? {}).sort(), ['/v1/pets', '/v1/pets/{petId}']);
  },
);

t.test('an app with ignoreTrailingSlash serves the reference page at /docs and at /docs/', async (t) => {
  for (const options of [{ ignoreTrailingSlash: true }, { routerOptions: { ignoreTrailingSlash: true } }]) {
    const { app } = await startIn(t, fastify(options), { options: { docs: {} } }, []);
    for (const [url, link] of [
      ['/docs', 'href="./docs/static/page.css"'],
      ['/docs/', 'href="../docs/static/page.css"'],
    ] as const)
      t.match(await app.inject(url), { statusCode: 200, body: link }, url);
  }
});

t.test('a process that opens and closes many services has no more exit listeners than before', async (t) => {
  const count = () => process.listenerCount('exit');
  const before = count();
  for (let round = 0; round < 3; round++) await (await build(own, { database: { kind: 'memory' } })).close();
  await t.rejects(build({ ...own, handlers: {} }, { database: { kind: 'memory' } }));
  t.equal(count(), before);
  const apps = [await build(own, { database: { kind: 'memory' } }), await build(own, { database: { kind: 'memory' } })];
  t.equal(count(), before + 1);
  for (const app of apps) await app.close();
  t.equal(count(), before);
});

t.test(
  "Fastify options of the app, such as bodyLimit or caseSensitive, do not change the contract's routes",
  async (t) => {
    const app = fastify({
      exposeHeadRoutes: false,
      bodyLimit: 9,
      requestIdHeader: 'x-own',
      routerOptions: { caseSensitive: false },
    });
    const { request } = await startIn(t, app, {}, []);
    t.match(await request('/v1/pets', { method: 'HEAD' }), { status: 200, text: '' });
    t.match(await request('/v1/pets', { method: 'PUT' }), { status: 405, headers: { allow: 'GET, HEAD, POST' } });
    t.match(await request('/v1/pets', { method: 'POST', body: REX }), { status: 201 });
  },
);

t.test(
  'if two contracts in one app share a store, the same Idempotency-Key sent to both does not replay a reply',
  async (t) => {
    const { contract } = await loadOurs();
    const codecs = buildCodecs(contract, domain);
    const store = openUrl('sqlite::memory:', {}, codecs);
    t.teardown(() => store.close());
    const options = { service: own, store, apiKeys: [KEY] };
    const { port } = await startPlain(t, {
      add: (app) => app.register(contractFirst, { ...options, prefix: '/other' }),
      options: { store },
    });
    const create = (prefix: string, name: string) =>
      send(port, `${prefix}/pets`, {
        method: 'POST',
        body: { name, categoryId: 1 },
        headers: { 'idempotency-key': 'one' },
      });
    t.match(await create('/v1', 'Rex'), { status: 201, headers: { location: '/v1/pets/1' } });
    t.match(await create('/other', 'Mia'), { status: 201, headers: { location: '/other/pets/2' } });
    t.match(await create('/v1', 'Rex'), { headers: { location: '/v1/pets/1', 'idempotency-replayed': 'true' } });
    t.match(await create('/other', 'Mia'), { headers: { location: '/other/pets/2', 'idempotency-replayed': 'true' } });
    t.equal((await create('/other', 'Rex')).status, 422);
    t.match((await send(port, '/v1/pets')).text, /Rex.*Mia/);
  },
);

t.test(
  'if two contracts in one app share a store, requests to both count against one rate limit of an API key',
  async (t) => {
    const store = openUrl('sqlite::memory:');
    t.teardown(() => store.close());
    const options = { service: own, store, apiKeys: [KEY], rates: { keyRate: { limit: 2, window: 86_400 } } };
    const { port } = await startPlain(t, {
      add: (app) => app.register(contractFirst, { ...options, prefix: '/other' }),
      options,
    });
    for (const [path, status] of [
      ['/v1/pets', 200],
      ['/other/pets', 200],
      ['/v1/pets', 429],
      ['/other/pets', 429],
    ] as const)
      t.equal((await send(port, path)).status, status, path);
  },
);

t.test("a team's plugin may register a second contract with its own services and prefix", async (t) => {
  const closed: string[] = [];
  const services = { second: { close: () => void closed.push('second') } };
  const say: AnyHandler = async ({ services }) => refuse('pet_not_found', Object.keys(services).join());
  const { app, port, request } = await startBuilt(t, {
    add: (app) => {
      const service = withHandlers({ getPet: say });
      return app.register(contractFirst, { service, store: MEMORY, apiKeys: [KEY], services, prefix: '/second' });
    },
  });
  t.match(await send(port, '/second/pets/1'), { status: 404, text: /"second"/ });
  t.match(await request('/v1/pets/1'), { status: 404, body: { message: 'No pet has the id 1.' } });
  for (const path of ['/second/pets', '/v1/pets']) {
    t.match(await send(port, `${path}?%zz`), { status: 400, text: /"malformed_request"/ });
    t.match(await send(port, path, { method: 'PUT' }), { status: 405, headers: { allow: 'GET, HEAD, POST' } });
  }
  t.match(await send(port, '/second/nothing'), { status: 404, text: /"route_not_found"/ });
  await app.close();
  t.strictSame(closed, ['second']);
});

t.test(
  'when the app closes, the plugin closes a store that it opened by URL, but not a store that the app passed to it',
  async (t) => {
    const url = `sqlite:${t.testdir()}/pets.db`;
    for (const name of ['Rex', 'Mia']) {
      const { app, request } = await startPlain(t, { options: { store: { url } } });
      await request('/v1/pets', { method: 'POST', body: { name, categoryId: 1 } });
      await app.close();
    }
    const store = openUrl(url);
    t.teardown(() => store.close());
    const { app, request } = await startPlain(t, { options: { store } });
    t.match((await request('/v1/pets')).body, [{ name: 'Rex' }, { name: 'Mia' }]);
    await app.close();
    await store.check();
    const wrong = startPlain(t, { options: { store: { url: 'mysql://secret@db' } } });
    await t.rejects(wrong, { message: /^contract-first needs a store with a url of the form sqlite:<file>, / });
  },
);

t.test(
  'services and rates in the options of the plugin replace those of the service, whose settings are then not needed',
  async (t) => {
    const closed: string[] = [];
    const check = async () => {
      throw new Error('It is down.');
    };
    const say: AnyHandler = async ({ services }) => refuse('pet_not_found', Object.keys(services).join());
    const options = { health: {}, service: withHandlers({ getPet: say }) };
    const mail = { check, close: () => void closed.push('mail') };
    const given = await startPlain(t, {
      options: { ...options, services: { mail }, rates: { keyRate: { limit: 2, window: 86_400 } } },
    });
    t.match(await given.request('/v1/pets/1'), { status: 404, body: { message: 'mail' } });
    t.equal((await send(given.port, '/readyz')).status, 503);
    t.equal((await given.request('/v1/pets')).status, 200);
    t.match(await given.request('/v1/pets'), { status: 429, headers: { 'retry-after': /./ } });
    await given.app.close();
    t.strictSame(closed, ['mail']);

    const settings = { QUEUE: { kind: 'text', fallback: 'local' } } as const;
    const buildServices = async ({ QUEUE }: { QUEUE: string }) => ({ [QUEUE]: {} });
    const service = { ...options.service, settings, buildServices } as Service;
    const own = await startPlain(t, { options: { ...options, service } });
    t.match(await own.request('/v1/pets/1'), { body: { message: 'local' } });
    t.equal((await send(own.port, '/readyz')).status, 200);
    const needy = { ...service, settings: { QUEUE: { kind: 'text' } } } as Service;
    await t.rejects(startPlain(t, { options: { service: needy } }), { message: /QUEUE must be set/ });
    await t.rejects(build(needy, { database: { kind: 'memory' } }), { message: /QUEUE must be set/ });
    const passed = await build(needy, { database: { kind: 'memory' }, services: { QUEUE: 'far' }, apiKeys: [KEY] });
    t.teardown(() => passed.close());
    const headers = { authorization: `Bearer ${KEY}` };
    t.match((await passed.inject({ url: '/v1/pets/1', headers })).json(), { message: 'far' });
  },
);

t.test('a verifyToken in the options of the plugin replaces the verifyToken of the service', async (t) => {
  const yaml = edited(({ securitySchemes, headers }) => {
    headers['WWW-Authenticate'].schema = { type: 'string' };
    securitySchemes.bearerAuth.bearerFormat = 'JWT';
  });
  const contract = pathToFileURL(join(t.testdir({ openapi: { 'pets.yaml': yaml } }), 'openapi/pets.yaml'));
  const verifyToken = async (token: string) =>
    token === 'a.b.c' ? { id: 'ada', claims: {}, scopes: ['pets:read'] } : { refused: 'it is not hers' };
  const service = { ...own, contract, verifyToken: async () => ({ refused: 'it is not theirs' }) };
  for (const [options, status] of [
    [{ service, verifyToken }, 200],
    [{ service }, 401],
  ] as const) {
    const { port } = await startPlain(t, { options });
    t.equal((await send(port, '/v1/pets', { key: 'a.b.c' })).status, status);
    t.equal((await send(port, '/v1/pets')).status, 401);
  }
});

t.test("if a hook calls done() twice, the handler still runs only after the request's key is checked", async (t) => {
  let calls = 0;
  const listPets: AnyHandler = async () => {
    calls++;
    return { status: 200, body: [] };
  };
  const { request } = await startPlain(t, {
    add: (app) => {
      app.addHook('onRequest', (_request, _reply, done) => {
        done();
        done();
      });
    },
    options: {
      service: withHandlers({ listPets }),
      rates: { unauthorizedRate: { limit: 1, window: 1 }, keyRate: { limit: 1, window: 1 } },
      countWindow: async () => ({ total: 9, ends: 1000 }),
    },
  });
  for (const key of [KEY, 'wrong', null]) t.equal((await request('/v1/pets', { key })).status, 500);
  t.equal(calls, 0);
});

t.test(
  "with serverOptions(), a team's own routes have the request id, headers and log line of the contract's routes",
  async (t) => {
    const { app, port, lines } = await startWithOptions(t, {
      server: { secrets: ['secret-of-the-team'], trustProxy: ['127.0.0.1'] },
      add: (app) => {
        app.get('/own/:name', ({ url }) => url);
        app.get('/fails', async () => Promise.reject(new Error('It is broken.')));
        app.get('/refuses', async () => Promise.reject(Object.assign(new Error('No.'), { statusCode: 403 })));
      },
    });
    const long = await send(port, `/own/${'x'.repeat(500)}`);
    t.match(long, { status: 200, headers: { 'x-request-id': /^[\w-]{8}-1$/, 'cache-control': 'no-store' } });
    lines.length = 0;
    const { headers } = await send(port, '/own/secret-of-the-team', { headers: { 'x-forwarded-for': '192.0.2.7' } });
    t.match(
      lines.map((line) => JSON.parse(line)),
      [{ reqId: headers['x-request-id'], url: '/own/***', ip: '192.0.2.7', status: 200, msg: 'request', level: 30 }],
    );
    lines.length = 0;
    t.match(await send(port, '/fails'), { status: 500, text: /It is broken/ });
    t.match(await send(port, '/refuses'), { status: 403 });
    t.equal(lines.filter((line) => JSON.parse(line).level >= 50).length, 1, lines.join(''));
    t.match(lines[0], 'It is broken.');
    const injected = await app.inject('/own/1');
    t.match(injected.headers, { 'x-request-id': /./, 'cache-control': 'no-store' });
  },
);

t.test(
  "with serverOptions(), malformed HTTP gets the engine's Error body; without serverOptions(), it gets Fastify's",
  async (t) => {
    const bad: [request: string, status: number, code: string][] = [
      ['nonsense\r\n\r\n', 400, 'malformed_request'],
      ['GET /%zz HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n', 400, 'malformed_request'],
      ['GET /v1/pets HTTP/1.1\r\nHost: a\r\nExpect: tea\r\nConnection: close\r\n\r\n', 417, 'expectation_failed'],
      ['CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n', 405, 'method_not_allowed'],
      [
        `GET /v1/pets HTTP/1.1\r\nHost: a\r\n${'Authorization: Bearer a\r\n'.repeat(2)}Connection: close\r\n\r\n`,
        400,
        'malformed_request',
      ],
    ];
    const { port } = await startWithOptions(t);
    for (const [request, status, code] of bad) {
      const [reply] = await connectRaw(port, request).replies();
      t.match(reply, { status, headers: { 'x-request-id': /./ } }, request);
      t.match(JSON.parse(reply?.text ?? ''), { code, status, message: /./ });
    }
    const plain = await startPlain(t);
    const [reply] = await connectRaw(plain.port, 'nonsense\r\n\r\n').replies();
    t.match(reply?.text, '"Bad Request"');
  },
);

t.test('with serverOptions(), app.close() waits until requests that were already sent are answered', async (t) => {
  const stop = { isAsked: false };
  const { app, port } = await startWithOptions(t, { server: { stop }, options: { health: {} } });
  t.equal((await send(port, '/readyz')).status, 200);
  stop.isAsked = true;
  t.equal((await send(port, '/readyz')).status, 503);
  const closed = app.close();
  const late = connectRaw(port, `GET /v1/pets HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${KEY}\r\n\r\n`);
  t.match(await late.replies(), [{ status: 200, headers: { connection: 'close' } }]);
  await closed;
});

t.test('a health check at a custom path is still answered if the connection limit is reached', async (t) => {
  const limits = { maxConnections: 1, maxPipelined: 64, replyTimeout: 30_000 };
  const { port } = await startWithOptions(t, { server: { limits }, options: { health: { livez: '/alive' } } });
  const open = connectRaw(port, 'GET /alive HTTP/1.1\r\nHost: a\r\n\r\n');
  t.match(await open.replies(1), [{ status: 200 }]);
  t.match(await send(port, '/alive'), { status: 200 });
  t.match(await send(port, '/v1/pets'), { status: 503, text: /"overloaded"/ });
  open.socket.destroy();
});

t.test(
  'serverOptions() sets the same limits as the server program does, and rejects the options for HTTPS and HTTP/2',
  async (t) => {
    const app = fastify(serverOptions({ logger: pino({ level: 'silent' }) }));
    const { requestTimeout, keepAliveTimeout } = app.server;
    const own = { requestTimeout, keepAliveTimeout, ...httpServerOf(app)?.connections.limits };
    t.match(loadConfig({}), own);
    for (const tls of [{ https: {} }, { http2: true }])
      t.throws(() => fastify({ ...serverOptions(), ...tls } as never), {
        message: /is for plain HTTP\/1\.1: let a proxy/,
      });
    await app.close();
  },
);

t.test('build() closes the database that it opened, when the app closes and also if the build fails', async (t) => {
  const url = `${t.testdir()}/pets.db`;
  const database = { kind: 'sqlite' as const, file: url };
  const loadPlugins = async () => Promise.reject(new Error('a plugin is missing'));
  await t.rejects(build({ ...own, loadPlugins }, { database }), { message: 'a plugin is missing' });
  for (const status of [201, 201]) {
    const app = await build(own, { database, apiKeys: [KEY] });
    const headers = { authorization: `Bearer ${KEY}` };
    const reply = await app.inject({ method: 'POST', url: '/v1/pets', headers, payload: REX });
    t.equal(reply.statusCode, status);
    await app.close();
  }
});

t.test("a team's plugins.ts may move the documents to another path, and may turn off the health checks", async (t) => {
  const addPlugins = async () => {};
  const service = {
    ...own,
    loadPlugins: async () => ({ addPlugins, docs: { prefix: '/internal' }, health: false as const }),
  };
  const app = await build(service, { database: { kind: 'memory' } });
  t.teardown(() => app.close());
  t.equal((await app.inject('/internal/openapi.json')).statusCode, 200);
  t.match((await app.inject('/')).headers, { location: '/internal/openapi.json', link: /<\/internal\/docs>/ });
  t.equal((await app.inject('/livez')).statusCode, 404);
});
