import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import t, { type Test } from 'tap';
import { makeKey, toStoredKey } from '../../src/access/api-keys.ts';
import { openUrl } from '../database.ts';
import { startPostgres } from '../postgres.ts';
import { startServer } from '../program.ts';
import { KEY } from '../service.ts';
import { addFigures } from './figures.ts';
import type { OpenLoad, OpenLoadResult } from './open-loop.ts';

const LIMIT = 50;
const FLOOD = 100 * LIMIT;
const SECONDS = 10;

/** A core each for the servers and for their load. */
const isPinned = availableParallelism() > 1 && spawnSync('taskset', ['-c', '0,1', 'true']).status === 0;
const onCore = (core: string) => (isPinned ? `taskset -cp ${core} $$ >/dev/null; ` : '');

async function start(t: Test, env: Record<string, string>) {
  const server = await startServer(t, { env, shell: `${onCore('0')}:` });
  // Its log is read and forgotten.
  server.child.stdout?.removeAllListeners('data').resume();
  return server;
}

/** `nice` is how far the load gives way to other load on its core. */
async function run(key: string, load: Omit<OpenLoad, 'request'>, nice = 0): Promise<OpenLoadResult> {
  const request = `GET /v1/pets HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${key}\r\n\r\n`;
  const file = fileURLToPath(new URL('open-loop.ts', import.meta.url));
  const options = JSON.stringify({ ...load, request });
  const args = [
    '-c',
    `${onCore('1')}exec nice -n ${nice} "$@"`,
    'sh',
    process.execPath,
    ...process.execArgv,
    file,
    options,
  ];
  const child = spawn('sh', args, { stdio: ['ignore', 'pipe', 'inherit'] });
  const ended = once(child, 'close');
  const result = JSON.parse(Buffer.concat(await child.stdout.toArray()).toString());
  await ended;
  return result;
}

/**
 * Floods servers with one key: how many requests passed. Only the first and the last second may be parts of a window. It gives way
 * to the load of a neighbour, whose times would else be those of waiting for the core that both have.
 */
async function flood(key: string, ports: number[], seconds: number): Promise<number> {
  const rate = FLOOD / ports.length;
  const results = await Promise.all(ports.map((port) => run(key, { port, rate, seconds, connections: 16 }, 19)));
  return results.reduce((sum, { replies }) => sum + (replies['200'] ?? 0), 0);
}

/** The flood is in one window more than it has seconds. Several servers may be a tenth over: each counts by itself while PostgreSQL is slow. */
const isFair = (passed: number, over = 0) =>
  passed >= 0.9 * LIMIT * SECONDS && passed <= (1 + over) * LIMIT * (SECONDS + 1);

t.test('a caller at 100 times its limit gets its limit; how much it slows a neighbour is in the figures', async (t) => {
  const DATABASE_URL = `sqlite:${t.testdir()}/pets.db`;
  const key = makeKey();
  const store = openUrl(DATABASE_URL);
  await store.createKey(toStoredKey(key, 'flood', undefined, undefined, `${LIMIT}/s`));
  await store.close();
  const { port } = await start(t, { DATABASE_URL });
  const neighbour = () => run(KEY, { port, rate: 500, seconds: SECONDS, connections: 16 });
  await neighbour();
  const rounds: { alone: number; beside: number; passed: number }[] = [];
  for (let round = 0; round < 3; round++) {
    const { p99: alone } = await neighbour();
    const [{ p99: beside }, passed] = await Promise.all([neighbour(), flood(key, [port], SECONDS)]);
    rounds.push({ alone, beside, passed });
  }
  const words = rounds.map((it) => `${it.alone.toFixed(1)}/${it.beside.toFixed(1)} ms, ${it.passed} passed`).join('; ');
  addFigures('flood beside a neighbour', `p99 alone/beside: ${words}`);
  t.ok(
    rounds.every(({ passed }) => isFair(passed)),
    words,
  );
});

t.test('a limit holds in all for several processes, and for several servers on one PostgreSQL', async (t) => {
  const workers = await start(t, {
    DATABASE_URL: `sqlite:${t.testdir()}/pets.db`,
    WORKERS: '2',
    KEY_RATE: `${LIMIT}/s`,
  });
  const ofWorkers = await flood(KEY, [workers.port], SECONDS);
  addFigures('flood of two processes', `${ofWorkers} of ${FLOOD * SECONDS} passed in ${SECONDS} s at ${LIMIT}/s`);
  t.ok(isFair(ofWorkers), `${ofWorkers}`);

  const postgres = await startPostgres(t);
  const env = { DATABASE_URL: postgres.newUrl(), KEY_RATE: `${LIMIT}/s` };
  const servers = [await start(t, env), await start(t, env)];
  const ofServers = await flood(
    KEY,
    servers.map(({ port }) => port),
    SECONDS,
  );
  addFigures(
    'flood of two servers on PostgreSQL',
    `${ofServers} of ${FLOOD * SECONDS} passed in ${SECONDS} s at ${LIMIT}/s`,
  );
  t.ok(isFair(ofServers, 0.1), `${ofServers}`);
});
