import { setTimeout as wait } from 'node:timers/promises';
import t, { type Test } from 'tap';
import { descriptorsOf, untilDescriptors } from '../descriptors.ts';
import { type Server, startProgram, startServer } from '../program.ts';
import { KEY } from '../service.ts';
import { startClients } from './clients.ts';
import { addFigures } from './figures.ts';

const STOPS = Number(process.env.ROUNDS ?? 10);
/** Each is followed by a longer pause: 25 seconds in all. */
const KILLS = 8;
const CLIENTS = 40;

/** As an operator starts it, with the default time to drain or another. */
async function startWorkers(t: Test, count: number, drainDelay = ''): Promise<Server> {
  const env = { DATABASE_URL: `sqlite:${t.testdir()}/pets.db`, WORKERS: String(count), DRAIN_DELAY: drainDelay };
  const server = await startServer(t, { env });
  await server.written('stdout', new RegExp(`(?:"msg":"listening"[\\s\\S]*){${count}}`));
  return server;
}

/** The processes that have listened, those that have ended too. */
const workersOf = ({ output }: Server) =>
  [...output.stdout.matchAll(/"pid":(\d+)[^\n]*"msg":"listening"/g)].map(([, pid]) => Number(pid));

/** Stops servers under load, one after the other, and puts into the figures what became of the requests. */
async function losesNothing(
  t: Test,
  name: string,
  start: (t: Test) => Promise<Server>,
  meanwhile: (server: Server, round: number) => void = () => {},
) {
  const total = { answered: 0, lost: 0, hung: 0 };
  for (let round = 0; round < STOPS; round++) {
    await t.test(`stop ${round + 1}`, async (t) => {
      const server = await start(t);
      const clients = startClients(server.port, CLIENTS, KEY);
      await wait(500);
      server.child.kill('SIGTERM');
      meanwhile(server, round);
      t.equal(await server.exit, 0);
      const outcomes = await clients.ended;
      for (const kind of ['answered', 'lost', 'hung'] as const) total[kind] += outcomes[kind];
    });
  }
  const { answered, lost, hung } = total;
  addFigures(name, `${lost} lost and ${hung} hung of ${answered} requests in ${STOPS} stops`);
  t.equal(lost, 0);
  t.equal(hung, 0);
}

for (const count of [2, 3, 4]) {
  t.test(`no request is lost in ${STOPS} stops of ${count} processes under load`, (t) =>
    losesNothing(t, `stops, WORKERS=${count}`, (t) => startWorkers(t, count)),
  );
}

t.test(`no request is lost in ${STOPS} stops in which the machine stands still`, (t) =>
  losesNothing(
    t,
    'stops on a machine that stands still',
    (t) => startWorkers(t, 2, '0'),
    (server, round) => standStill(server, 3 * round),
  ),
);

/** First this process with its clients, after some milliseconds those of the server too; this one goes on last. */
function standStill(server: Server, lead: number): void {
  const processes = [server.child.pid as number, ...workersOf(server)];
  const block = (time: number) => Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, time);
  block(lead);
  for (const pid of processes) process.kill(pid, 'SIGSTOP');
  block(300);
  for (const pid of processes) process.kill(pid, 'SIGCONT');
  block(30);
}

t.test(`in ${KILLS} kills of a process no request hangs, and the first process keeps no descriptor`, async (t) => {
  const server = await startWorkers(t, 2);
  const { child, port, written } = server;
  const before = descriptorsOf(child);
  const clients = startClients(port, CLIENTS, KEY);
  for (let kill = 0; kill < KILLS; kill++) {
    await wait(300);
    const pids = workersOf(server);
    process.kill(pids.at(-2) as number, 'SIGKILL');
    await written('stdout', new RegExp(`(?:"msg":"listening"[\\s\\S]*){${pids.length + 1}}`));
  }
  clients.finish();
  const { answered, lost, hung } = await clients.ended;
  const after = await untilDescriptors(child, before);
  addFigures(
    'kills, WORKERS=2',
    `${hung} hung, ${lost} reset of ${answered + lost} requests in ${KILLS} kills; descriptors of the first process ${before}, then ${after}`,
  );
  t.equal(hung, 0);
  t.ok(after <= before, `${after} descriptors, ${before} before`);
  child.kill('SIGTERM');
});

t.test('at every moment of the start SIGTERM ends all processes, in order or at once', async (t) => {
  const ends: Record<string, number> = {};
  let slowest = 0;
  for (let delay = 300; delay < 1800; delay += 50) {
    await t.test(`after ${delay} ms`, async (t) => {
      const env = { PORT: '0', DATABASE_URL: `sqlite:${t.testdir()}/pets.db`, API_KEYS: KEY, WORKERS: '2' };
      const { child, exit } = startProgram(t, 'src/main.ts', { env });
      await wait(delay);
      const asked = performance.now();
      child.kill('SIGTERM');
      const end = await exit;
      slowest = Math.max(slowest, performance.now() - asked);
      ends[end] = (ends[end] ?? 0) + 1;
      t.ok(end === 0 || end === 'SIGTERM', `ended with ${end}`);
    });
  }
  addFigures('SIGTERM in the start, WORKERS=2', `${JSON.stringify(ends)}, ${Math.round(slowest)} ms at most`);
});
