/**
 * A team's own plugins, routes and WebSockets: the decorations that they find, and the limits that they share with
 * operations.
 */
import { once } from 'node:events';
import { setTimeout as wait } from 'node:timers/promises';
import websocket from '@fastify/websocket';
import type { FastifyInstance, FastifyReply } from 'fastify';
import fastifyPlugin from 'fastify-plugin';
import t, { type Test } from 'tap';
import { WebSocket } from 'ws';
import { RequestCounts } from '../src/contract-first/operate/telemetry/request-counts.ts';
import { loadConfig } from './config.ts';
import { connectRaw } from './raw-client.ts';
import { KEY, type StartOptions, send, startService } from './service.ts';

const FOUND = { decorators: { fastify: ['contractFirst'], request: ['contractFirst'] } };

t.test(
  'a plugin reads collections, services and the caller from typed decorations of the app and the request',
  async (t) => {
    const callers: unknown[] = [];
    const services = { mail: { sender: 'shop@example.com' } };
    const plugin = async (app: FastifyInstance) => {
      app.get('/first', async () => (await app.contractFirst.collections.pets.get(1n))?.read().name ?? 'none');
      app.get('/sender', () => (app.contractFirst.services as typeof services).mail.sender);
      app.addHook('preParsing', async ({ contractFirst }) => void callers.push(contractFirst.caller?.name));
    };
    const { request } = await startService(t, {
      services,
      addPlugins: async (app) => void app.register(fastifyPlugin(plugin, { name: 'own', ...FOUND })),
    });
    t.equal((await request('/first')).text, 'none');
    await request('/v1/pets', { method: 'POST', body: { name: 'Rex', categoryId: 7 } });
    t.equal((await request('/first')).text, 'Rex');
    t.equal((await request('/sender')).text, 'shop@example.com');
    t.strictSame(callers, [undefined, 'API_KEYS', undefined, undefined]);
  },
);

/** Builds a plugin with a route that replies only when the test says so. */
function buildSlow() {
  let reported = (_asked: { reply: FastifyReply }) => {};
  const asked = new Promise<{ reply: FastifyReply }>((resolve) => {
    reported = resolve;
  });
  const names: string[] = [];
  const addPlugins = async (app: FastifyInstance) => {
    app.get('/own/:name', (request, reply) => {
      const { name } = request.params as { name: string };
      names.push(name);
      if (name !== 'slow') return { own: true };
      reported({ reply });
      return reply;
    });
  };
  return { addPlugins, asked, names };
}

t.test(
  "the server counts a request to a plugin's own route by its path, and logs its request id and client address",
  async (t) => {
    const counts = new RequestCounts((id) => `/${id}`, {});
    const lines: string[] = [];
    const { port } = await startService(t, { ...buildSlow(), counts, log: { write: (line) => void lines.push(line) } });
    const { headers, text } = await send(port, '/own/7?key=none');
    t.equal(text, '{"own":true}');
    t.match(JSON.parse(lines[0] as string), {
      ...{ reqId: headers['x-request-id'], method: 'GET', url: '/own/7?key=none', ip: '127.0.0.1', status: 200 },
      msg: 'request',
    });
    t.match(counts.durations(), [
      { labels: { http_route: '/own/:name', http_request_method: 'GET', http_response_status_code: 200 } },
    ]);
    t.match(await send(port, '/own/7', { method: 'POST' }), { status: 405, headers: { allow: 'GET, HEAD' } });
  },
);

t.test(
  "above the limit of pipelined requests, a plugin's own route answers 503 like the contract's routes",
  async (t) => {
    const { port } = await startService(t, { ...buildSlow(), limits: loadConfig({ MAX_PIPELINED: '1' }) });
    const client = connectRaw(port, 'GET /own/7 HTTP/1.1\r\nHost: a\r\n\r\n'.repeat(3));
    t.match(await client.replies(), [{ status: 200 }, { status: 503, text: /"overloaded"/ }]);
  },
);

