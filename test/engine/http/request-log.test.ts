import { execFileSync } from 'node:child_process';
import { setTimeout as wait } from 'node:timers/promises';
import { pino } from 'pino';
import t from 'tap';
import { makeKey, toStoredKey } from '../../../src/contract-first/store/api-keys.ts';
import { loadConfig } from '../../config.ts';
import { ContractCheck } from '../../contract-check.ts';
import { openUrl } from '../../database.ts';
import { connectRaw } from '../../raw-client.ts';
import { KEY, startService } from '../../service.ts';

/** A script that sends a request and resets the connection, before the server in this process reads either. */
const GO_AWAY = `
  const socket = require('node:net').connect(Number(process.argv[1]), '127.0.0.1', () =>
    socket.write('GET /v1/pets HTTP/1.1\\r\\nHost: pets\\r\\n\\r\\n', () => socket.resetAndDestroy()));`;

const check = new ContractCheck();

function buildLog() {
  const lines: string[] = [];
  const write = (line: string) => lines.push(line);
  /** Resolves with the fields of the log line with this number. */
  async function fields(number: number): Promise<Record<string, unknown>> {
    while (lines.length < number) await wait(10);
    return JSON.parse(lines[number - 1] as string);
  }
  return { lines, write, fields };
}

t.test('the log line of a request has the same text as a line of the pino logger, for any URL', async (t) => {
  const log = buildLog();
  const { port } = await startService(t, { log });
  const urls = ['/v1/pets?status=sold', '/"quoted"', '/back\\slash', "/<&>'", '/%22%00'];
  for (const [index, url] of urls.entries()) {
    connectRaw(port, `GET ${url} HTTP/1.1\r\nHost: pets\r\nConnection: close\r\n\r\n`);
    const { level, time, pid, hostname, ...fields } = await log.fields(index + 1);
    t.equal(fields.url, url);
    t.equal(fields.ip, '127.0.0.1');
    let expected = '';
    const write = (line: string) => {
      expected = line;
    };
    pino({ timestamp: () => `,"time":${time}` }, { write }).info(fields);
    t.equal(log.lines[index], expected);
  }
});

t.test('the log line of a request names the operation and the caller', async (t) => {
  const log = buildLog();
  const store = openUrl('sqlite::memory:');
  const key = makeKey('petstore');
  const stored = toStoredKey(key, 'Ada "A" 🔑');
  await store.createKey(stored);
  const { request } = await startService(t, { log, store });
  const { id: keyId, name: keyName } = stored;
  for (const [index, [url, sent, expected]] of [
    ['/v1/pets', key, { operationId: 'listPets', keyId, keyName }],
    ['/v1/pets/7', KEY, { operationId: 'getPet', keyId: /^API_KEYS\.[0-9a-f]{8}$/, keyName: 'API_KEYS' }],
    ['/v1/pets/7', 'wrong', { operationId: 'getPet', keyId: undefined, keyName: undefined }],
    ['/v1/nothing', key, { operationId: undefined, keyId: undefined, keyName: undefined }],
  ].entries() as Iterable<[number, [string, string, object]]>) {
    await request(url, { key: sent });
    const { operationId, keyId, keyName } = await log.fields(index + 1);
    t.match({ operationId, keyId, keyName }, expected);
  }
});

t.test(
  'the log line of a create that was repeated with its Idempotency-Key says that its reply was replayed',
  async (t) => {
    const log = buildLog();
    const { request } = await startService(t, { log });
    const headers = { 'idempotency-key': 'one' };
    for (const [index, replayed] of [undefined, true].entries()) {
      await request('/v1/pets', { method: 'POST', body: { name: 'Rex', categoryId: 7 }, headers });
      t.match(await log.fields(index + 1), { replayed, status: 201 });
    }
  },
);

t.test(
  'the log line and the request id contain the trace id of a valid traceparent; an invalid one is ignored',
  async (t) => {
    const log = buildLog();
    const { request } = await startService(t, { log });
    const [traceId, parentId] = ['0af7651916cd43dd8448eb211c80319c', 'b7ad6b7169203331'];
    const valid = `00-${traceId}-${parentId}-01`;
    const cases: [sent: string | string[], isValid: boolean][] = [
      [valid, true],
      [`cc-${traceId}-${parentId}-ff`, true],
      [`cc-${traceId}-${parentId}-01-what-the-future-brings`, true],
      [`cc-${traceId}-${parentId}-01.what`, false],
      [`${valid}-more`, false],
      [`${valid}-`, false],
      [`ff-${traceId}-${parentId}-01`, false],
      [`00-${traceId.toUpperCase()}-${parentId}-01`, false],
      [`00-${'0'.repeat(32)}-${parentId}-01`, false],
      [`00-${traceId}-${'0'.repeat(16)}-01`, false],
      [`00-${traceId}-${parentId}`, false],
      [`00-${traceId}-${parentId}-1`, false],
      ['', false],
      [[valid, valid], false],
    ];
    for (const [index, [traceparent, isValid]] of cases.entries()) {
      const id = (await request('/v1/pets?limit=0', { headers: { traceparent } })).headers['x-request-id'] as string;
      const fields = await log.fields(index + 1);
      t.match(id, isValid ? new RegExp(`^[\\w-]{8}-\\w+\\.${traceId}$`) : /^[\w-]{8}-\w+$/, String(traceparent));
      const expected = isValid
        ? { reqId: id, traceId, parentId }
        : { reqId: id, traceId: undefined, parentId: undefined };
      t.strictSame({ reqId: fields.reqId, traceId: fields.traceId, parentId: fields.parentId }, expected);
    }
  },
);

