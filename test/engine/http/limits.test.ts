import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { loadConfig } from '../../config.ts';
import { listPets } from '../../database.ts';
import { KEY, type Service, startService } from '../../service.ts';

const post = (body: string) =>
  `POST /v1/pets HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${KEY}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`;

/** A large request whose reply is 400, because the name is too long. */
const LARGE = post(JSON.stringify({ name: 'x'.repeat(16_000), categoryId: 1 }));

const get = (url: string) => `GET ${url} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${KEY}\r\n\r\n`;

function startLimited(t: Test, limits: Record<string, string>): Promise<Service> {
  return startService(t, { limits: loadConfig(limits) });
}

async function open(t: Test, { port }: Service): Promise<Socket> {
  const socket = connect(port, '127.0.0.1').on('error', () => {});
  t.teardown(() => socket.destroy());
  await once(socket, 'connect');
  return socket;
}

/** Returns the statuses of all replies until the server closes the connection. */
async function statusesOf(socket: Socket): Promise<string[]> {
  let text = '';
  socket.setEncoding('latin1').on('data', (chunk) => {
    text += chunk;
  });
  await once(socket, 'close');
  return [...text.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => status as string);
}

t.test(
  'the server answers pipelined requests up to the limit; then it sends a 503 and closes the connection',
  async (t) => {
    const service = await startLimited(t, { MAX_PIPELINED: '16' });
    for (const url of ['/v1/pets', '/livez']) {
      const socket = await open(t, service);
      let made = 0;
      service.app.server.on('request', () => made++);
      socket.write(get(url).repeat(5000));
      t.strictSame(await statusesOf(socket), [...Array(16).fill('200'), '503'], url);
      t.equal(made, 17, 'requests over the limit are not even parsed');
    }
    const expecting = await open(t, service);
    expecting.write(get('/livez').replace('Host', 'Expect: x\r\nHost').repeat(5000));
    t.strictSame(await statusesOf(expecting), [...Array(16).fill('417'), '503'], 'requests with an Expect header');
    const fair = await open(t, service);
    fair.write(get('/v1/pets').repeat(15) + get('/v1/pets').replace('Host', 'Connection: close\r\nHost'));
    t.strictSame(await statusesOf(fair), Array(16).fill('200'));
    const reply = await service.request('/v1/pets');
    t.equal(reply.status, 200);
  },
);

t.test('the 503 for too many pipelined requests has the Error body and a Retry-After', async (t) => {
  const service = await startLimited(t, { MAX_PIPELINED: '1' });
  const socket = await open(t, service);
  socket.write(get('/livez').repeat(2));
  const text = Buffer.concat(await socket.toArray()).toString();
  t.match(text, /^HTTP\/1\.1 200 .*HTTP\/1\.1 503 .*retry-after: 1\r\n.*connection: close\r\n/s);
  t.match(text, /x-request-id: \S+\r\n/);
  t.match(JSON.parse(text.slice(text.lastIndexOf('{'))), { code: 'overloaded', status: 503 });
});

t.test(
  'the server accepts waiting connections before it reads more pipelined requests of open connections',
  async (t) => {
    const service = await startLimited(t, {});
    const [[slow]] = await Promise.all([once(service.app.server, 'connection'), open(t, service)]);
    slow.pause();
    let inARow = 0;
    let most = 0;
    service.app.server.on('connection', () => {
      inARow++;
      most = Math.max(most, inARow);
    });
    // Makes each turn of the event loop long, even on a fast machine.
    service.app.server.on('request', () => {
      inARow = 0;
      const end = performance.now() + 0.1;
      while (performance.now() < end);
    });
    const AHEAD = 16;
    const busy = await Promise.all(Array.from({ length: 30 }, () => open(t, service)));
    for (const socket of busy) {
      let replies = 0;
      socket.setEncoding('latin1').on('data', (text: string) => {
        replies += text.split('HTTP/1.1 200').length - 1;
        if (replies % AHEAD === 0) socket.write(get('/livez').repeat(AHEAD));
      });
      socket.write(get('/livez').repeat(AHEAD));
    }
    await Promise.all(busy.map((socket) => once(socket, 'data')));
    const others = await Promise.all(Array.from({ length: 100 }, () => open(t, service)));
    for (const socket of others) socket.write(get('/livez'));
    await Promise.all([...others, ...busy].map((socket) => once(socket, 'data')));
    t.ok(most > 50, `${most} in a row`);
    t.ok(slow.isPaused(), 'a connection that was paused before stays paused');
    slow.resume();
    for (const socket of busy) socket.destroy();
  },
);

