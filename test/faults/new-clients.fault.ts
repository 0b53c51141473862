import { setTimeout as wait } from 'node:timers/promises';
import t from 'tap';
import { KEY } from '../service.ts';
import { addFigures } from './figures.ts';
import { startGenerator, startOnCore } from './generators.ts';
import { usedBy } from './processor.ts';

const CONNECTIONS = 1900;
const REQUEST = `GET /v1/pets?limit=100 HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer ${KEY}\r\n\r\n`;
const generate = startGenerator(t);

t.test(`a new client is answered within a second behind ${CONNECTIONS} busy connections`, async (t) => {
  const env = { DATABASE_URL: `sqlite:${t.testdir()}/pets.db` };
  const { child, port, request, exit } = await startOnCore(t, env);
  const body = { name: 'x'.repeat(50), categoryId: 1 };
  await Promise.all(Array.from({ length: 100 }, () => request('/v1/pets', { method: 'POST', body })));
  const used = () => usedBy([child.pid as number])[0] as number;
  const load = generate({ port, rate: 0, ahead: 1, seconds: 30, connections: CONNECTIONS, request: REQUEST });
  const began = used();
  // Until then, the burst itself is accepted.
  while (used() - began < 2500) await wait(100);
  const times: number[] = [];
  for (const end = Date.now() + 10_000; Date.now() < end; await wait(100)) {
    const before = used();
    t.equal((await request('/livez')).status, 200);
    times.push(used() - before);
  }
  const { replies } = await load;
  // As long as a turn or two in which all are answered, however slow the machine is.
  const answered = Object.values(replies).reduce((sum, count) => sum + count, 0);
  const turn = Math.round(((used() - began) * CONNECTIONS) / answered);
  const slowest = Math.max(...times);
  const told = Object.entries(replies).map(([status, count]) => `${count} × ${status}`);
  addFigures(
    `${CONNECTIONS} busy connections`,
    `slowest of ${times.length} new clients ${slowest} ms of processor time (${times}); ${told.join(', ')}`,
  );
  t.ok(slowest < 1000 + turn, `${slowest} ms, beside turns of ${turn} ms`);
  child.kill('SIGTERM');
  t.equal(await exit, 0);
});
