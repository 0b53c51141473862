import { setTimeout as wait } from 'node:timers/promises';
import t from 'tap';
import { makeKey, toStoredKey } from '../../src/contract-first/store/api-keys.ts';
import { openUrl } from '../database.ts';
import { startPostgres } from '../postgres.ts';
import { KEY } from '../service.ts';
import { addFigures } from './figures.ts';
import { type Generator, startGenerator, startOnCore } from './generators.ts';

const LIMIT = 50;
const FLOOD = 100 * LIMIT;
const SECONDS = 10;

const requestOf = (key: string) => `GET /v1/pets HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${key}\r\n\r\n`;

/** How many requests of a flood with one API key succeed. The flood is spread over these servers. */
async function flood(generators: Generator[], key: string, ports: number[], seconds: number): Promise<number> {
  const load = { request: requestOf(key), rate: FLOOD / ports.length, seconds, connections: 16 };
  const results = await Promise.all(ports.map((port, index) => (generators[index] as Generator)({ ...load, port })));
  return results.reduce((sum, { replies }) => sum + (replies['200'] ?? 0), 0);
}

/**
 * Whether the server let through what the limit allows. The first and the last second may each be part of a window, so
 * there is one window more than seconds. Several servers may exceed the limit by a tenth, because each counts on its
 * own while PostgreSQL is slow.
 */
const isFair = (passed: number, over = 0) =>
  passed >= 0.9 * LIMIT * SECONDS && passed <= (1 + over) * LIMIT * (SECONDS + 1);

t.test(
  'a client that sends 100 times its rate limit gets only its limit; the test measures how it slows another client',
  async (t) => {
    const DATABASE_URL = `sqlite:${t.testdir()}/pets.db`;
    const key = makeKey('petstore');
    const store = openUrl(DATABASE_URL);
    await store.createKey(toStoredKey(key, 'flood', undefined, undefined, `${LIMIT}/s`));
    await store.close();
    const { port } = await startOnCore(t, { DATABASE_URL });
    // The generator of the flood has a lower priority than that of the neighbour: otherwise the neighbour's times would
    // include waiting for the core that both share.
    const [ofNeighbour, ofFlood] = [startGenerator(t), startGenerator(t, 19)];
    const neighbour = (seconds: number) =>
      ofNeighbour({ port, request: requestOf(KEY), rate: 500, seconds, connections: 16 });
    await neighbour(3);
    const passed = await flood([ofFlood], key, [port], SECONDS);
    t.ok(isFair(passed), `${passed}`);

    // Measures both in turn and briefly, because a machine that others use too is quiet for a few seconds at best.
    const [alone, beside]: [number[], number[]] = [[], []];
    for (let round = 0; round < 8; round++) {
      alone.push((await neighbour(2)).p99);
      const flooding = flood([ofFlood], key, [port], 3);
      await wait(500);
      beside.push((await neighbour(2)).p99);
      await flooding;
    }
    const words = (times: number[]) => toQuartiles(times).map((time) => time.toFixed(1));
    addFigures(
      'flood beside a neighbour',
      `${passed} of ${FLOOD * SECONDS} passed in ${SECONDS} s at ${LIMIT}/s; the neighbour's p99, quartiles of 8 windows of 2 s: ${words(alone).join(', ')} ms alone, ${words(beside).join(', ')} ms beside it`,
    );
  },
);

/** Returns the lower quartile, the median and the upper quartile. */
function toQuartiles(values: number[]): number[] {
  const sorted = [...values].sort((a, b) => a - b);
  return [0.25, 0.5, 0.75].map((part) => sorted[Math.floor((sorted.length - 1) * part)] as number);
}

t.test('several servers on one PostgreSQL together admit one rate limit', async (t) => {
  const generators = [startGenerator(t), startGenerator(t)];
  const postgres = await startPostgres(t);
  const env = { DATABASE_URL: postgres.newUrl(), KEY_RATE: `${LIMIT}/s` };
  const servers = [await startOnCore(t, env), await startOnCore(t, env)];
  const ports = servers.map(({ port }) => port);
  const ofServers = await flood(generators, KEY, ports, SECONDS);
  addFigures(
    'flood of two servers on PostgreSQL',
    `${ofServers} of ${FLOOD * SECONDS} passed in ${SECONDS} s at ${LIMIT}/s`,
  );
  t.ok(isFair(ofServers, 0.1), `${ofServers}`);
});
