import { connect, type Socket } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import t from 'tap';
import { type Server, startServer } from '../program.ts';
import { KEY, send } from '../service.ts';
import { addFigures, memoryOf, usedBy } from './figures.ts';
import { startGenerator, startOnCore } from './generators.ts';
import type { OpenLoad, OpenLoadResult } from './open-loop.ts';

const REQUEST = `GET /v1/pets HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${KEY}\r\n\r\n`;

const start = () =>
  startOnCore(t, { LOG_LEVEL: 'info', ADMIN_PORT: '0' }, 'export NODE_OPTIONS=--max-old-space-size=512');

const generate = startGenerator(t);

/** `perSecond` is the number of requests that the server answers in a second of processor time. */
async function run(
  server: Server,
  load: Omit<OpenLoad, 'request' | 'port'>,
): Promise<OpenLoadResult & { perSecond: number }> {
  const before = usedBy(server);
  const result = await generate({ ...load, port: server.port, request: REQUEST });
  return { ...result, perSecond: Math.round((1000 * (result.replies['200'] ?? 0)) / (usedBy(server) - before)) };
}

/**
 * Asks the server ten times a second whether it is healthy, until it is stopped. Returns how long the slowest answer
 * took, in milliseconds of this clock.
 */
function watchHealth(ask: (url: string) => Promise<{ status: number }>, clock = () => performance.now()) {
  let isOver = false;
  const slowest = (async () => {
    let most = 0;
    for (let asked = 0; !isOver; asked++) {
      const sent = clock();
      const { status } = await ask(asked % 2 === 0 ? '/livez' : '/readyz');
      if (status !== 200) throw new Error(`${status}`);
      most = Math.max(most, clock() - sent);
      await wait(100);
    }
    return Math.round(most);
  })();
  return () => {
    isOver = true;
    return slowest;
  };
}

t.test(
  'at five times its capacity, the server answers accepted requests and health checks quickly, in limited memory',
  async (t) => {
    const server = await start();
    for (const connections of [64, 500]) {
      const capacity = (await run(server, { rate: 0, seconds: 5, connections })).perSecond;
      const usual = await run(server, { rate: 0.8 * capacity, seconds: 5, connections });
      const before = memoryOf(server, 'VmHWM');
      const stop = watchHealth(server.request);
      const over = await run(server, { rate: 5 * capacity, seconds: 5, connections });
      const slowest = await stop();
      const ended = performance.now();
      while ((await server.request('/v1/pets')).status !== 200) await wait(10);
      const after = Math.round(performance.now() - ended);
      const most = memoryOf(server, 'VmHWM');
      t.ok(most < 1.5 * before + 50, `${most} MiB at most, ${before} before`);
      t.ok(over.perSecond > 0.2 * capacity, `${over.perSecond} answered a second of ${capacity}`);
      addFigures(
        `5 times its capacity, ${connections} connections`,
        `${over.perSecond} of ${capacity} accepted in a second of the processor (${Math.round(over.sent / 5)}/s sent), p99 ${over.p99.toFixed(1)} ms (${usual.p99.toFixed(1)} at 80 %), slowest health ${slowest} ms, ${most} MiB (${before} before), served again after ${after} ms; the load used ${over.busy.toFixed(2)} of a core`,
      );
    }
    server.child.kill('SIGTERM');
    t.equal(await server.exit, 0);
  },
);

for (const [connections, ahead] of [
  [64, 64],
  [500, 16],
] as const) {
  t.test(
    `while ${connections} clients each pipeline ${ahead} requests, the operators' port still answers health checks`,
    async (t) => {
      const server = await start();
      // The public port accepts one connection in each turn of the event loop, and its turns are long under this load.
      const [, admin] = await server.written('stdout', /"admin":"http:[^"]*:(\d+)"/);
      const load = run(server, { rate: 0, ahead, seconds: 6, connections });
      await wait(1000);
      const clock = () => usedBy(server);
      const stop = watchHealth((url) => send(Number(admin), url, { key: null }), clock);
      await wait(4000);
      const slowest = await stop();
      const { perSecond } = await load;
      addFigures(
        `${connections} clients, ${ahead} ahead`,
        `${perSecond} in a second of the processor, slowest health ${slowest} ms of it`,
      );
      // The slowest answer may take a few turns of the event loop, in each of which the server answers every pending
      // request. This holds on slow machines too.
      const turn = (1000 * connections * ahead) / perSecond;
      t.ok(slowest < 1000 + 3 * turn, `${slowest} ms, beside turns of ${turn} ms`);
    },
  );
}

