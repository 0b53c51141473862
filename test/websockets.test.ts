/** A team's WebSockets by @fastify/websocket: the connections are its own, and other requests are served as without it. */
import { once } from 'node:events';
import { setTimeout as wait } from 'node:timers/promises';
import websocket from '@fastify/websocket';
import t, { type Test } from 'tap';
import { WebSocket } from 'ws';
import { loadConfig } from './config.ts';
import { connectRaw } from './raw-client.ts';
import { KEY, type StartOptions, startService } from './service.ts';

const PET = '{"name":"Rex","categoryId":1}';

/** The service with a route that sends each message back. */
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

t.test('messages go to and fro, also on a server that has no room for further connections', async (t) => {
  const { port, request } = await startEcho(t, { limits: loadConfig({ MAX_CONNECTIONS: '1' }) });
  const socket = await open(t, port);
  t.equal(await echo(socket, 'x'.repeat(100_000)), 'x'.repeat(100_000));
  // Its connection is not idle, however long it asks for nothing.
  await wait(2500);
  for (let count = 0; count < 3; count++) t.equal((await request('/v1/pets')).status, 503);
  t.equal(await echo(socket, 'later'), 'later');
});

t.test('a request for another protocol, as by HTTP clients of Java, is served as a plain one', async (t) => {
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

t.test('a client without a key is refused with the Error body and the headers of each reply', async (t) => {
  const { port } = await startEcho(t);
  const head = 'GET /v1/pets HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\n';
  const [reply] = await connectRaw(port, head).replies();
  t.match(reply, { status: 401, headers: { 'x-request-id': /./, 'cache-control': 'no-store' } });
  t.match(JSON.parse(reply?.text as string), { code: 'unauthorized' });
});

t.test('the stop closes them', async (t) => {
  const { app, port } = await startEcho(t, { stop: { isAsked: true } });
  const socket = await open(t, port);
  const closed = once(socket, 'close');
  await Promise.all([app.close(), closed]);
});
