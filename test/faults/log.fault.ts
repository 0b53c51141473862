import { readFileSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';
import t from 'tap';
import { prepareFaultyDisk } from '../faulty-disk.ts';
import { type Server, startServer, startWithLog } from '../program.ts';
import { send } from '../service.ts';
import { addFigures } from './figures.ts';

const STOPS = 20;
/** A line of 8000 characters each: more than two pipes hold. */
const REQUESTS = 100;

/** How a signal ends it, whether or not somebody still reads its output, and after how many seconds. */
async function stop({ child }: Server): Promise<{ end: number | string; seconds: number }> {
  const asked = performance.now();
  const ended = new Promise<number | string>((resolve) => {
    child.once('exit', (code, signal) => resolve(code ?? (signal as string)));
  });
  child.kill('SIGTERM');
  return { end: await ended, seconds: (performance.now() - asked) / 1000 };
}

async function writeLog({ port }: Server): Promise<void> {
  for (let sent = 0; sent < REQUESTS; sent++) await send(port, `/livez?${'x'.repeat(8000)}`);
}

t.test(`in ${STOPS} stops of several processes whose log nobody reads, none is ended by force`, async (t) => {
  let slowest = 0;
  for (let round = 0; round < STOPS; round++) {
    await t.test(`stop ${round + 1}`, async (t) => {
      const env = { DATABASE_URL: `sqlite:${t.testdir()}/pets.db`, WORKERS: '2' };
      const server = await startServer(t, { env });
      await server.written('stdout', /(?:"msg":"listening"[\s\S]*){2}/);
      server.child.stdout?.pause();
      await writeLog(server);
      const { end, seconds } = await stop(server);
      t.equal(end, 0);
      slowest = Math.max(slowest, seconds);
    });
  }
  addFigures('log: nobody reads it, WORKERS=2', `${STOPS} stops with 0, after ${slowest.toFixed(1)} s at most`);
});

for (const workers of ['1', '2']) {
  t.test(`a log on a disk that stalls, WORKERS=${workers}`, async (t) => {
    const disk = prepareFaultyDisk(t);
    const log = `${t.testdirName}/log`;
    const env = { ...disk.env, WORKERS: workers, STOP_TIMEOUT: '1000' };
    const server = await startWithLog(t, { env, shell: `exec >${log}` });
    const listening = () => readFileSync(log, 'utf8').match(/"msg":"listening"/g)?.length ?? 0;
    while (listening() < Number(workers)) await wait(20);
    disk.stallLog();
    const before = readFileSync(log, 'utf8');
    await writeLog(server);
    const created = await server.request('/v1/pets', {
      method: 'POST',
      key: server.key,
      body: { name: 'Rex', categoryId: 7 },
    });
    t.equal(created.status, 201);
    const { end, seconds } = await stop(server);
    t.equal(end, 'SIGKILL');
    t.ok(seconds < 30, `${seconds} s`);
    t.equal(readFileSync(log, 'utf8'), before);
    addFigures(
      `log: stalled disk, WORKERS=${workers}`,
      `all requests answered; killed ${seconds.toFixed(1)} s after SIGTERM`,
    );
  });
}
