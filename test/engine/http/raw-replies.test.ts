import { once } from 'node:events';
import { connect } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { promisify } from 'node:util';
import t from 'tap';
import { loadConfig } from '../../config.ts';
import { type CheckedReply, ContractCheck } from '../../contract-check.ts';
import { listPets, type OwnStore, openUrl } from '../../database.ts';
import { startServer } from '../../program.ts';
import { connectRaw } from '../../raw-client.ts';
import { KEY, startService } from '../../service.ts';

const check = new ContractCheck();

const head = (start: string, ...headers: string[]) =>
  [`${start} HTTP/1.1`, 'Host: pets', `Authorization: Bearer ${KEY}`, ...headers, '', ''].join('\r\n');

const post = (body: string, length = body.length) =>
  `${head('POST /v1/pets', 'Content-Type: application/json', `Content-Length: ${length}`)}${body}`;

const CHUNKED = ['Content-Type: application/json', 'Transfer-Encoding: chunked'];
const CONNECT = 'CONNECT pets:443 HTTP/1.1\r\nHost: pets\r\n\r\n';
const PET = '{"name":"Rex","categoryId":1}';

/** Returns the statuses of replies, and checks that each reply is valid by the contract. */
function statusesOf(replies: CheckedReply[]): number[] {
  for (const reply of replies) {
    const problems = check.problemsOf(reply.status === 201 ? 'POST' : 'GET', '/v1/pets', reply);
    if (problems.length > 0) throw new Error(problems.join('; '));
  }
  return replies.map(({ status }) => status);
}

/** Makes a store whose creates wait until `letGo` is called. */
function buildSlowStore(): { store: OwnStore; letGo: () => void; created: string[] } {
  const store = openUrl('sqlite::memory:');
  const created: string[] = [];
  let letGo = () => {};
  const gate = new Promise<void>((resolve) => {
    letGo = resolve;
  });
  const create: OwnStore['records']['create'] = async (pet) => {
    created.push(pet.name);
    await gate;
    return store.records.create(pet);
  };
  return { store: { ...store, collections: { pets: { ...store.records, create } } }, letGo: () => letGo(), created };
}

/** Makes a log that collects its lines as objects. */
function buildLog() {
  const lines: Record<string, unknown>[] = [];
  return { lines, write: (line: string) => lines.push(JSON.parse(line)) };
}

t.test(
  'after the reply to CONNECT, a 400 or a 408, the server closes the connection even if the client stays silent',
  async (t) => {
    for (const [requestTimeout, sent, expected] of [
      [60_000, [CONNECT, 'nonsense\r\n\r\n'], [[405], [400]]],
      [200, ['GET / HTTP/1.1\r\nHost: pets\r\n', post('{"name":', 100)], [[408], [408]]],
    ] as const) {
      const { app, port } = await startService(t, { requestTimeout });
      const clients = sent.map((bytes) => connectRaw(port, bytes));
      const statuses = await Promise.all(clients.map(async ({ replies }) => statusesOf(await replies())));
      t.strictSame(statuses, expected);
      // The clients keep their side open, so only the server can close the connections.
      const count = promisify(app.server.getConnections.bind(app.server));
      while ((await count()) > 0) await wait(50);
      for (const { socket } of clients) socket.destroy();
    }
  },
);

t.test(
  'a client that resets a CONNECT does not end the process, and an open CONNECT does not delay SIGTERM',
  async (t) => {
    const { child, port, request, exit } = await startServer(t, { env: { DRAIN_DELAY: '0' }, isCovered: true });
    for (let count = 0; count < 5; count++) {
      const { socket } = connectRaw(port, CONNECT);
      await once(socket, 'data');
      socket.resetAndDestroy();
    }
    t.equal((await request('/livez')).status, 200);
    const { socket } = connectRaw(port, CONNECT);
    await once(socket, 'data');
    child.kill('SIGTERM');
    t.equal(await exit, 0);
    socket.destroy();
  },
);

