import { Agent } from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { type FaultyDisk, prepareFaultyDisk } from '../faulty-disk.ts';
import { type Server, startServer } from '../program.ts';
import { pagesFrom, type RequestOptions, send } from '../service.ts';
import { addFigures, memoryOf } from './figures.ts';

const CLIENTS = 300;
const LOAD_TIME = 3000;
const STALL_TIME = 20_000;
const RETRY_AFTER = 200;
const KILLS = 5;

const create = (name: string): RequestOptions => ({ method: 'POST', body: { name, categoryId: 7 } });
const createOnce = (name: string) => ({ ...create(name), headers: { 'idempotency-key': name.replace(' ', '-') } });
const codeOf = (body: unknown) => (body as { code?: string }).code ?? 'created';
const startOn = (t: Test, disk: FaultyDisk, env: Record<string, string> = {}) =>
  startServer(t, { env: { ...disk.env, CREATE_TIMEOUT: '', ...env } });

/** How long it takes until a request is answered with this status, in milliseconds. */
async function timeOf(t: Test, { port }: Server, url: string, status: number): Promise<number> {
  const start = performance.now();
  t.equal((await send(port, url)).status, status, url);
  return Math.round(performance.now() - start);
}

type Tally = Record<string, number>;

/** Waits for the time of the load, and longer if not every client can have created a pet by then. */
async function untilCreated(tally: () => Tally): Promise<void> {
  await wait(LOAD_TIME);
  while ((tally().created ?? 0) < CLIENTS) await wait(100);
}

t.test('a server under load survives a disk that stalls', async (t) => {
  const disk = prepareFaultyDisk(t);
  const server = await startOn(t, disk);
  const agent = new Agent({ keepAlive: true });
  t.teardown(() => agent.destroy());
  // Counts of replies: to requests that were sent in this phase, and that arrived in this phase. Some replies arrive in
  // a later phase than the one in which their requests were sent.
  let [ofPhase, inPhase]: [Tally, Tally] = [{}, {}];
  let isOver = false;
  const load = Array.from({ length: CLIENTS }, async () => {
    while (!isOver) {
      const tally = ofPhase;
      const { text } = await send(server.port, '/v1/pets', create('Rex'), agent);
      const code = codeOf(JSON.parse(text));
      tally[code] = (tally[code] ?? 0) + 1;
      inPhase[code] = (inPhase[code] ?? 0) + 1;
      if (code !== 'created') await wait(RETRY_AFTER);
    }
  });
  await untilCreated(() => ofPhase);
  const before = memoryOf(server, 'VmRSS');
  t.strictSame(Object.keys(ofPhase), ['created']);

  [ofPhase, inPhase] = [{}, {}];
  disk.stall();
  await wait(STALL_TIME);
  const during = memoryOf(server, 'VmRSS');
  const reported = { ...inPhase };
  const times = [await timeOf(t, server, '/readyz', 503), await timeOf(t, server, '/livez', 200)];
  await timeOf(t, server, '/v1/pets/1', 200);
  t.ok((reported.outcome_unknown ?? 0) > 0);
  t.ok((reported.overloaded ?? 0) > 0);

  disk.mend();
  const mended = performance.now();
  while ((await send(server.port, '/readyz')).status !== 200) await wait(10);
  const recovery = Math.round(performance.now() - mended);
  ofPhase = {};
  await untilCreated(() => ofPhase);
  t.strictSame(Object.keys(ofPhase), ['created']);
  const after = memoryOf(server, 'VmRSS');
  t.ok(during < 1.5 * before, `${during} MiB, ${before} before`);

  disk.stall();
  await wait(500);
  const asked = performance.now();
  server.child.kill('SIGTERM');
  isOver = true;
  await Promise.allSettled(load);
  await server.exit;
  const stopped = performance.now() - asked;
  t.ok(stopped < 30_000);
  addFigures(
    'disk: stalled for 20 s, 300 clients',
    `${JSON.stringify(reported)}; memory before, during, after: ${before}, ${during}, ${after} MiB; readyz ${times[0]} ms, livez ${times[1]} ms; ready again after ${recovery} ms; SIGTERM while stalled: ${(stopped / 1000).toFixed(1)} s`,
  );
});

