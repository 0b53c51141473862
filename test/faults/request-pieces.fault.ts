/**
 * Clients that send fragments of requests, or fall silent. After the connections have ended, the server must have
 * released everything that they used.
 */
import { setTimeout as wait } from 'node:timers/promises';
import t from 'tap';
import type { CheckedReply } from '../contract-check.ts';
import { buildPick, HEADER_LINES, one, type Pick, WELL_FORMED } from '../engine/http/mutated-requests.ts';
import { type Program, startServer, startWithLog } from '../program.ts';
import { connectRaw } from '../raw-client.ts';
import { KEY } from '../service.ts';
import { addFigures, descriptorsOf } from './figures.ts';

/** The longest time in which a server must release what ended connections used, in milliseconds. */
const LONGEST = 60_000;

/** Waits until the server has at most this number of descriptors, or for a minute, and returns how many it has then. */
async function untilDescriptors(server: Program, most: number): Promise<number> {
  for (const until = performance.now() + LONGEST; descriptorsOf(server) > most && performance.now() < until; )
    await wait(50);
  return descriptorsOf(server);
}

const METHODS = ['GET', 'GET', 'POST', 'HEAD', 'OPTIONS', 'CONNECT', 'PUT'];
const URLS = ['/livez', '/v1/pets', '/v1/pets/1', '/nowhere', '/v1/pets?limit=1', '*', '/docs/static/index.css'];
const VERSIONS = ['1.1', '1.1', '1.1', '1.0', '2.0'];
const CONNECTIONS = ['keep-alive', 'close', 'upgrade\r\nUpgrade: websocket', 'Upgrade, HTTP2-Settings\r\nUpgrade: h2c'];
const CODINGS = ['chunked', 'gzip, chunked', 'identity', 'chunked, chunked'];
const BODIES = [
  '',
  '{"name":"a","categoryId":1}',
  'x'.repeat(70_000),
  '{bad',
  '0\r\n\r\n',
  '1b\r\n{"name":"a","categoryId":1}\r\n0\r\n\r\n',
];

/**
 * Makes the server end the connection. If the bytes before it are an incomplete request, the server's timeout ends it
 * instead.
 */
const LAST = 'GET /livez HTTP/1.1\r\nHost: pets\r\nConnection: close\r\n\r\n';

function makePiece(pick: Pick): string {
  if (pick(4) === 0) return one(WELL_FORMED, pick);
  const body = one(BODIES, pick);
  const lines = [`${one(METHODS, pick)} ${one(URLS, pick)} HTTP/${one(VERSIONS, pick)}`];
  if (pick(8)) lines.push('Host: pets');
  if (pick(2)) lines.push(`Connection: ${one(CONNECTIONS, pick)}`);
  if (pick(3) === 0) lines.push(`Transfer-Encoding: ${one(CODINGS, pick)}`);
  else if (pick(3)) lines.push(`Content-Length: ${pick(5) ? body.length : pick(100)}`);
  if (pick(6) === 0) lines.push('Expect: 100-continue');
  if (pick(2)) lines.push('Content-Type: application/json');
  if (pick(3) === 0) lines.push('X-Forwarded-For: 192.0.2.1', 'Origin: https://a.example');
  if (pick(4) === 0) lines.push(one(HEADER_LINES, pick));
  return `${lines.join('\r\n')}\r\n\r\n${body}`;
}

interface Session {
  /** The packets as texts with one character for each byte. */
  packets: string[];
  /** How long to wait after each packet, in milliseconds. */
  pauses: number[];
  /** How the client ends the connection; undefined if it waits for the server to end it. */
  end: 'reset' | 'half' | undefined;
}

function* makeSessions(seed: number, count: number, key: string): Generator<Session> {
  const pick = buildPick(seed);
  for (let made = 0; made < count; made++) {
    const bytes = Array.from({ length: 1 + pick(5) }, () => makePiece(pick))
      .join('')
      .replaceAll(KEY, key);
    const cuts = Array.from({ length: pick(4) }, () => pick(bytes.length + 1)).sort((a, b) => a - b);
    const packets = [0, ...cuts].map((from, index) =>
      bytes.slice(from, cuts[index] ?? (pick(5) ? bytes.length : pick(bytes.length))),
    );
    const end = one(['reset', 'reset', 'reset', 'half', undefined] as const, pick);
    if (end === undefined) packets.push(LAST);
    yield { packets, pauses: packets.map(() => pick(4)), end };
  }
}

/** The number of sessions. The bug for which this test was written appeared after 103 to 328 of them. */
const COUNT = Number(process.env.SESSIONS ?? 1000);
const SEED = Number(process.env.SEED ?? 1);
/** How many connections are open at the same time. */
const CLIENTS = 40;