t.test('each rejected request gets its own log line, even over a rate limit and in a flood of requests', async (t) => {
  const log = buildLog();
  const store = openUrl('sqlite::memory:');
  const key = makeKey('petstore');
  const stored = toStoredKey(key, 'Ada', undefined, undefined, '1/d');
  await store.createKey(stored);
  const { id: keyId, name: keyName } = stored;
  const limits = loadConfig({ UNAUTHORIZED_RATE: '1/d' });
  const { app, port } = await startService(t, { log, store, limits, trustProxy: ['127.0.0.1'] });
  const ip = '192.0.2.1';
  const get = (sent: string) =>
    `GET /v1/pets HTTP/1.1\r\nHost: pets\r\nAuthorization: Bearer ${sent}\r\nX-Forwarded-For: ${ip}\r\n\r\n`;
  const client = connectRaw(port, get(key).repeat(3) + get('wrong').repeat(30));
  for (const reply of await client.replies(33)) t.strictSame(check.problemsOf('GET', '/v1/pets', reply), []);
  client.socket.destroy();
  await app.close();
  const lines = log.lines
    .map((line) => JSON.parse(line))
    .map((line) => [line.status, line.keyId, line.keyName, line.ip]);
  const expected = [
    [200, keyId, keyName, ip],
    ...Array(2).fill([429, keyId, keyName, ip]),
    [401, undefined, undefined, ip],
    ...Array(29).fill([429, undefined, undefined, ip]),
  ];
  t.strictSame(lines.sort(), expected.sort());
});

t.test(
  'behind a trusted proxy, the log line of a request contains the client address that the proxy sent',
  async (t) => {
    for (const [trustProxy, forwarded, expected] of [
      [[], '192.0.2.1', '127.0.0.1'],
      [['192.0.2.0/24'], '198.51.100.7', '127.0.0.1'],
      [['127.0.0.1'], undefined, '127.0.0.1'],
      [['127.0.0.1'], '198.51.100.7', '198.51.100.7'],
      [['127.0.0.1'], '203.0.113.9, 198.51.100.7', '198.51.100.7'],
      [['127.0.0.0/8', '198.51.100.7', 'fd00::/8'], '203.0.113.9, fd00::1, 198.51.100.7', '203.0.113.9'],
      [['127.0.0.0/8'], '"what', '127.0.0.1'],
      [['127.0.0.0/8', '::ffff:198.51.100.0/120'], '2001:DB8::0, [::ffff:198.51.100.7]:80', '2001:db8::'],
    ] as [string[], string | undefined, string][]) {
      const log = buildLog();
      const { request } = await startService(t, { log, trustProxy });
      await request('/v1/pets', { headers: forwarded === undefined ? {} : { 'x-forwarded-for': forwarded } });
      t.equal((await log.fields(1)).ip, expected, `${trustProxy} ${forwarded}`);
    }
  },
);

t.test(
  'if a connection is reset before the server reads its request, the log line of the request has no client address',
  async (t) => {
    for (const trustProxy of [[], ['127.0.0.1']]) {
      const log = buildLog();
      const { port } = await startService(t, { log, trustProxy });
      execFileSync(process.execPath, ['-e', GO_AWAY, `${port}`]);
      const { method, url, ip } = await log.fields(1);
      t.strictSame({ method, url, ip }, { method: 'GET', url: '/v1/pets', ip: undefined });
    }
  },
);

t.test(
  'log lines of a plugin contain the request id; the request still gets one log line from the server',
  async (t) => {
    const log = buildLog();
    const { app, request } = await startService(t, {
      log,
      addPlugins: async (app) => {
        app.log.info('the team has come');
        app.addHook('onRequest', async ({ log, raw }) => {
          if (raw.url !== '/v1/pets') return;
          log.warn({ share: 2 }, 'seen');
          log.child({ part: 'door' }).info('seen closer');
          log.level = log.level === 'info' ? 'error' : 'info';
          log.info('not seen');
        });
        app.get('/own', { logLevel: 'error' }, async (request) => {
          request.log.warn('too quiet for this route');
          request.log.error({ req: request.raw }, 'heard');
          return {};
        });
        app.addHook('onResponse', async ({ url }) => {
          if (url === '/livez') throw new Error('behind the reply');
        });
      },
    });
    const ids: unknown[] = [];
    for (const url of ['/v1/pets', '/own?key=petstore_secretsecretsecret', '/livez'])
      ids.push((await request(url)).headers['x-request-id']);
    await app.close();
    const lines = log.lines.map((line) => JSON.parse(line));
    const reported = lines.map(({ level, reqId, msg, url }) => [level, ids.indexOf(reqId), msg, url]);
    t.strictSame(
      reported.filter(([, , msg]) => msg !== 'request'),
      [
        [30, -1, 'the team has come', undefined],
        [40, 0, 'seen', undefined],
        [30, 0, 'seen closer', undefined],
        [50, 1, 'heard', undefined],
        [50, 2, 'a hook failed after the reply', undefined],
      ],
    );
    t.equal(reported.filter(([, , msg]) => msg === 'request').length, 3);
    t.notMatch(log.lines.join(''), 'petstore_secret');
  },
);
