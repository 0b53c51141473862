import { readFileSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';
import t from 'tap';
import { KEY } from '../service.ts';
import { addFigures } from './figures.ts';
import { startGenerator, startOnCore } from './generators.ts';
import { usedBy } from './processor.ts';

const CONNECTIONS = 1900;
const REQUEST = `GET /v1/pets?limit=100 HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${KEY}\r\n\r\n`;
const generate = startGenerator(t);

function processesOf(pid: number): number[] {
  const workers = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean);
  return [pid, ...workers.map(Number)];
}

for (const workers of [1, 2]) {
  const processes = workers > 1 ? `${workers} processes` : 'one process';
  t.test(
    `a new client is answered within a second behind ${CONNECTIONS} busy connections, by ${processes}`,
    async (t) => {
      const env = { WORKERS: String(workers), DATABASE_URL: `sqlite:${t.testdir()}/pets.db` };
      const { child, port, request, exit } = await startOnCore(t, env);
      const body = { name: 'x'.repeat(50), categoryId: 1 };
      await Promise.all(Array.from({ length: 100 }, () => request('/v1/pets', { method: 'POST', body })));
      const pids = processesOf(child.pid as number);
      const load = generate({ port, rate: 0, ahead: 1, seconds: 30, connections: CONNECTIONS, request: REQUEST });
      const began = usedBy(pids);
      const since = (before: number[]) =>
        Math.max(...usedBy(pids).map((used, index) => used - (before[index] as number)));
      // Until then, the burst itself is accepted.
      while (since(began) < 2500) await wait(100);
      const times: number[] = [];
      for (const end = Date.now() + 10_000; Date.now() < end; await wait(100)) {
        const before = usedBy(pids);
        t.equal((await request('/livez')).status, 200);
        times.push(since(before));
      }
      const { replies } = await load;
      // As long as a turn or two in which all are answered, however slow the machine is.
      const answered = Object.values(replies).reduce((sum, count) => sum + count, 0);
      const turn = Math.round((since(began) * CONNECTIONS) / answered);
      const slowest = Math.max(...times);
      const told = Object.entries(replies).map(([status, count]) => `${count} × ${status}`);
      addFigures(
        `${CONNECTIONS} busy connections, ${processes}`,
        `slowest of ${times.length} new clients ${slowest} ms of processor time (${times}); ${told.join(', ')}`,
      );
      t.ok(slowest < 1000 + turn, `${slowest} ms, beside turns of ${turn} ms`);
      child.kill('SIGTERM');
      t.equal(await exit, 0);
    },
  );
}
