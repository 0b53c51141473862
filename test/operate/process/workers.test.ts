import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { makeKey, toStoredKey } from '../../../src/store/api-keys.ts';
import type { Reply } from '../../contract-check.ts';
import { openUrl } from '../../database.ts';
import { forceEnd, startProgram, startServer } from '../../program.ts';
import { KEY, type Received, send } from '../../service.ts';

const WORKERS = 2;

async function startWorkers(t: Test, isCovered = false, settings: Record<string, string> = {}) {
  const env = { DATABASE_URL: `sqlite:${t.testdir()}/pets.db`, WORKERS: String(WORKERS), ...settings };
  const server = await startServer(t, { env, isCovered });
  await server.written('stdout', new RegExp(`(?:"msg":"listening"[\\s\\S]*){${WORKERS}}`));
  return server;
}

/** The process that has answered: request ids begin with a part of its own. */
const processOf = ({ headers }: Pick<Received, 'headers'>) => headers['x-request-id']?.slice(0, 8);

t.test('several processes are one service', async (t) => {
  const server = await startWorkers(t, true, { DRAIN_DELAY: '60000' });
  const { child, output, request, written } = server;

  t.test('a pet that was created through one process is at once seen through every other', async (t) => {
    const processes = new Set<string | undefined>();
    for (let count = 1; count <= 20 || processes.size < WORKERS; count++) {
      const created = await request('/v1/pets', { method: 'POST', body: { name: `Pet ${count}`, categoryId: count } });
      t.equal(created.status, 201);
      for (let connection = 0; connection < WORKERS; connection++) {
        const listed = await request('/v1/pets?limit=100');
        t.equal((listed.body as unknown[]).length, count);
        t.strictSame((await request(`/v1/pets/${count}`)).body, created.body);
        processes.add(processOf(listed));
      }
    }

    const create = (index: number) => request('/v1/pets', { method: 'POST', body: { name: 'Rex', categoryId: index } });
    const replies: Received[] = [];
    while (new Set(replies.map(processOf)).size < WORKERS)
      replies.push(...(await Promise.all(Array.from({ length: 60 }, (_, index) => create(index)))));
    t.equal(new Set(replies.map(({ body }) => (body as { id: number }).id)).size, replies.length);
  });

  t.test('one that ends is replaced', async (t) => {
    const [, pid] = /"pid":(\d+)[^\n]*"msg":"listening"/.exec(output.stdout) as RegExpExecArray;
    process.kill(Number(pid), 'SIGKILL');
    await written('stdout', /"msg":"a worker ended, and is replaced"/);
    await written('stdout', new RegExp(`(?:"msg":"listening"[\\s\\S]*){${WORKERS + 1}}`));
    for (let count = 0; count < 2 * WORKERS; count++) t.equal((await request('/v1/pets')).status, 200);
  });

  t.test('a second signal kills what has not stopped yet', async (t) => {
    child.kill('SIGTERM');
    await written('stdout', /"msg":"stopping"/);
    t.equal(await forceEnd(server, 'SIGTERM'), 1);
  });
});

/** A process waits so long for the count that all share, in milliseconds; then it counts by itself. */
const PATIENCE = 250;

t.test('without a key, one for this run is printed once; all processes know it, and limit it together', async (t) => {
  for (;;) {
    const { child, exit, port, output, written } = await startWorkers(t, true, { API_KEYS: '', KEY_RATE: '60/d' });
    const [key] = await written('stderr', /petstore_[0-9a-f]{48}/);
    const replies: Reply[] = [];
    let slowest = 0;
    for (let count = 0; count < 20; count++) {
      const began = performance.now();
      replies.push(...(await Promise.all(Array.from({ length: 4 }, () => send(port, '/v1/pets', { key })))));
      slowest = Math.max(slowest, performance.now() - began);
    }
    child.kill('SIGTERM');
    t.equal(await exit, 0);
    t.equal(output.stderr.match(/for this run only/g)?.length, 1);
    t.equal(output.stdout.match(/"msg":"stopped"/g)?.length, WORKERS);
    const passed = replies.filter(({ status }) => status === 200);
    const processes = new Set(passed.map(processOf)).size;
    // Again where the machine stood still: a process has counted by itself then.
    if (slowest >= PATIENCE && (passed.length !== 60 || processes !== WORKERS)) continue;
    t.equal(passed.length, 60);
    t.equal(replies.filter(({ status }) => status === 429).length, 20);
    t.equal(processes, WORKERS);
    return;
  }
});

