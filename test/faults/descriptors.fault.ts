import { setTimeout as wait } from 'node:timers/promises';
import t from 'tap';
import { type Server, startServer } from '../program.ts';
import { connectRaw, type RawClient } from '../raw-client.ts';
import { KEY } from '../service.ts';
import { addFigures, descriptorsOf } from './figures.ts';

const BODY_TO_COME = 'Content-Type: application/json\r\nContent-Length: 9\r\n';

/** The most descriptors while the clients are there, and how long until all are back, in seconds. */
async function watch(server: Server, before: number, limit: number): Promise<{ most: number; seconds: number }> {
  const start = Date.now();
  let most = 0;
  for (;;) {
    const count = descriptorsOf(server);
    const seconds = (Date.now() - start) / 1000;
    most = Math.max(most, count);
    if (count <= before || seconds > limit) return { most, seconds };
    await wait(50);
  }
}

for (const [name, bytes] of [
  ['CONNECT', 'CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n'],
  ['no HTTP', 'nonsense\r\n\r\n'],
  ['slow headers (408)', 'GET / HTTP/1.1\r\nHost: a\r\n'],
  ['slow body (408)', `POST /v1/pets HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${KEY}\r\n${BODY_TO_COME}\r\n`],
  ['slow body without a key (401)', `POST /v1/pets HTTP/1.1\r\nHost: a\r\n${BODY_TO_COME}\r\n`],
] as [string, string][]) {
  t.test(`300 clients that stay silent after ${name} lose their connections`, async (t) => {
    const server = await startServer(t, { env: { REQUEST_TIMEOUT: '1000' } });
    await server.request('/livez');
    const before = descriptorsOf(server);
    const clients = Array.from({ length: 300 }, () => connectRaw(server.port, bytes));
    await Promise.all(
      clients.map(({ received, socket }) => received().text || new Promise((r) => socket.once('data', r))),
    );
    const { most, seconds } = await watch(server, before, 20);
    t.ok(seconds < 20, `${seconds} s`);
    for (const { socket } of clients) socket.destroy();
    addFigures(
      `300 silent clients: ${name}`,
      `descriptors ${before} before, ${most} at most, all back after ${seconds} s`,
    );
  });
}

t.test(
  "240 clients that ask for the page's files at once, and go, leave no descriptor, and others are served",
  async (t) => {
    const server = await startServer(t);
    await server.request('/livez');
    const before = descriptorsOf(server);
    const assets = ['swagger-ui-bundle.js', 'swagger-ui.css', 'reading.css', 'reading.js'];
    const bytes = assets.map((name) => `GET /docs/static/${name} HTTP/1.1\r\nHost: a\r\n\r\n`).join('');
    const clients: RawClient[] = Array.from({ length: 240 }, () => connectRaw(server.port, bytes));
    await Promise.all(clients.map(({ socket }) => new Promise((resolve) => socket.once('data', resolve))));
    const most = descriptorsOf(server);
    for (const { socket } of clients) socket.resetAndDestroy();
    const { seconds } = await watch(server, before, 20);
    const after = descriptorsOf(server);
    t.ok(after <= before, `${after} descriptors, ${before} before`);
    const replies = await Promise.all(Array.from({ length: 64 }, () => server.request('/livez')));
    t.ok(replies.every(({ status }) => status === 200));
    addFigures(
      "240 clients of the page's files",
      `descriptors ${before} before, ${most} during, ${after} ${seconds} s after`,
    );
  },
);