t.test(
  "a stopping server waits for requests to a plugin's own route, closes their connections, and starts no new request",
  async (t) => {
    const slow = buildSlow();
    const stop = { isAsked: false };
    const { app, port } = await startService(t, { ...slow, stop });
    const get = (name: string) => `GET /own/${name} HTTP/1.1\r\nHost: a\r\n\r\n`;
    const client = connectRaw(port, get('slow') + get('behind').repeat(2));
    const { reply } = await slow.asked;
    stop.isAsked = true;
    const closed = app.close();
    const late = connectRaw(port, get('7'));
    await once(late.socket, 'connect');
    reply.send({ own: 'late' });
    t.match(await client.replies(), [{ status: 200, text: '{"own":"late"}', headers: { connection: 'close' } }]);
    t.match(await late.replies(), [{ status: 200, text: '{"own":true}' }]);
    t.strictSame(slow.names, ['slow', '7']);
    await closed;
  },
);

const PET = '{"name":"Rex","categoryId":1}';

/** Starts the service with a WebSocket that sends each message back. */
const startEcho = (t: Test, options: StartOptions = {}) =>
  startService(t, {
    ...options,
    addPlugins: async (app) => {
      await app.register(websocket);
      app.get('/echo', { websocket: true }, (socket) => {
        socket.on('message', (message) => socket.send(String(message)));
      });
    },
  });

async function open(t: Test, port: number, path = '/echo'): Promise<WebSocket> {
  const socket = new WebSocket(`ws://127.0.0.1:${port}${path}`, { headers: { authorization: `Bearer ${KEY}` } });
  t.teardown(() => socket.terminate());
  await once(socket, 'open');
  return socket;
}

async function echo(socket: WebSocket, text: string): Promise<string> {
  socket.send(text);
  return String((await once(socket, 'message'))[0]);
}

t.test('WebSocket messages flow both ways, even if the server has reached its limit of connections', async (t) => {
  const { port, request } = await startEcho(t, { limits: loadConfig({ MAX_CONNECTIONS: '1' }) });
  const socket = await open(t, port);
  t.equal(await echo(socket, 'x'.repeat(100_000)), 'x'.repeat(100_000));
  // The WebSocket's connection does not count as idle, even if its client is silent for long.
  await wait(2500);
  for (let count = 0; count < 3; count++) t.equal((await request('/v1/pets')).status, 503);
  t.equal(await echo(socket, 'later'), 'later');
});

t.test("a request with `Upgrade: h2c`, which Java's HTTP clients send, is served as a plain request", async (t) => {
  const { port } = await startEcho(t);
  for (const body of ['', PET]) {
    const head = [
      `${body ? 'POST' : 'GET'} /v1/pets HTTP/1.1`,
      ...['Host: a', `Authorization: Bearer ${KEY}`, 'Content-Type: application/json', 'Connection: Upgrade'],
      ...['Upgrade: h2c', `Content-Length: ${body.length}`, '', ''],
    ];
    const client = connectRaw(port, head.join('\r\n') + body);
    t.match(await client.replies(), [{ status: body ? 201 : 200, headers: { connection: 'close' } }]);
    client.socket.destroy();
  }
});

t.test(
  'a WebSocket handshake without a key gets a 401 with the Error body and the headers of other replies',
  async (t) => {
    const { port } = await startEcho(t);
    const head = 'GET /v1/pets HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n';
    const [reply] = await connectRaw(port, head).replies();
    t.match(reply, { status: 401, headers: { 'x-request-id': /./, 'cache-control': 'no-store' } });
    t.match(JSON.parse(reply?.text as string), { code: 'unauthorized' });
  },
);

t.test('a stopping server closes open WebSockets', async (t) => {
  const { app, port } = await startEcho(t, { stop: { isAsked: true } });
  const socket = await open(t, port);
  const closed = once(socket, 'close');
  await Promise.all([app.close(), closed]);
});