t.test('after the last key was revoked, a worker that is replaced makes no other', async (t) => {
  const folder = t.testdir();
  const store = openUrl(`sqlite:${folder}/pets.db`);
  t.teardown(() => store.close());
  const key = makeKey();
  const stored = toStoredKey(key, 'Ada');
  await store.createKey(stored);
  const env = { DATABASE_URL: `sqlite:${folder}/pets.db`, WORKERS: '2', API_KEYS: '' };
  const { output, written, request } = await startServer(t, { env });
  await written('stdout', /(?:"msg":"listening"[\s\S]*){2}/);
  t.equal((await request('/v1/pets', { key })).status, 200);
  await store.revokeKey(stored.id, new Date().toISOString());
  const [, pid] = /"pid":(\d+)[^\n]*"msg":"listening"/.exec(output.stdout) as RegExpExecArray;
  process.kill(Number(pid), 'SIGKILL');
  await written('stdout', /(?:"msg":"listening"[\s\S]*){3}/);
  while ((await request('/v1/pets', { key })).status !== 401) await wait(50);
  t.equal(output.stderr, '');
});

/** A module that holds up the start of the others. */
const SLOW = `
  import cluster from 'node:cluster';
  if (cluster.isWorker) await new Promise((resolve) => setTimeout(resolve, 10_000));`;

/** The first process as soon as it has started the first of the others, and that one, which starts slowly. */
async function startFirstWorker(t: Test) {
  const folder = t.testdir({ 'slow.mjs': SLOW });
  const env = { PORT: '0', API_KEYS: KEY, DATABASE_URL: `sqlite:${folder}/pets.db`, WORKERS: '2' };
  const shell = `export NODE_OPTIONS='--import=${folder}/slow.mjs'`;
  const program = startProgram(t, 'src/main.ts', { env, shell, isCovered: true });
  const { pid } = program.child;
  for (;;) {
    const [worker] = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').map(Number);
    if (worker) return { ...program, worker };
    await wait(5);
  }
}

t.test('SIGTERM while the first process waits for another to start ends both at once, with 0', async (t) => {
  const { child, exit, output } = await startFirstWorker(t);
  child.kill('SIGTERM');
  t.equal(await exit, 0);
  t.match(output.stdout, /^([^\n]*"msg":"the database was made"\}\n)?$/);
  t.equal(output.stderr, '');
});

t.test('SIGTERM while a process waits to be started again ends the service with 0', async (t) => {
  const { child, exit, written, worker } = await startFirstWorker(t);
  process.kill(worker, 'SIGKILL');
  await written('stdout', /"msg":"a worker ended, and is replaced"/);
  child.kill('SIGTERM');
  t.equal(await exit, 0);
});

t.test('processes that cannot start end the service, and say why', async (t) => {
  const other = createServer().listen(0, '127.0.0.1');
  t.teardown(() => other.close());
  await once(other, 'listening');
  const { port } = other.address() as AddressInfo;
  const env = { DATABASE_URL: `sqlite:${t.testdir()}/pets.db`, WORKERS: '2', PORT: String(port) };
  await t.rejects(
    startServer(t, { env, isCovered: true }),
    /ended with 1 and never wrote [\s\S]*?: (?:.*"the database was made"\}\n)?Cannot listen: .*EADDRINUSE.*\n$/,
  );
});
