import { once } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { setImmediate as nextTurn, setTimeout as wait } from 'node:timers/promises';
import t from 'tap';
import { loadConfig } from '../../config.ts';
import { listPets } from '../../database.ts';
import { connectRaw, flood } from '../../raw-client.ts';
import { KEY, startService } from '../../service.ts';

const PET = '{"name":"Rex","categoryId":1}';

const head = (start: string, ...headers: string[]) =>
  [`${start} HTTP/1.1`, 'Host: pets', ...headers, '', ''].join('\r\n');

const AUTHORIZED = `Authorization: Bearer ${KEY}`;
const JSON_BODY = 'Content-Type: application/json';
const EXPECTING = 'Expect: 100-continue';

/** Requests that are answered without reading their body, with the status. */
const UNWANTED: [status: number, start: string, headers: string[]][] = [
  [401, 'POST /v1/pets', [JSON_BODY]],
  [404, 'POST /v1/nothing', [AUTHORIZED, JSON_BODY]],
  [405, 'PUT /v1/pets', [AUTHORIZED, JSON_BODY]],
  [415, 'POST /v1/pets', [AUTHORIZED, 'Content-Type: text/plain']],
  [200, 'GET /livez', []],
  [200, 'GET /v1/pets', [AUTHORIZED]],
];

t.test('the server sends 100 Continue only if it will read the body', async (t) => {
  const { port } = await startService(t);
  const length = `Content-Length: ${PET.length}`;
  const wanted = connectRaw(port, head('POST /v1/pets', AUTHORIZED, JSON_BODY, length, EXPECTING));
  while (!wanted.received().text) await once(wanted.socket, 'data');
  t.match(wanted.received().text, /^HTTP\/1\.1 100 Continue\r\n\r\n$/);
  wanted.socket.write(PET);
  t.match(await wanted.replies(1), [{ status: 201, headers: { connection: 'keep-alive' } }]);
  wanted.socket.destroy();

  for (const [status, start, headers] of [
    ...UNWANTED.map(([status, start, headers]) => [status, start, [...headers, length]] as const),
    [413, 'POST /v1/pets', [AUTHORIZED, JSON_BODY, 'Content-Length: 100000000']] as const,
  ]) {
    const client = connectRaw(port, head(start, ...headers, EXPECTING));
    const [reply] = await client.replies();
    t.equal(reply?.status, status);
    t.notMatch(client.received().text, '100 Continue', start);
    // The client may send the body anyway. The server could not tell it from the next request, so it must close the
    // connection.
    t.equal(reply?.headers.connection, 'close', start);
    client.socket.destroy();
  }
});

t.test(
  'the server reads only a limited part of a body that it does not need, and the client still gets the reply',
  async (t) => {
    const { port, app } = await startService(t);
    let read = 0;
    app.server.on('connection', (socket) => socket.on('close', () => (read = socket.bytesRead)));
    for (const [status, start, headers] of UNWANTED) {
      const { reply } = await flood(port, head(start, ...headers, 'Transfer-Encoding: chunked'));
      t.equal(reply?.status, status, start);
      t.ok(read < 1_000_000, `${read} bytes were read of ${start}`);
    }
  },
);

t.test('if the server does not need a short body, the connection still stays open', async (t) => {
  const { port } = await startService(t, { limits: loadConfig({ UNAUTHORIZED_RATE: '1/d' }) });
  for (const [status, start, headers] of [...UNWANTED, [429, 'POST /v1/pets', [JSON_BODY]] as const]) {
    const client = connectRaw(port, head(start, ...headers, `Content-Length: ${PET.length}`));
    await client.replies(1);
    client.socket.write(PET + head('GET /livez'));
    t.match(await client.replies(2), [{ status }, { status: 200 }], start);
    client.socket.destroy();
  }
});

