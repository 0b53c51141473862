import { readFileSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';
import t from 'tap';
import { prepareFaultyDisk } from '../faulty-disk.ts';
import { type Server, startWithLog } from '../program.ts';
import { send } from '../service.ts';
import { addFigures } from './figures.ts';

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

t.test('a log on a disk that stalls', async (t) => {
  const disk = prepareFaultyDisk(t);
  const log = `${t.testdirName}/log`;
  const server = await startWithLog(t, { env: { ...disk.env, STOP_TIMEOUT: '1000' }, shell: `exec >${log}` });
  while (!readFileSync(log, 'utf8').includes('"msg":"listening"')) await wait(20);
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
  addFigures('log: stalled disk', `all requests answered; killed ${seconds.toFixed(1)} s after SIGTERM`);
});
