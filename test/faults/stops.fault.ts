/** Stops servers under load and lets a database fail over, and counts what clients lose. */
import { Agent, request as httpRequest, type OutgoingHttpHeaders } from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { startPostgres } from '../postgres.ts';
import { type Server, startProgram, startServer } from '../program.ts';
import { KEY, send } from '../service.ts';
import { addFigures } from './figures.ts';

interface Outcomes {
  answered: number;
  /** Requests that got no answer although their connection was accepted. */
  lost: number;
  /** Requests that got neither an answer nor the end of their connection within `REQUEST_TIMEOUT`. */
  hung: number;
}

/** How long a client waits for an answer before the request counts as hung, in milliseconds. */
const REQUEST_TIMEOUT = 20_000;

/** Half of the clients keep their connections open, the others open a new one for each request. */
function startClients(port: number, count: number, key: string) {
  const outcomes: Outcomes = { answered: 0, lost: 0, hung: 0 };
  const options = { host: '127.0.0.1', port, path: '/v1/pets', headers: { authorization: `Bearer ${key}` } };
  let isOver = false;

  async function send(_: unknown, index: number): Promise<void> {
    const agent = new Agent({ keepAlive: index % 2 === 0, maxSockets: 1 });
    const isPost = index % 4 < 2;
    while (!isOver) {
      const outcome = await new Promise<keyof Outcomes | 'refused'>((resolve) => {
        const headers: OutgoingHttpHeaders = isPost
          ? { ...options.headers, 'content-type': 'application/json' }
          : options.headers;
        const request = httpRequest({
          ...options,
          headers,
          agent,
          method: isPost ? 'POST' : 'GET',
          timeout: REQUEST_TIMEOUT,
        });
        request.on('timeout', () => {
          resolve('hung');
          request.destroy();
        });
        request.on('error', (error: NodeJS.ErrnoException) =>
          resolve(error.code === 'ECONNREFUSED' ? 'refused' : 'lost'),
        );
        request.on('response', (response) =>
          response
            .resume()
            .on('error', () => resolve('lost'))
            .on('end', () => resolve('answered')),
        );
        request.end(isPost ? '{"name":"Rex","categoryId":7}' : undefined);
      });
      if (outcome === 'refused') return;
      outcomes[outcome]++;
    }
  }

  const ended = Promise.all(Array.from({ length: count }, send));
  return {
    outcomes,
    /**
     * Resolves when each client's connection has been refused or, after `finish()`, when each has the reply to its last
     * request.
     */
    ended: ended.then(() => outcomes),
    finish: () => {
      isOver = true;
    },
  };
}

const ROUNDS = Number(process.env.ROUNDS ?? 10);
const CLIENTS = 40;

/** Starts the server as an operator does, with the default DRAIN_DELAY or this one. */
const start = (t: Test, drainDelay = ''): Promise<Server> =>
  startServer(t, { env: { DATABASE_URL: `sqlite:${t.testdir()}/pets.db`, DRAIN_DELAY: drainDelay } });

/** Stops one server after the other under load, and records in the figures what became of the requests. */
async function losesNothing(
  t: Test,
  name: string,
  drainDelay = '',
  meanwhile: (server: Server, round: number) => void = () => {},
) {
  const total = { answered: 0, lost: 0, hung: 0 };
  for (let round = 0; round < ROUNDS; round++) {
    await t.test(`a server under load stops without losing a request, round ${round + 1}`, async (t) => {
      const server = await start(t, drainDelay);
      const clients = startClients(server.port, CLIENTS, KEY);
      await wait(500);
      server.child.kill('SIGTERM');
      meanwhile(server, round);
      t.equal(await server.exit, 0);
      const outcomes = await clients.ended;
      for (const kind of ['answered', 'lost', 'hung'] as const) total[kind] += outcomes[kind];
    });
  }
  const { answered, lost, hung } = total;
  addFigures(name, `${lost} lost and ${hung} hung of ${answered} requests in ${ROUNDS} stops`);
  t.equal(lost, 0);
  t.equal(hung, 0);
}

t.test(`a server under load is stopped ${ROUNDS} times without losing a request`, (t) => losesNothing(t, 'stops'));

t.test(
  `a server under load is stopped ${ROUNDS} times without losing a request, although the machine freezes each time`,
  (t) => losesNothing(t, 'stops on a machine that stands still', '0', (server, round) => standStill(server, 3 * round)),
);

