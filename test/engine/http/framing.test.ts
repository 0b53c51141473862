import { setTimeout as wait } from 'node:timers/promises';
import t from 'tap';
import { listPets } from '../../database.ts';
import { connectRaw, sendRaw } from '../../raw-client.ts';
import { KEY, startService } from '../../service.ts';

const PET = '{"name":"Rex","categoryId":1}';
const CHUNKED_PET = `${PET.length.toString(16)}\r\n${PET}\r\n0\r\n\r\n`;
const AUTHORIZED = `Authorization: Bearer ${KEY}`;
const CONNECT = 'CONNECT pets:443 HTTP/1.1\r\nHost: pets\r\n\r\n';
const GET = `GET /v1/pets HTTP/1.1\r\nHost: pets\r\n${AUTHORIZED}\r\n\r\n`;

t.test(
  'an HTTP/1.0 request with Transfer-Encoding gets 400, and nothing after it is served (RFC 9112, section 6.1)',
  async (t) => {
    const { port, store } = await startService(t);
    for (const connection of ['keep-alive', 'close']) {
      const head = [
        'POST /v1/pets HTTP/1.0',
        AUTHORIZED,
        'Content-Type: application/json',
        `Connection: ${connection}`,
      ];
      const bytes = `${[...head, 'Transfer-Encoding: chunked', '', ''].join('\r\n')}${CHUNKED_PET}${GET}`;
      t.match(await sendRaw(port, bytes), [{ status: 400, headers: { connection: 'close' } }]);
    }
    t.equal((await listPets(store, { limit: 10 })).body.text, '[]');
  },
);

t.test(
  'if a header that may occur only once is repeated, the reply is 400, because a proxy could use the other value',
  async (t) => {
    const { port } = await startService(t);
    for (const twice of [
      ['Host: pets', 'Host: pets'],
      ['Host: pets', 'host: others'],
      ['Host: pets', AUTHORIZED, AUTHORIZED],
      ['Host: pets', AUTHORIZED, 'AUTHORIZATION: Bearer wrong'],
      ['Host: pets', AUTHORIZED, 'Content-Type: application/json', 'Content-Type: text/plain'],
      ['Host: pets', AUTHORIZED, 'Content-Type: text/plain;a="b,"', 'Content-Type: text/plain'],
      ['Host:', AUTHORIZED, 'Host: pets'],
    ]) {
      const bytes = ['GET /v1/pets HTTP/1.1', ...twice, 'Connection: close', '', ''].join('\r\n');
      const [reply] = await sendRaw(port, bytes);
      t.equal(reply?.status, 400, twice.join(', '));
      t.match(JSON.parse(reply?.text as string), { code: 'malformed_request' });
    }
  },
);

t.test('a client that closes its sending side still gets the replies to all its earlier requests', async (t) => {
  // Writing to a disk delays the replies to the creates, so that the server sees the end of the sending side first.
  const { port } = await startService(t, { databaseUrl: `sqlite:${t.testdir()}/pets.db` });
  const head = `POST /v1/pets HTTP/1.1\r\nHost: pets\r\n${AUTHORIZED}\r\nContent-Type: application/json\r\n`;
  const create = `${head}Content-Length: ${PET.length}\r\n\r\n${PET}`;
  for (const [sent, statuses] of [
    [create, [201]],
    [create + GET + create, [201, 200, 201]],
    [GET, [200]],
    ['', []],
  ] as [string, number[]][]) {
    const client = connectRaw(port, sent);
    client.socket.end();
    t.strictSame(
      (await client.replies()).map(({ status }) => status),
      statuses,
    );
    await client.closed;
  }
  // A client may also close its sending side after the last reply.
  const late = connectRaw(port, GET);
  await late.replies(1);
  await wait(50);
  late.socket.end();
  await late.closed;
});