/** Opens connections that each send so many requests and read no reply. */
function askAndReadNothing({ port }: Server, clients: number, url: string, times: number): Socket[] {
  const sockets = Array.from({ length: clients }, () =>
    connect(port, '127.0.0.1')
      .on('error', () => {})
      .pause(),
  );
  for (const socket of sockets) socket.write(`GET ${url} HTTP/1.1\r\nHost: a\r\n\r\n`.repeat(times));
  return sockets;
}

t.test('200 clients that pipeline 5,000 requests and read nothing cost the server little memory', async (t) => {
  const server = await start();
  const before = memoryOf(server, 'VmRSS');
  const sockets = askAndReadNothing(server, 200, '/openapi.json', 5000);
  const stop = watchHealth(server.request);
  await wait(10_000);
  const slowest = await stop();
  const during = memoryOf(server, 'VmHWM');
  t.ok(during < before + 150, `${during} MiB at most, ${before} before`);
  t.equal((await server.request('/v1/pets')).status, 200);
  for (const socket of sockets) socket.destroy();
  server.child.kill('SIGTERM');
  t.equal(await server.exit, 0);
  addFigures('200 clients that read nothing', `${during} MiB at most (${before} before), slowest health ${slowest} ms`);
});

t.test("while 2,000 new connections flood the public port, the operators' port answers health checks", async (t) => {
  const server = await startServer(t, { env: { ADMIN_PORT: '0' } });
  const [, admin] = await server.written('stdout', /"admin":"http:[^"]*:(\d+)"/);
  let isOver = false;
  const flood = async () => {
    while (!isOver) {
      const socket = connect(server.port, '127.0.0.1').on('error', () => {});
      socket.resume().write(REQUEST.replace('Host', 'Connection: close\r\nHost'));
      await new Promise((resolve) => socket.once('close', resolve));
    }
  };
  const clients = Array.from({ length: 2000 }, flood);
  const times: number[] = [];
  for (let asked = 0; asked < 50; asked++) {
    const before = usedBy(server);
    t.equal((await send(Number(admin), '/livez', { key: null })).status, 200);
    times.push(usedBy(server) - before);
    await wait(50);
  }
  isOver = true;
  await Promise.all(clients);
  times.sort((a, b) => a - b);
  const [median, slowest] = [times[25] as number, times.at(-1) as number];
  addFigures(
    '2,000 new connections: health for operators',
    `median ${median} ms, slowest ${slowest} ms of the processor`,
  );
  t.ok(median < 1000, `${median} ms`);
});

t.test(
  '900 clients that request the largest file 64 times each and read nothing cost the server little memory',
  async (t) => {
    const server = await start();
    const before = memoryOf(server, 'VmRSS');
    const sockets = askAndReadNothing(server, 900, '/docs/static/swagger-ui-bundle.js', 64);
    await wait(5000);
    const most = memoryOf(server, 'VmHWM');
    addFigures('900 clients that read nothing of the largest file', `${most} MiB at most (${before} before)`);
    t.ok(most < before + 350, `${most} MiB at most, ${before} before`);
    for (const socket of sockets) socket.destroy();
  },
);

const CONNECTIONS = 1900;

t.test(`while ${CONNECTIONS} connections send requests, the server answers a new client within a second`, async (t) => {
  const env = { DATABASE_URL: `sqlite:${t.testdir()}/pets.db` };
  const server = await startOnCore(t, env);
  const { child, port, request, exit } = server;
  const body = { name: 'x'.repeat(50), categoryId: 1 };
  await Promise.all(Array.from({ length: 100 }, () => request('/v1/pets', { method: 'POST', body })));
  const page = REQUEST.replace('/pets', '/pets?limit=100');
  const load = generate({ port, rate: 0, ahead: 1, seconds: 30, connections: CONNECTIONS, request: page });
  const began = usedBy(server);
  // Waits until the server has accepted the connections of the load.
  while (usedBy(server) - began < 2500) await wait(100);
  const times: number[] = [];
  for (const end = Date.now() + 10_000; Date.now() < end; await wait(100)) {
    const before = usedBy(server);
    t.equal((await request('/livez')).status, 200);
    times.push(usedBy(server) - before);
  }
  const { replies } = await load;
  // The slowest answer may take a turn or two, in each of which the server answers all connections. This holds on slow
  // machines too.
  const answered = Object.values(replies).reduce((sum, count) => sum + count, 0);
  const turn = Math.round(((usedBy(server) - began) * CONNECTIONS) / answered);
  const slowest = Math.max(...times);
  const tally = Object.entries(replies).map(([status, count]) => `${count} × ${status}`);
  addFigures(
    `${CONNECTIONS} busy connections`,
    `slowest of ${times.length} new clients ${slowest} ms of processor time (${times}); ${tally.join(', ')}`,
  );
  t.ok(slowest < 1000 + turn, `${slowest} ms, beside turns of ${turn} ms`);
  child.kill('SIGTERM');
  t.equal(await exit, 0);
});