/** Stops this process with its clients, and a few milliseconds later the server too; the server goes on first. */
function standStill(server: Server, lead: number): void {
  const block = (time: number) => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, time);
  block(lead);
  server.child.kill('SIGSTOP');
  block(300);
  server.child.kill('SIGCONT');
  block(30);
}

t.test('SIGTERM at any moment ends a server that is starting', async (t) => {
  const ends: Record<string, number> = {};
  let slowest = 0;
  for (let delay = 300; delay < 1800; delay += 50) {
    await t.test(`SIGTERM ${delay} ms after its start ends the server`, async (t) => {
      const env = { PORT: '0', DATABASE_URL: `sqlite:${t.testdir()}/pets.db`, API_KEYS: KEY };
      const { child, exit } = startProgram(t, 'src/main.ts', { env });
      await wait(delay);
      const asked = performance.now();
      child.kill('SIGTERM');
      const end = await exit;
      slowest = Math.max(slowest, performance.now() - asked);
      ends[end] = (ends[end] ?? 0) + 1;
      t.ok(end === 0 || end === 'SIGTERM', `ended with ${end}`);
    });
  }
  addFigures('SIGTERM in the start', `${JSON.stringify(ends)}, ${Math.round(slowest)} ms at most`);
});

t.test(
  `${ROUNDS} failovers to a synchronous standby lose no acknowledged pet, and retries with a key add no pet twice`,
  async (t) => {
    let [acknowledged, unknown, replayed, lost, doubled, hung, slowest] = [0, 0, 0, 0, 0, 0, 0];
    for (let round = 1; round <= ROUNDS; round++) {
      await t.test(`a failover to a synchronous standby loses no acknowledged pet, round ${round}`, async (t) => {
        const primary = await startPostgres(t);
        await primary.stop();
        const standby = await startPostgres(t, primary);
        await primary.start(['synchronous_standby_names=*']);
        const url = primary.newUrl().replace(/@[^/]*/, `@127.0.0.1:${primary.port},127.0.0.1:${standby.port}`);
        const servers = [1, 2].map(() => startServer(t, { env: { DATABASE_URL: url } }));
        const ports = (await Promise.all(servers)).map(({ port }: Server) => port);

        const created = new Map<string, number>();
        let isOver = false;
        let lastCreated = 0;
        let [asked, failed, slow] = [0, 0, 0];
        const create = async (client: number) => {
          for (let count = 0; !isOver; count++) {
            const name = `${client} ${count}`;
            const headers = { 'idempotency-key': `${client}-${count}` };
            while (!created.has(name)) {
              const started = performance.now();
              // Each request may go to any of the servers.
              const port = ports[(client + asked++) % ports.length] as number;
              const request = { method: 'POST', body: { name, categoryId: client }, headers };
              const { status, text, headers: replied } = await send(port, '/v1/pets', request);
              if (performance.now() - started > 2000) slow++;
              if (status === 201) {
                created.set(name, JSON.parse(text).id);
                lastCreated = performance.now();
                replayed += replied['idempotency-replayed'] ? 1 : 0;
              } else failed += JSON.parse(text).code === 'outcome_unknown' ? 1 : 0;
            }
          }
        };
        const clients = Array.from({ length: 8 }, (_, client) => create(client));
        await wait(1000);
        await primary.signal('SIGKILL');
        await standby.execute('SELECT pg_promote()');
        const promoted = performance.now();
        while (lastCreated < promoted) await wait(10);
        const recovery = (performance.now() - promoted) / 1000;
        await wait(500);
        isOver = true;
        await Promise.all(clients);

        const schema = /schema=(\w+)/.exec(url)?.[1];
        const { rows } = await standby.execute(`SELECT name, array_agg(id) AS ids FROM ${schema}.pets GROUP BY name`);
        const stored = new Map(rows.map(({ name, ids }) => [name as string, (ids as string[]).map(Number)]));
        for (const [name, id] of created) if (!stored.get(name)?.includes(id)) lost++;
        for (const ids of stored.values()) if (ids.length > 1) doubled++;
        acknowledged += created.size;
        unknown += failed;
        hung += slow;
        slowest = Math.max(slowest, recovery);
      });
    }
    addFigures(
      'failover to a standby',
      `${lost} lost and ${doubled} doubled of ${acknowledged} pets, ${unknown} of unknown outcome, ${replayed} replayed, ${hung} answers after more than 2 s, back ${slowest.toFixed(1)} s after the promotion at most`,
    );
    t.ok(acknowledged > 100 * ROUNDS);
    t.equal(lost, 0);
    t.equal(doubled, 0);
    t.ok(slowest < 10, `back after ${slowest} s`);
  },
);
