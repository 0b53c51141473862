import { EventEmitter, once } from 'node:events';
import { readdirSync } from 'node:fs';
import { Agent, type ClientRequest, request as httpRequest, type IncomingMessage } from 'node:http';
import { connect } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import t from 'tap';
import { Sqlite } from '../../src/store/sqlite/kept-sqlite.ts';
import { forceEnd, type Server, startServer } from '../program.ts';
import { KEY, startService } from '../service.ts';

/** How often the server is stopped under load. */
const ROUNDS = Number(process.env.ROUNDS ?? 1);

/** A POST /v1/pets whose headers the server has read, and whose body is still to come. */
async function startPost(port: number, body: string): Promise<ClientRequest> {
  const request = httpRequest({
    host: '127.0.0.1',
    port,
    path: '/v1/pets',
    method: 'POST',
    agent: new Agent({ keepAlive: true }),
    headers: {
      authorization: `Bearer ${KEY}`,
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(body),
      expect: '100-continue',
    },
  });
  request.flushHeaders();
  await once(request, 'continue');
  return request;
}

async function replyTo(request: ClientRequest): Promise<{ status: number; connection: string; body: string }> {
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  const chunks = await response.toArray();
  return {
    status: response.statusCode as number,
    connection: response.headers.connection as string,
    body: Buffer.concat(chunks).toString(),
  };
}

/** Resolves when the server takes no connection any more. */
async function refusesConnections(port: number): Promise<void> {
  for (;;) {
    const socket = connect(port, '127.0.0.1');
    const isOpen = await once(socket, 'connect').then(
      () => true,
      () => false,
    );
    socket.destroy();
    if (!isOpen) return;
  }
}

/**
 * Clients that each send one pet after the other, until nobody takes their connection any more: half of them on one
 * connection for as long as the server keeps it, half of them on a new one each time.
 */
function load(port: number, clients: number) {
  const answers = new EventEmitter();
  const answered: string[] = [];

  async function send(_: unknown, index: number) {
    const agent = new Agent({ keepAlive: index % 2 === 0, maxSockets: 1 });
    const headers = { authorization: `Bearer ${KEY}`, 'content-type': 'application/json' };
    for (;;) {
      const request = httpRequest({ host: '127.0.0.1', port, path: '/v1/pets', method: 'POST', agent, headers });
      request.end('{"name":"Rex","categoryId":7}');
      try {
        const { status, body } = await replyTo(request);
        if (status !== 201) throw new Error(`${status}: ${body}`);
        if (answered.push(body) === 10 * clients) answers.emit('busy');
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code === 'ECONNREFUSED') return;
        throw error;
      }
    }
  }

  const ended = Promise.all(Array.from({ length: clients }, send));
  return { busy: once(answers, 'busy'), answered: ended.then(() => answered) };
}

const stop = (server: Server) => {
  server.child.kill('SIGTERM');
  return server.exit;
};

for (const signal of ['SIGTERM', 'SIGINT'] as const) {
  t.test(`${signal}: a request in flight is answered, then the server ends with exit code 0`, async (t) => {
    const folder = t.testdir();
    const env = { DATABASE_URL: `sqlite:${folder}/pets.db`, DRAIN_DELAY: '0', STOP_TIMEOUT: '600000' };
    const server = await startServer(t, { env });
    const body = '{"name":"Rex","categoryId":7}';
    const request = await startPost(server.port, body);
    request.write(body.slice(0, 10));
    server.child.kill(signal);
    await refusesConnections(server.port);
    request.end(body.slice(10));
    t.strictSame(await replyTo(request), {
      status: 201,
      connection: 'close',
      body: '{"id":1,"name":"Rex","categoryId":7}',
    });
    t.equal(await server.exit, 0);
    t.match(server.output.stdout, `"signal":"${signal}","msg":"stopping"`);
    t.strictSame(readdirSync(folder), ['pets.db']);
  });
}

t.test('from the signal on it is not ready, and asks clients to close, but answers them still', async (t) => {
  const server = await startServer(t, { env: { DRAIN_DELAY: '60000' }, isCovered: true });
  t.equal((await server.request('/readyz')).status, 200);
  server.child.kill('SIGTERM');
  await server.written('stdout', /"stopping"/);
  const ready = await server.request('/readyz');
  t.equal(ready.status, 503);
  t.match(ready.body, { code: 'unavailable', status: 503 });
  for (const url of ['/readyz', '/livez', '/v1/pets', '/nowhere', '/docs/']) {
    t.equal((await server.request(url, { headers: { connection: 'keep-alive' } })).headers.connection, 'close', url);
  }
  t.equal((await server.request('/v1/pets')).status, 200);
  t.equal(await forceEnd(server, 'SIGTERM'), 'SIGKILL');
});

