import { readdirSync, readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { startProgram, startServer } from '../../program.ts';
import { KEY, send } from '../../service.ts';

const WORKERS = 2;

async function startWorkers(t: Test) {
  const env = { DATABASE_URL: `sqlite:${t.testdir()}/pets.db`, WORKERS: String(WORKERS) };
  const server = await startServer(t, { env });
  await server.written('stdout', new RegExp(`(?:"msg":"listening"[\\s\\S]*){${WORKERS}}`));
  return server;
}

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

t.test('a signal to the whole group, as a terminal sends it, is one stop', async (t) => {
  const { child, exit, output } = await startWorkers(t);
  for (const [, pid] of output.stdout.matchAll(/"pid":(\d+)[^\n]*"msg":"listening"/g))
    process.kill(Number(pid), 'SIGINT');
  child.kill('SIGINT');
  t.equal(await exit, 0);
  t.equal(output.stdout.match(/"msg":"stopped"/g)?.length, WORKERS);
});

t.test('a process that ends is replaced, and SIGTERM to the first stops all of them', async (t) => {
  const { child, exit, request, written, output } = await startWorkers(t);
  const [, pid] = /"pid":(\d+)[^\n]*"msg":"listening"/.exec(output.stdout) as RegExpExecArray;
  process.kill(Number(pid), 'SIGKILL');
  await written('stdout', /"msg":"a worker ended, and is replaced"/);
  await written('stdout', new RegExp(`(?:"msg":"listening"[\\s\\S]*){${WORKERS + 1}}`));
  for (let count = 0; count < 2 * WORKERS; count++) t.equal((await request('/v1/pets')).status, 200);
  child.kill('SIGTERM');
  t.equal(await exit, 0);
  t.equal(output.stdout.match(/"msg":"stopped"/g)?.length, WORKERS);
});

/** How long the machine may stand still meanwhile, in milliseconds. */
const PAUSE = 10_000;

t.test(
  'a process whose event loop stands still is killed within 12 seconds, and replaced in the time of a start',
  async (t) => {
    const began = Date.now();
    const { child, exit, request, written, output } = await startWorkers(t);
    const start = Date.now() - began;
    const [, pid] = /"pid":(\d+)[^\n]*"msg":"listening"/.exec(output.stdout) as RegExpExecArray;
    const stopped = Date.now();
    process.kill(Number(pid), 'SIGSTOP');
    const [line] = await written('stdout', /.*"msg":"a worker stands still, and is killed"/);
    const killed = Date.now();
    t.match(JSON.parse(`${line}}`), { worker: Number(pid) });
    t.ok(killed - stopped < 12_000 + PAUSE);
    await written('stdout', new RegExp(`(?:"msg":"listening"[\\s\\S]*){${WORKERS + 1}}`));
    // That of all processes, beside the same load.
    t.ok(
      Date.now() - killed < start + PAUSE,
      `replaced after ${Date.now() - killed} ms, all had started after ${start} ms`,
    );
    for (let count = 0; count < 2 * WORKERS; count++) t.equal((await request('/v1/pets')).status, 200);
    child.kill('SIGTERM');
    t.equal(await exit, 0);
  },
);

/** The first process as soon as it has started the first of the others, and that one. */
async function startFirstWorker(t: Test) {
  const env = { PORT: '0', API_KEYS: KEY, DATABASE_URL: `sqlite:${t.testdir()}/pets.db`, WORKERS: '2' };
  const program = startProgram(t, 'src/main.ts', { env });
  const { pid } = program.child;
  for (;;) {
    const [worker] = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').map(Number);
    if (worker) return { ...program, worker };
    await wait(5);
  }
}

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
