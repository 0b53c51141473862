import { readdirSync, readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { forceEnd, startProgram, startServer } from '../program.ts';
import { KEY, type Received, send } from '../service.ts';

const WORKERS = 2;

async function startWorkers(t: Test, isCovered = false, settings: Record<string, string> = {}) {
  const env = { DATABASE_URL: `sqlite:${t.testdir()}/pets.db`, WORKERS: String(WORKERS), ...settings };
  const server = await startServer(t, { env, isCovered });
  await server.written('stdout', new RegExp(`(?:"msg":"listening"[\\s\\S]*){${WORKERS}}`));
  return server;
}

/** The process that has answered: request ids begin with a part of its own. */
const processOf = ({ headers }: Pick<Received, 'headers'>) => headers['x-request-id']?.slice(0, 8);

t.test('several processes go on when nobody reads what they write to standard error', async (t) => {
  const { child, exit, output, written } = startProgram(t, 'src/main.ts', {
    env: { PORT: '0', DATABASE_URL: `sqlite:${t.testdir()}/pets.db`, WORKERS: String(WORKERS) },
  });
  child.stderr?.destroy();
  const [, port] = await written('stdout', /"origin":"http:[^"]*:(\d+)"/);
  await written('stdout', new RegExp(`(?:"msg":"listening"[\\s\\S]*){${WORKERS}}`));
  t.equal((await send(Number(port), '/livez', { key: null })).status, 200);
  child.kill('SIGTERM');
  t.equal(await exit, 0, output.stdout);
});

t.test('several processes are one service', async (t) => {
  const { child, exit, output, request } = await startWorkers(t);

  t.test('a pet that was created through one process is at once seen through every other', async (t) => {
    const processes = new Set<string | undefined>();
    for (let count = 1; count <= 20; count++) {
      const created = await request('/v1/pets', { method: 'POST', body: { name: `Pet ${count}`, categoryId: count } });
      t.equal(created.status, 201);
      for (let connection = 0; connection < WORKERS; connection++) {
        const listed = await request('/v1/pets?limit=100');
        t.equal((listed.body as unknown[]).length, count);
        t.strictSame((await request(`/v1/pets/${count}`)).body, created.body);
        processes.add(processOf(listed));
      }
    }
    t.equal(processes.size, WORKERS);

    const create = (index: number) => request('/v1/pets', { method: 'POST', body: { name: 'Rex', categoryId: index } });
    const replies = await Promise.all(Array.from({ length: 60 }, (_, index) => create(index)));
    t.equal(new Set(replies.map(({ body }) => (body as { id: number }).id)).size, 60);
    t.equal(new Set(replies.map(processOf)).size, WORKERS);
  });

  t.test('a signal to the whole group, as a terminal sends it, is one stop', async (t) => {
    for (const [, pid] of output.stdout.matchAll(/"pid":(\d+)[^\n]*"msg":"listening"/g))
      process.kill(Number(pid), 'SIGINT');
    child.kill('SIGINT');
    t.equal(await exit, 0);
    t.equal(output.stdout.match(/"msg":"stopped"/g)?.length, WORKERS);
  });
});

t.test('a limit is that of all processes together', async (t) => {
  const { child, exit, request } = await startWorkers(t, true, { KEY_RATE: '60/d' });
  const passed = new Set<string | undefined>();
  const statuses: number[] = [];
  for (let count = 0; count < 20; count++) {
    const replies = await Promise.all(Array.from({ length: 4 }, () => request('/v1/pets')));
    statuses.push(...replies.map(({ status }) => status));
    for (const reply of replies) if (reply.status === 200) passed.add(processOf(reply));
  }
  t.equal(statuses.filter((status) => status === 200).length, 60);
  t.equal(statuses.filter((status) => status === 429).length, 20);
  t.equal(passed.size, WORKERS);
  child.kill('SIGTERM');
  t.equal(await exit, 0);
});

t.test('a process that ends is replaced, and SIGTERM to the first stops all of them', async (t) => {
  const { child, exit, request, written, output } = await startWorkers(t, true);
  const [, pid] = /"pid":(\d+)[^\n]*"msg":"listening"/.exec(output.stdout) as RegExpExecArray;
  process.kill(Number(pid), 'SIGKILL');
  await written('stdout', /"msg":"a worker ended, and is replaced"/);
  await written('stdout', new RegExp(`(?:"msg":"listening"[\\s\\S]*){${WORKERS + 1}}`));
  for (let count = 0; count < 2 * WORKERS; count++) t.equal((await request('/v1/pets')).status, 200);
  child.kill('SIGTERM');
  t.equal(await exit, 0);
  t.equal(output.stdout.match(/"msg":"stopped"/g)?.length, WORKERS);
});

t.test('a second signal kills what has not stopped yet', async (t) => {
  const env = { DATABASE_URL: `sqlite:${t.testdir()}/pets.db`, WORKERS: '2', DRAIN_DELAY: '60000' };
  const server = await startServer(t, { env, isCovered: true });
  await server.written('stdout', /(?:"msg":"listening"[\s\S]*){2}/);
  server.child.kill('SIGTERM');
  await server.written('stdout', /"msg":"stopping"/);
  t.equal(await forceEnd(server, 'SIGTERM'), 1);
});

/** The first process as soon as it has started the first of the others, and that one. */
async function startFirstWorker(t: Test) {
  const env = { PORT: '0', API_KEYS: KEY, DATABASE_URL: `sqlite:${t.testdir()}/pets.db`, WORKERS: '2' };
  const program = startProgram(t, 'src/main.ts', { env, isCovered: true });
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
  t.strictSame(output, { stdout: '', stderr: '' });
});