t.test('a second signal ends it at once, with requests in flight', async (t) => {
  const server = await startServer(t, { env: { STOP_TIMEOUT: '600000' } });
  const request = await startPost(server.port, '{}');
  server.child.kill('SIGINT');
  await server.written('stdout', /"stopping"/);
  const [code] = await Promise.all([forceEnd(server, 'SIGINT'), t.rejects(replyTo(request))]);
  t.equal(code, 'SIGKILL');
});

t.test('Ctrl-C on `npm start`, which comes from the terminal and from npm, is one signal', async (t) => {
  const server = await startServer(t, { isCovered: true });
  server.child.kill('SIGINT');
  server.child.kill('SIGTERM');
  await server.written('stdout', /"stopping"/);
  server.child.kill('SIGINT');
  t.equal(await server.exit, 0);
});

t.test('who comes at the last call is answered when no process listens any more', async (t) => {
  const asking = new EventEmitter();
  const { app, port, request } = await startService(t, {
    isDraining: () => true,
    untilNoneListens: () => new Promise((resolve) => asking.emit('asked', resolve)),
  });
  const socket = connect(port, '127.0.0.1');
  socket.write('GET /livez HTTP/1.1\r\n');
  await once(socket, 'connect');
  // The answer on a later connection says that the server has taken the earlier one.
  t.equal((await request('/livez')).status, 200);
  const asked = once(asking, 'asked');
  const closed = app.close();
  const [answerAll] = await asked;
  const answer = once(socket, 'data');
  socket.write('Host: petstore\r\n\r\n');
  await wait(200);
  t.equal(socket.bytesRead, 0);
  answerAll();
  t.match(String(await answer), /^HTTP\/1.1 200 OK\r\n.*connection: close\r\n/is);
  await closed;
});

t.test('a request that never ends does not hold the stop beyond STOP_TIMEOUT', async (t) => {
  const folder = t.testdir();
  const env = { DATABASE_URL: `sqlite:${folder}/pets.db`, DRAIN_DELAY: '0', STOP_TIMEOUT: '1000' };
  const server = await startServer(t, { env, isCovered: true });
  const request = await startPost(server.port, '{}');
  const [code] = await Promise.all([stop(server), t.rejects(replyTo(request), { code: 'ECONNRESET' })]);
  t.equal(code, 0);
  t.strictSame(readdirSync(folder), ['pets.db']);
});

t.test('a connection on which nothing was ever sent does not hold the stop', async (t) => {
  const server = await startServer(t, { env: { STOP_TIMEOUT: '600000' }, isCovered: true });
  const socket = connect(server.port, '127.0.0.1');
  await once(socket, 'connect');
  // The answer on a later connection says that the server has taken the earlier one.
  t.equal((await server.request('/livez')).status, 200);
  t.equal(await stop(server), 0);
});

t.test('a stop under load drops no request, and keeps every pet that it has answered, time and again', async (t) => {
  const folder = t.testdir();
  const env = { DATABASE_URL: `sqlite:${folder}/pets.db`, DRAIN_DELAY: '1500' };
  const answered: string[] = [];
  for (let round = 0; round < ROUNDS; round++) {
    const server = await startServer(t, { env });
    const clients = load(server.port, 20);
    await clients.busy;
    t.equal(await stop(server), 0);
    answered.push(...(await clients.answered));
    t.strictSame(readdirSync(folder), ['pets.db'], 'nothing is left in a write-ahead log');
  }
  const db = new Sqlite(`${folder}/pets.db`, { readonly: true });
  t.teardown(() => db.close());
  t.equal(db.pragma('integrity_check', { simple: true }), 'ok');
  const stored = db.prepare("SELECT json_object('id', id, 'name', name, 'categoryId', category_id) FROM pets").pluck();
  t.strictSame(
    stored.all(),
    answered.sort((a, b) => JSON.parse(a).id - JSON.parse(b).id),
  );
});