t.test('a CONNECT behind replies that the client does not read delays the stop by at most STOP_TIMEOUT', async (t) => {
  const { child, port, exit } = await startServer(t, {
    env: { DRAIN_DELAY: '0', STOP_TIMEOUT: '1000' },
    isCovered: true,
  });
  const page = 'GET /docs/static/swagger-ui-bundle.js HTTP/1.1\r\nHost: pets\r\n\r\n';
  const socket = connect(port, '127.0.0.1').on('error', () => {});
  socket.write(page.repeat(20) + CONNECT);
  await once(socket, 'readable');
  child.kill('SIGTERM');
  t.equal(await exit, 0);
  socket.destroy();
});

t.test('a client that sends its headers or its body too slowly gets 408', async (t) => {
  const { port } = await startService(t, { requestTimeout: 1000 });
  const began = Date.now();
  const clients = ['GET /v1/pets HTTP/1.1\r\nHost: pets\r\n', post(PET, 100)].map((bytes) => connectRaw(port, bytes));
  const drip = setInterval(() => clients.map(({ socket }) => socket.write('x')), 100);
  t.strictSame(await Promise.all(clients.map(async ({ replies }) => statusesOf(await replies()))), [[408], [408]]);
  clearInterval(drip);
  t.ok(Date.now() - began < 20_000, 'the reply arrives long before a minute has passed');
  for (const { socket } of clients) socket.destroy();
});

t.test('the server executes no request after a 408, so that the client may safely send it again', async (t) => {
  const { store, port } = await startService(t, { requestTimeout: 300 });
  const { socket, replies } = connectRaw(port, post(PET.slice(0, 9), PET.length));
  const [reply] = await replies(1);
  socket.write(PET.slice(9) + post(PET));
  t.equal(reply?.status, 408);
  t.strictSame(statusesOf(await replies()), [408]);
  t.equal((await listPets(store, { limit: 10 })).body.text, '[]');
});

t.test('a malformed request gets its 400 after the replies to earlier requests on the connection', async (t) => {
  for (const bad of ['nonsense\r\n\r\n', CONNECT, `${head('POST /v1/pets', ...CHUNKED)}zz\r\n`]) {
    const { store, letGo } = buildSlowStore();
    const { port } = await startService(t, { store });
    const { replies } = connectRaw(port, post(PET) + post(PET) + bad);
    await wait(100);
    letGo();
    t.strictSame(statusesOf(await replies()), [201, 201, bad === CONNECT ? 405 : 400], bad);
  }
});

t.test(
  'a malformed request behind a create gets its 400, even if the client has closed its sending side',
  async (t) => {
    for (const bad of ['nonsense\r\n\r\n', CONNECT, `${head('POST /v1/pets', ...CHUNKED)}zz\r\n`, 'GET / HT']) {
      const { store, letGo, created } = buildSlowStore();
      const { port } = await startService(t, { store });
      const { socket, replies } = connectRaw(port, post(PET) + bad);
      socket.end();
      while (created.length < 1) await wait(10);
      await wait(100);
      letGo();
      t.strictSame(statusesOf(await replies()), [201, bad === CONNECT ? 405 : 400], bad);
    }
  },
);

t.test('a pipelined request waits until the server has answered the request before it', async (t) => {
  const { store, letGo, created } = buildSlowStore();
  const { port } = await startService(t, { store });
  const { replies, socket } = connectRaw(port, post(PET) + post(PET) + head('GET /v1/pets'));
  while (created.length < 1) await wait(10);
  await wait(100);
  t.equal(created.length, 1);
  letGo();
  const [first, second, list] = await replies(3);
  t.strictSame([first?.status, second?.status, list?.text.match(/"id"/g)?.length], [201, 201, 2]);
  socket.destroy();
});

