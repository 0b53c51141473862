import { once } from 'node:events';
import { readdirSync } from 'node:fs';
import { connect } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import t from 'tap';
import { forceEnd, startServer } from '../../program.ts';
import { KEY, startService } from '../../service.ts';
import { answersInFlight, replyTo, startPost, stop } from './in-flight.ts';

t.test('after SIGTERM, a running request is answered; then the server ends with exit code 0', (t) =>
  answersInFlight(t, 'SIGTERM'),
);

t.test(
  'after SIGTERM, /readyz is 503 and replies contain `Connection: close`, but the server still answers requests',
  async (t) => {
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
  },
);

t.test(
  'a request on a connection made just before the stop is answered, although the server no longer listens',
  async (t) => {
    const { app, port, request } = await startService(t, { stop: { isAsked: true } });
    const socket = connect(port, '127.0.0.1');
    socket.write('GET /livez HTTP/1.1\r\n');
    await once(socket, 'connect');
    // The server accepts connections in order: its reply on this connection proves that it has accepted the earlier one.
    t.equal((await request('/livez')).status, 200);
    const closed = app.close();
    socket.write('Host: petstore\r\n\r\n');
    const [answer] = await once(socket, 'data');
    t.notOk(app.server.listening);
    t.match(String(answer), /^HTTP\/1.1 200 OK\r\n.*connection: close\r\n/is);
    await closed;
  },
);

t.test('if a client disconnects while the server stops, the server does not execute its request', async (t) => {
  const log: string[] = [];
  const { app, port, request } = await startService(t, {
    stop: { isAsked: true },
    log: { write: (line) => log.push(line) },
  });
  const socket = connect(port, '127.0.0.1');
  socket.write('GET /v1/pets HTTP/1.1\r\n');
  await once(socket, 'connect');
  t.equal((await request('/livez')).status, 200);
  const closed = app.close();
  socket.write(`Host: petstore\r\nAuthorization: Bearer ${KEY}\r\n\r\n`);
  // 50 ms are enough for the request to arrive, and less than a stopping server waits.
  await wait(50);
  socket.resetAndDestroy();
  await closed;
  t.notMatch(log.join(''), '/v1/pets');
});

t.test("a request that never ends delays the server's stop by at most STOP_TIMEOUT", async (t) => {
  const folder = t.testdir();
  const env = { DATABASE_URL: `sqlite:${folder}/pets.db`, DRAIN_DELAY: '0', STOP_TIMEOUT: '1000' };
  const server = await startServer(t, { env, isCovered: true });
  const request = await startPost(server.port, '{}');
  const [code] = await Promise.all([stop(server), t.rejects(replyTo(request), { code: 'ECONNRESET' })]);
  t.equal(code, 0);
  t.strictSame(readdirSync(folder), ['pets.db']);
});

t.test('a stopping server closes a connection that never sent anything', async (t) => {
  const { app, port, request } = await startService(t, { stop: { isAsked: true } });
  const socket = connect(port, '127.0.0.1', () => socket.resume());
  const closed = once(socket, 'close');
  await once(socket, 'connect');
  // The server accepts connections in order: its reply on this connection proves that it has accepted the earlier one.
  t.equal((await request('/livez')).status, 200);
  await Promise.all([app.close(), closed]);
});