t.test('the server reads every header of a request, even after thousands of others', async (t) => {
  const { port, store } = await startService(t);
  const many = Array.from({ length: 3500 }, () => 'a:');
  const create = (...more: string[]) => {
    const head = ['POST /v1/pets HTTP/1.1', 'Host: pets', ...more, 'Connection: close'];
    return sendRaw(port, `${[...head, `Content-Length: ${PET.length}`, '', ''].join('\r\n')}${PET}`);
  };
  const own = [AUTHORIZED, 'Content-Type: application/json'];
  t.match(await create(...many, ...own, 'Idempotency-Key: once'), [{ status: 201 }]);
  t.match(await create(...own, ...many, 'Idempotency-Key: once'), [{ status: 201 }]);
  t.equal((await listPets(store, { limit: 10 })).body.text.match(/"id"/g)?.length, 1);
  t.match(await create(...own, ...many, AUTHORIZED), [{ status: 400 }]);
  t.match(await create(...own, ...many, 'Content-Encoding: gzip'), [{ status: 415 }]);
});

t.test(
  'an unknown transfer coding gets 501, or 400 if chunked is not the last coding (RFC 9112, sections 6.1 and 6.3)',
  async (t) => {
    const { port, store } = await startService(t);
    for (const [coding, status] of [
      ['gzip, chunked', 501],
      ['foo,chunked', 501],
      ['identity', 400],
      ['chunked, chunked', 400],
      ['chunked;a=b', 400],
    ] as const) {
      const head = ['POST /v1/pets HTTP/1.1', 'Host: pets', AUTHORIZED, 'Content-Type: application/json'];
      const bytes = `${[...head, `Transfer-Encoding: ${coding}`, '', ''].join('\r\n')}${CHUNKED_PET}${GET}`;
      t.match(await sendRaw(port, bytes), { length: 1, 0: { status, headers: { connection: 'close' } } }, coding);
    }
    t.equal((await listPets(store, { limit: 10 })).body.text, '[]');
  },
);

t.test('a request target or a Host header that HTTP/1.1 does not allow gets 400', async (t) => {
  const { port } = await startService(t);
  for (const head of ['GET * HTTP/1.1\r\nHost: pets', 'GET /livez HTTP/1.1'])
    t.match(await sendRaw(port, `${head}\r\nConnection: close\r\n\r\n`), [{ status: 400 }], head);
  const get = (host: string) => sendRaw(port, `GET /livez HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`);
  for (const host of ['a b', 'a/b', 'ada@pets', '[::1', 'pets#a', 'pets?a', 'pets:80a', 'a\\b', '"a"', '<a>'])
    t.match(await get(host), [{ status: 400 }], host);
  for (const host of [
    '',
    'pets',
    'pets:80',
    'pets:',
    '[::1]',
    '[::1]:80',
    '127.0.0.1',
    'a_b',
    'b%C3%BCro',
    '[fe80::1%25en0]',
    '[v1.a~b]:80',
  ])
    t.match(await get(host), [{ status: 200 }], host);
});

t.test('an Expect header other than 100-continue gets 417', async (t) => {
  const { port } = await startService(t);
  const get = (expect: string) =>
    sendRaw(port, `GET /livez HTTP/1.1\r\nHost: a\r\nExpect: ${expect}\r\nConnection: close\r\n\r\n`);
  for (const expect of ['100-continue, foo', 'foo, 100-continue', 'foo-100-continue', '100-continued', 'foo'])
    t.match(await get(expect), [{ status: 417 }], expect);
  for (const expect of [
    '100-continue',
    '100-Continue',
    '100-continue, 100-continue',
    '100-continue ,',
    ', 100-continue',
    '',
  ])
    t.equal((await get(expect)).at(-1)?.status, 200, expect);
});

t.test('the server rejects a long invalid Expect header without much processor time', async (t) => {
  const { port } = await startService(t);
  for (const part of [', ', ' ,', '100-continue, ', '100-continue\t']) {
    const expect = part.repeat(15_000 / part.length);
    const head = `GET /livez HTTP/1.1\r\nHost: a\r\nConnection: close\r\nExpect: ${expect}x\r\n\r\n`;
    const before = process.cpuUsage();
    t.equal((await sendRaw(port, head)).at(-1)?.status, 417, part);
    t.ok(process.cpuUsage(before).user < 1e6, `${part}: microseconds of the processor`);
  }
});