t.test(
  'at the connection limit, a new connection replaces an idle one; if none is idle, the new one gets only health checks',
  async (t) => {
    const service = await startLimited(t, { MAX_CONNECTIONS: '2' });
    const first = await open(t, service);
    first.write(get('/livez'));
    await once(first, 'data');
    const second = await open(t, service);
    t.equal((await service.request('/livez')).status, 200);
    t.match(await service.request('/v1/pets'), { status: 503, body: { code: 'overloaded' } });

    const third = await open(t, service);
    const fourth = await open(t, service);
    const fifth = await open(t, service);
    await once(fifth, 'close');
    third.destroy();
    fourth.write(get('/livez'));
    await once(fourth, 'data');

    // Once connections are idle for more than a second, the server closes the oldest of them for a new one.
    const isClosed = once(first, 'close');
    while (first.readyState !== 'closed') {
      await wait(200);
      await Promise.race([service.request('/v1/pets').catch(() => {}), isClosed]);
    }
    t.equal((await service.request('/v1/pets')).status, 200);
    t.notOk(second.destroyed && fourth.destroyed);
  },
);

t.test(
  'on one connection, a create waits until the client reads earlier replies; all replies are in order',
  async (t) => {
    const service = await startLimited(t, {});
    const create = post('{"name":"Rex","categoryId":1}');
    const socket = (await open(t, service)).pause();
    socket.write(get('/docs/static/swagger-ui-bundle.js').repeat(8) + create + get('/v1/pets') + create);
    await wait(300);
    t.equal((await listPets(service.store, { limit: 10 })).body.text, '[]');
    let text = '';
    socket.setEncoding('latin1').on('data', (chunk) => {
      text += chunk;
    });
    socket.resume().end();
    await once(socket, 'close');
    const statuses = [...text.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => status);
    t.strictSame(statuses, [...Array(8).fill('200'), '201', '200', '201']);
    t.match(text, /\[\{"id":1,"name":"Rex","categoryId":1\}\]/);
  },
);

t.test(
  'while a client reads no replies, the server reads only some of its requests; once the client reads, all are answered',
  async (t) => {
    const service = await startLimited(t, {});
    const [[served], socket] = await Promise.all([once(service.app.server, 'connection'), open(t, service)]);
    socket.pause();
    socket.write(get('/docs/static/swagger-ui-bundle.js').repeat(8) + LARGE.repeat(40));
    while (served.bytesRead === 0) await service.request('/livez');
    for (let count = 0; count < 50; count++) await service.request('/livez');
    t.ok(served.bytesRead <= 2 * 64 * 1024, `${served.bytesRead} bytes`);
    socket.end();
    t.strictSame(await statusesOf(socket.resume()), [...Array(8).fill('200'), ...Array(40).fill('400')]);
  },
);

t.test(
  'if 100 connections pipeline large requests, each request is answered, and a new client is not kept waiting',
  async (t) => {
    const service = await startLimited(t, {});
    const [[slow]] = await Promise.all([once(service.app.server, 'connection'), open(t, service)]);
    slow.pause();
    const busy = await Promise.all(Array.from({ length: 100 }, () => open(t, service)));
    for (const socket of busy) socket.end(LARGE.repeat(12));
    const all = Promise.all(busy.map(statusesOf));
    t.equal((await service.request('/livez')).status, 200);
    for (const statuses of await all) t.strictSame(statuses, Array(12).fill('400'));
    t.ok(slow.isPaused(), 'a connection that was paused before stays paused');
    slow.resume();
  },
);

t.test('malformed bytes after large pipelined requests get a 400, after the replies to these requests', async (t) => {
  const service = await startLimited(t, {});
  const socket = await open(t, service);
  socket.write(`${LARGE.repeat(3)}no HTTP\r\n\r\n`);
  t.strictSame(await statusesOf(socket), [...Array(3).fill('400'), '400']);
});

t.test('the connection of a client that does not read its reply is closed after REPLY_TIMEOUT', async (t) => {
  const service = await startLimited(t, { REPLY_TIMEOUT: '1000', MAX_PIPELINED: '1000' });
  const silent = await open(t, service);
  const idle = await open(t, service);
  silent.pause();
  silent.write(get('/openapi.json').repeat(700));
  for (let connections = 2; connections > 1; ) {
    await wait(100);
    connections = await new Promise((resolve) => service.app.server.getConnections((_, count) => resolve(count)));
  }
  t.notOk(idle.destroyed);
  t.equal((await service.request('/livez')).status, 200);
});

t.test(
  'a connection stays open for KEEP_ALIVE_TIMEOUT after its last reply; the Keep-Alive header tells the client so',
  async (t) => {
    const { keepAliveTimeout } = loadConfig({ KEEP_ALIVE_TIMEOUT: '1000' });
    const socket = await open(t, await startService(t, { keepAliveTimeout }));
    const asked = performance.now();
    socket.write(get('/livez'));
    const [reply] = await once(socket, 'data');
    t.match(String(reply), /keep-alive: timeout=1\r\n/i);
    await once(socket, 'close');
    t.ok(performance.now() - asked > 900);
  },
);