t.test(
  'if the server replies before a long body has arrived, the reply announces that the connection closes',
  async (t) => {
    const { port, store } = await startService(t);
    const create = `${head('POST /v1/pets', AUTHORIZED, JSON_BODY, `Content-Length: ${PET.length}`)}${PET}`;
    for (const [status, start, headers] of UNWANTED) {
      for (const [framing, body, connection] of [
        ['Content-Length: 65536', 'x'.repeat(65536), 'keep-alive'],
        ['Content-Length: 65537', 'x'.repeat(65537), 'close'],
        ['Transfer-Encoding: chunked', '1\r\nx\r\n0\r\n\r\n', 'close'],
      ] as const) {
        const client = connectRaw(port, head(start, ...headers, framing));
        t.match(await client.replies(1), [{ status, headers: { connection } }], `${start}, ${framing}`);
        client.socket.write(body + create);
        if (connection === 'keep-alive') t.match(await client.replies(2), [{ status }, { status: 201 }]);
        else t.equal((await client.replies()).length, 1);
        client.socket.destroy();
      }
    }
    t.equal((await listPets(store, { limit: 100 })).body.text.match(/"id"/g)?.length, UNWANTED.length);
  },
);

t.test(
  'after a short unneeded body, the connection stays open even if the server pauses reading during the reply',
  async (t) => {
    const { app, port } = await startService(t);
    app.server.prependOnceListener('request', ({ socket }: IncomingMessage, response: ServerResponse) => {
      socket.pause();
      response.once('close', () => socket.resume());
    });
    const client = connectRaw(port, head('POST /v1/pets', JSON_BODY, `Content-Length: ${PET.length}`));
    await client.replies(1);
    client.socket.write(PET + head('GET /livez'));
    t.match(await client.replies(2), [{ status: 401 }, { status: 200 }]);
    client.socket.destroy();
  },
);

t.test(
  'after an error reply, the server closes the connection instead of waiting for the rest of a slow body',
  async (t) => {
    const { port } = await startService(t);
    const { socket, closed, replies } = connectRaw(port, head('POST /v1/pets', JSON_BODY, 'Content-Length: 1000'));
    t.match(await replies(1), [{ status: 401 }]);
    const drip = setInterval(() => socket.write('x'), 100);
    await closed;
    clearInterval(drip);
    t.ok(socket.bytesWritten < 600);
  },
);

t.test(
  'a client that still sends its body after an error reply can read the reply before the connection ends',
  async (t) => {
    const { port } = await startService(t);
    const { socket, replies } = connectRaw(port, head('POST /v1/pets', 'Content-Length: 20000', 'Connection: close'));
    const errors: unknown[] = [];
    socket.on('error', (error) => errors.push(error));
    for (let count = 0; count < 20 && socket.writable; count++) {
      socket.write('x'.repeat(1000));
      await nextTurn();
    }
    t.match(await replies(), [{ status: 401 }]);
    t.strictSame(errors, []);
  },
);

t.test('the server does not execute a request that follows the last reply of a connection', async (t) => {
  const { port, store } = await startService(t);
  const length = `Content-Length: ${PET.length}`;
  const create = head('POST /v1/pets', AUTHORIZED, JSON_BODY, length) + PET;
  const client = connectRaw(port, head('POST /v1/pets', JSON_BODY, length, EXPECTING) + PET + create.repeat(2));
  t.match(await client.replies(), [{ status: 401, headers: { connection: 'close' } }]);
  client.socket.destroy();
  const late = [0, 300, 600].map(async (delay) => {
    await wait(delay);
    const { socket, replies } = connectRaw(
      port,
      head('POST /v1/pets', AUTHORIZED, 'Content-Type: a/b', 'Transfer-Encoding: chunked'),
    );
    await replies(1);
    socket.write('0\r\n\r\n');
    // The server forgets replies that were sent in an interval of a second.
    await wait(900);
    socket.write(create);
    t.match(await replies(), [{ status: 415, headers: { connection: 'close' } }]);
    socket.destroy();
  });
  await Promise.all(late);
  t.equal((await listPets(store, { limit: 10 })).body.text, '[]');
});