t.test(
  'the server survives a disk that fails a write and later stalls during a checkpoint of the write-ahead log',
  async (t) => {
    const disk = prepareFaultyDisk(t);
    const server = await startOn(t, disk, { STOP_TIMEOUT: '1000' });
    t.equal((await server.request('/v1/pets', create('Rex'))).status, 201);
    disk.fail();
    t.equal(codeOf((await server.request('/v1/pets', create('Rex'))).body), 'outcome_unknown');
    disk.stall();
    const asked = performance.now();
    server.child.kill('SIGTERM');
    t.equal(await server.exit, 'SIGKILL');
    const stopped = performance.now() - asked;
    addFigures('disk: failed, then stalled at SIGTERM', `killed after ${(stopped / 1000).toFixed(1)} s`);
  },
);

/** The names of all stored pets. */
async function namesIn({ request }: Server): Promise<string[]> {
  const names: string[] = [];
  for await (const { body } of pagesFrom(request, '/v1/pets?limit=100'))
    names.push(...(body as { name: string }[]).map(({ name }) => name));
  return names;
}

/**
 * Creates pets before and during the fault and kills the server. Returns for each kind of reply how many of its pets
 * are stored, and how many were sent.
 */
async function countAfterKills(
  t: Test,
  fault: 'stall' | 'fail',
): Promise<Record<string, [there: number, all: number]>> {
  const counts: Record<string, [there: number, all: number]> = {};
  for (let round = 0; round < KILLS; round++) {
    const disk = prepareFaultyDisk(t);
    const server = await startOn(t, disk, { CREATE_TIMEOUT: '2500' });
    const codes = new Map<string, string>();
    const add = async (name: string) => {
      codes.set(name, codeOf((await server.request('/v1/pets', createOnce(name))).body));
    };
    while ((await server.request('/readyz')).status !== 200);
    // On a slow disk the server may answer with 503, so the client tries again. The Idempotency-Key makes that safe.
    for (let count = 0; count < 20; count++)
      while (codes.get(`before ${count}`) !== 'created') await add(`before ${count}`);
    disk[fault]();
    const adding: Promise<void>[] = [];
    for (let count = 0; count < 20; count++) {
      adding.push(add(`during ${count}`));
      await wait(round);
    }
    await Promise.all(adding);
    server.child.kill('SIGKILL');
    await server.exit;
    disk.mend();
    const restarted = await startOn(t, disk, { CREATE_TIMEOUT: '60000' });
    const names = await namesIn(restarted);
    for (const [name, code] of codes) {
      const [there, all] = counts[code] ?? [0, 0];
      counts[code] = [there + (names.includes(name) ? 1 : 0), all + 1];
      // Sent again with its Idempotency-Key, each pet is stored exactly once, whether or not the first request stored
      // it.
      t.equal((await restarted.request('/v1/pets', createOnce(name))).status, 201, name);
    }
    t.strictSame((await namesIn(restarted)).sort(), [...codes.keys()].sort());
  }
  return counts;
}

for (const [fault, title] of [
  [
    'stall',
    'after a stalled disk and a kill, every pet that got a 201 is stored, and retries with its key add no second one',
  ],
  [
    'fail',
    'after a failed fsync and a kill, every pet that got a 201 is stored, and retries with its key add no second one',
  ],
] as const) {
  t.test(title, async (t) => {
    const { created, outcome_unknown, unavailable = [0, 0], ...others } = await countAfterKills(t, fault);
    t.strictSame(created, [20 * KILLS, 20 * KILLS]);
    t.ok((outcome_unknown?.[1] ?? 0) > 0);
    t.equal(unavailable[0], 0);
    t.strictSame(
      Object.keys(others).filter((code) => code !== 'overloaded'),
      [],
    );
    addFigures(
      `disk: ${title} (${KILLS} times)`,
      `there of created ${created?.join(' of ')}, outcome_unknown ${outcome_unknown?.join(' of ')}, unavailable ${unavailable.join(' of ')}, overloaded ${others.overloaded?.join(' of ') ?? 'none'}`,
    );
  });
}