t.test('a process that is killed while it starts, the very first too, is started again, each time later', async (t) => {
  const { child, exit, written, worker } = await startFirstWorker(t);
  process.kill(worker, 'SIGKILL');
  const [line] = await written('stdout', /.*"msg":"a worker ended, and is replaced"/);
  t.match(line, `"worker":${worker},"code":null,"signal":"SIGKILL","delay":100`);
  await written('stdout', /"msg":"listening"/);
  t.equal(child.exitCode, null);
  child.kill('SIGTERM');
  t.equal(await exit, 0);
});

t.test('SIGTERM while a process waits to be started again ends the service with 0', async (t) => {
  const { child, exit, written, worker } = await startFirstWorker(t);
  process.kill(worker, 'SIGKILL');
  await written('stdout', /"msg":"a worker ended, and is replaced"/);
  child.kill('SIGTERM');
  t.equal(await exit, 0);
});

t.test(
  'who is connected to a process that dies is told so, and the first process keeps nothing of theirs',
  async (t) => {
    const { child, port, output, written } = await startWorkers(t);
    const count = () => readdirSync(`/proc/${child.pid}/fd`).length;
    const before = count();
    const pids = [...output.stdout.matchAll(/"pid":(\d+)[^\n]*"msg":"listening"/g)].map(([, pid]) => Number(pid));
    // They take no connections from now on: each is given one, which it will never take.
    for (const pid of pids) process.kill(pid, 'SIGSTOP');
    const ask = () =>
      new Promise((resolve) => {
        const socket = connect(port, '127.0.0.1', () => socket.resume());
        socket.write('GET /livez HTTP/1.1\r\nHost: petstore\r\nConnection: close\r\n\r\n');
        socket.on('error', () => {}).on('close', resolve);
      });
    const clients = Array.from({ length: 2 * WORKERS }, ask);
    while (count() < before + clients.length) await wait(20);
    for (const pid of pids) process.kill(pid, 'SIGKILL');
    await Promise.all(clients);
    await written('stdout', new RegExp(`(?:"msg":"listening"[\\s\\S]*){${2 * WORKERS}}`));
    t.equal(count(), before);
  },
);

t.test('processes that cannot start end the service, and say why', async (t) => {
  const { port } = await startServer(t, {});
  const env = { DATABASE_URL: `sqlite:${t.testdir()}/pets.db`, WORKERS: '2', PORT: String(port) };
  await t.rejects(
    startServer(t, { env, isCovered: true }),
    /ended with 1 and never wrote [\s\S]*?: Cannot listen: .*EADDRINUSE.*\n$/,
  );
});

t.test('without a key, one for this run is printed once and valid in every process', async (t) => {
  const env = { DATABASE_URL: `sqlite:${t.testdir()}/pets.db`, WORKERS: '2', API_KEYS: '' };
  const { child, exit, port, written, output } = await startServer(t, { env, isCovered: true });
  const [key] = await written('stderr', /petstore_[0-9a-f]{48}/);
  await written('stdout', /(?:"msg":"listening"[\s\S]*){2}/);
  const replies = [await send(port, '/v1/pets', { key }), await send(port, '/v1/pets', { key })];
  t.strictSame(
    replies.map(({ status }) => status),
    [200, 200],
  );
  t.equal(output.stderr.match(/for this run only/g)?.length, 1);
  child.kill('SIGTERM');
  t.equal(await exit, 0);
});