const CONFIGURATIONS: Record<string, Record<string, string>> = {
  'with default settings': {},
  'behind a proxy, with traces': {
    TRUST_PROXY: '127.0.0.1',
    UNAUTHORIZED_RATE: '100000/s',
    LOG_LEVEL: 'warn',
    OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:9',
  },
  'with CORS origins': { CORS_ORIGINS: 'https://a.example', ADMIN_PORT: '0' },
  'with narrow limits': { MAX_CONNECTIONS: '30', MAX_PIPELINED: '2', REPLY_TIMEOUT: '1000' },
};

async function play(port: number, { packets, pauses, end }: Session): Promise<CheckedReply[]> {
  const { socket, ended, closed, received } = connectRaw(port);
  await Promise.race([new Promise((resolve) => socket.once('connect', resolve)), closed]);
  for (const [index, packet] of packets.entries()) {
    socket.write(packet, 'latin1');
    if (pauses[index]) await wait(pauses[index]);
  }
  if (end === 'half') socket.end();
  if (end === 'reset') socket.resetAndDestroy();
  else await ended;
  socket.destroy();
  await closed;
  return received().replies;
}

function problemsOf(replies: CheckedReply[]): string[] {
  return replies.flatMap(({ status, headers, text }, index) => [
    ...(replies[index - 1]?.headers.connection === 'close' ? ['a reply behind the last one'] : []),
    ...(headers['x-request-id'] ? [] : [`${status} without an id`]),
    ...(status >= 500 && ![501, 503, 505].includes(status) ? [`${status} ${text}`] : []),
  ]);
}

for (const [name, env] of Object.entries(CONFIGURATIONS)) {
  t.test(`the server survives ${COUNT} connections that send random pieces of requests: ${name}`, async (t) => {
    const server = await startWithLog(t, { env: { REQUEST_TIMEOUT: '500', ...env } });
    const { child, port, key, request, output, exit } = server;
    await request('/livez');
    const before = descriptorsOf(server);
    const sessions = makeSessions(SEED, COUNT, key);
    const problems: string[] = [];
    const statuses: Record<number, number> = {};
    let played = 0;
    async function work(): Promise<void> {
      for (const session of sessions) {
        const replies = await play(port, session);
        played++;
        for (const { status } of replies) statuses[status] = (statuses[status] ?? 0) + 1;
        for (const problem of problemsOf(replies))
          problems.push(
            `${problem}: ${JSON.stringify(session)
              .replace(/x{99,}/g, 'x*')
              .slice(0, 1500)}`,
          );
        if (child.exitCode !== null || child.signalCode !== null) return;
      }
    }
    await Promise.all(Array.from({ length: CLIENTS }, work));
    t.strictSame([child.exitCode, child.signalCode], [null, null], output.stderr);
    t.equal(played, COUNT);
    t.strictSame(problems, []);
    // After this, no connection of the sessions counts towards the limits any more.
    const after = await untilDescriptors(server, before);
    t.ok(after <= before, `${after} descriptors, ${before} before`);
    t.equal((await request('/livez')).status, 200);
    child.kill('SIGTERM');
    t.equal(await exit, 0);
    t.notMatch(output.stdout, /"level":[56]0/);
    const tally = Object.entries(statuses).map(([status, count]) => `${count} × ${status}`);
    addFigures(`${COUNT} sessions of pieces, ${name}`, tally.join(', '));
  });
}

const BODY_TO_COME = 'Content-Type: application/json\r\nContent-Length: 9\r\n';

for (const [name, bytes] of [
  ['CONNECT', 'CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n'],
  ['bytes that are not HTTP', 'nonsense\r\n\r\n'],
  ['slow headers (408)', 'GET / HTTP/1.1\r\nHost: a\r\n'],
  ['slow body (408)', `POST /v1/pets HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${KEY}\r\n${BODY_TO_COME}\r\n`],
  ['slow body without a key (401)', `POST /v1/pets HTTP/1.1\r\nHost: a\r\n${BODY_TO_COME}\r\n`],
] as [string, string][]) {
  t.test(`the server closes the connections of 300 clients that stay silent after ${name}`, async (t) => {
    const server = await startServer(t, { env: { REQUEST_TIMEOUT: '1000' } });
    await server.request('/livez');
    const before = descriptorsOf(server);
    const clients = Array.from({ length: 300 }, () => connectRaw(server.port, bytes));
    await Promise.all(
      clients.map(({ received, socket }) => received().text || new Promise((r) => socket.once('data', r))),
    );
    const start = performance.now();
    const after = await untilDescriptors(server, before);
    const seconds = (performance.now() - start) / 1000;
    t.ok(after <= before && seconds < 20, `${after} descriptors after ${seconds} s, ${before} before`);
    for (const { socket } of clients) socket.destroy();
    addFigures(`300 silent clients: ${name}`, `their descriptors are back after ${seconds.toFixed(1)} s`);
  });
}