const UPGRADE = 'Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAEAAEAAAAIAAAABAAMAAABk\r\n';
const CREATE = `POST /v1/pets HTTP/1.1\r\nHost: a\r\n${AUTHORIZED}\r\nContent-Type: application/json\r\nContent-Length: ${PET.length}\r\n\r\n${PET}`;
const asking = (request: string) => request.replace('Host', `${UPGRADE}Host`);

t.test(
  'a request with Upgrade is served as a plain request; bytes after the request are ignored (RFC 9112, section 9.6)',
  async (t) => {
    const lines: string[] = [];
    const { port, store } = await startService(t, {
      databaseUrl: `sqlite:${t.testdir()}/pets.db`,
      log: { write: (line) => void lines.push(line) },
    });
    const asked = GET + CREATE + asking(CREATE);
    for (const behind of ['', GET + CREATE, asking(CREATE), CREATE.slice(0, 30), 'nonsense\r\n\r\n', CONNECT]) {
      const all = asked + behind + CREATE.repeat(5);
      // Sends all bytes in one packet, or in two: cut after the upgrade request, within its head, or within its body.
      for (const cut of [all.length, asked.length, asked.length - 60, asked.length - 5]) {
        const { socket, replies, closed } = connectRaw(port, all.slice(0, cut));
        const errors: unknown[] = [];
        socket.on('error', (error) => errors.push(error));
        await wait(10);
        socket.write(all.slice(cut));
        t.match(await replies(), [{ status: 200 }, { status: 201 }, { status: 201, headers: { connection: 'close' } }]);
        socket.end();
        await closed;
        t.strictSame(errors, [], 'the connection is not reset');
      }
    }
    t.equal((await listPets(store, { limit: 100 })).body.text.match(/"id"/g)?.length, 2 * 24);
    t.equal(lines.length, 3 * 24);
  },
);

t.test(
  'if a plugin sets `Connection: keep-alive` on the last reply of a connection, the server still closes the connection',
  async (t) => {
    const { port } = await startService(t, {
      addPlugins: async (app) =>
        void app.addHook('onSend', async (_request, reply) => void reply.header('Connection', 'keep-alive')),
    });
    const last = { length: 1, 0: { status: 200, headers: { connection: 'close' } } };
    t.match(await sendRaw(port, asking(GET) + GET), last);
    t.match(await sendRaw(port, `${GET.replace('Host', 'Transfer-Encoding: chunked\r\nHost')}5\r\n`), last);
  },
);

t.test('a client that closes its sending side after a request with Upgrade gets all replies', async (t) => {
  const { port } = await startService(t, { databaseUrl: `sqlite:${t.testdir()}/pets.db` });
  for (const [sent, statuses] of [
    [CREATE + asking(GET), [201, 200]],
    [CREATE.repeat(3) + asking(CREATE), [201, 201, 201, 201]],
    [asking(GET), [200]],
  ] as const) {
    const { socket, replies, closed } = connectRaw(port, sent);
    socket.end();
    t.strictSame(
      (await replies()).map(({ status }) => status),
      statuses,
    );
    await closed;
  }
});

t.test('the server checks a request with Upgrade as strictly as any other request', async (t) => {
  const { port } = await startService(t);
  const ask = (...headers: string[]) =>
    ['GET /livez HTTP/1.1', 'Host: a', 'Connection: close, Upgrade', 'Upgrade: websocket', ...headers, '', ''].join(
      '\r\n',
    );
  t.match(await sendRaw(port, ask()), [{ status: 200, headers: { connection: 'close' } }]);
  t.match(await sendRaw(port, ask('Transfer-Encoding: gzip, chunked') + GET), { length: 1, 0: { status: 501 } });
  t.match(await sendRaw(port, ask('Host: b')), [{ status: 400 }]);
  t.match(
    await sendRaw(port, ask() + GET),
    { length: 1, 0: { status: 200 } },
    'a request after the last one is not served',
  );
});