t.test(
  'if a body turns out to be malformed after its request was answered, the client gets no second reply',
  async (t) => {
    const { port } = await startService(t, { limits: loadConfig({ MAX_PIPELINED: '1' }) });
    const over = connectRaw(port, head('GET /v1/pets') + head('POST /v1/pets', ...CHUNKED));
    await over.replies(2);
    over.socket.write('zz\r\n');
    t.strictSame(
      statusesOf(await over.replies()),
      [200, 503],
      'a body that turns malformed after a 503 over the limits',
    );
    over.socket.destroy();
    const { store, letGo, created } = buildSlowStore();
    const slow = await startService(t, { store, limits: loadConfig({ MAX_PIPELINED: '1' }) });
    const waiting = connectRaw(slow.port, `${post(PET) + head('POST /v1/pets', ...CHUNKED)}zz\r\n`);
    while (created.length < 1) await wait(10);
    letGo();
    t.strictSame(
      statusesOf(await waiting.replies()),
      [201, 400],
      'a malformed body behind a reply that is still to come',
    );
    waiting.socket.destroy();
    const { socket, replies } = connectRaw(port, head('GET /v1/pets', ...CHUNKED));
    await replies(1);
    socket.write('zz\r\n');
    t.strictSame(statusesOf(await replies()), [200]);
    socket.destroy();
  },
);

t.test('the server never sends 100 Continue in the middle of a reply', async (t) => {
  const { port } = await startService(t);
  const { replies, received, socket } = connectRaw(
    port,
    head('GET /v1/pets') + head('GET /docs/static/page.css', 'Expect: 100-continue', 'Connection: close'),
  );
  t.strictSame(
    (await replies()).map(({ status }) => status),
    [200, 200],
  );
  t.equal(received().rest, '');
  socket.destroy();
});

t.test(
  'after the last reply of a connection, the server sends nothing more, whatever the client still sends',
  async (t) => {
    const { port } = await startService(t);
    const lasts = [
      head('GET /v1/pets', 'Connection: close'),
      head('GET /livez', 'Connection: close'),
      'GET /livez HTTP/1.0\r\n\r\n',
      'GET /livez HTTP/2.0\r\nHost: pets\r\n\r\n',
      'PUT /v1/pets HTTP/1.0\r\n\r\n',
      head('GET /livez', 'Transfer-Encoding: gzip, chunked'),
    ];
    for (const last of lasts) {
      for (const behind of ['nonsense\r\n\r\n', 'GET /livez HTTP/1.1\r\nHost: ', post(PET, 100), CONNECT]) {
        const { socket, replies } = connectRaw(port, last + behind);
        const { length } = await replies();
        t.equal(length, 1, last + behind);
        socket.destroy();
      }
    }
  },
);

t.test('every request leaves one line in the log, even a malformed one', async (t) => {
  const log = buildLog();
  const { port } = await startService(t, { log, requestTimeout: 200 });
  const sent = [
    head('GET /v1/pets'),
    head('GET /v1/pets/%zz'),
    head(`GET /v1/pets/${'1'.repeat(9000)}`),
    head('GET /v1/pets', 'Expect: a miracle'),
    head('QUERY /v1/pets'),
    head('GET /docs/static/nope'),
    CONNECT,
    'nonsense\r\n\r\n',
    post('{', 100),
    `${head('POST /v1/pets', ...CHUNKED)}zz\r\n`,
  ];
  for (const bytes of sent) {
    const { replies, socket, closed } = connectRaw(port, bytes);
    const [reply] = await replies(1);
    socket.destroy();
    await closed;
    const lines = log.lines.splice(0);
    t.equal(lines.length, 1, bytes.slice(0, 40));
    t.match(lines[0], { level: 30, reqId: reply?.headers['x-request-id'], status: reply?.status });
  }
});

t.test(
  'if a client disconnects, the log has one line for each request that the client began, and no error',
  async (t) => {
    const log = buildLog();
    const { store, letGo, created } = buildSlowStore();
    const { app, port } = await startService(t, { log, store });
    const count = promisify(app.server.getConnections.bind(app.server));
    const arrived = once(app.server, 'request');
    const sending = connectRaw(port, post('{', 100));
    await arrived;
    sending.socket.resetAndDestroy();
    const waiting = connectRaw(port, post(PET) + post(PET));
    while (created.length < 1) await wait(10);
    waiting.socket.resetAndDestroy();
    while ((await count()) > 0) await wait(10);
    letGo();
    while (log.lines.length < 2) await wait(10);
    await wait(50);
    t.strictSame(
      log.lines.map(({ level, msg, method, url }) => ({ level, msg, method, url })),
      Array(2).fill({ level: 30, msg: 'request aborted', method: 'POST', url: '/v1/pets' }),
    );
  },
);
