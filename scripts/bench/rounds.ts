/** Measures in rounds: each server starts on a fresh database, and each workload is sent to one server after the other. */
import { checkServer } from './check.ts';
import type { Copy, Databases } from './databases.ts';
import { format, type Measurement, type Results } from './figures.ts';
import { type Figures, sendLoad } from './load.ts';
import { cpuTime, memory } from './process-usage.ts';
import { isDisturbed, machineTime, waitForQuiet } from './quiet.ts';
import { type Running, type Server, startServer } from './servers.ts';
import type { Stream, Workload } from './workloads.ts';

/** How long each workload runs before it is measured, every reply checked, in seconds. */
const WARM_UP = 1;
/** How often a measurement is repeated that other programs disturbed. */
const TRIES = 3;

/** A server, and how many pets its database begins with. */
export interface Subject {
  server: Server;
  rows: number;
}

export interface Plan {
  subjects: Subject[];
  workloads: Workload[];
  rounds: number;
  /** How long each measurement takes. */
  seconds: number;
  databases: Databases;
  isPinned: boolean;
}

type Started = Subject & { copy: Copy; running: Running };
type Used = Figures & Pick<Measurement, 'cpu' | 'databaseCpu' | 'others'>;

/** @throws Error at the first wrong reply */
export async function runPlan(plan: Plan): Promise<Results> {
  for (const rows of new Set(plan.subjects.map((subject) => subject.rows))) {
    progress(`making a database of ${count(rows)} pets`);
    await plan.databases.seed(rows);
  }
  const results: Results = { measurements: [], lives: [] };
  for (let round = 1; round <= plan.rounds; round++) await addRound(results, plan, round);
  return results;
}

async function addRound({ measurements, lives }: Results, plan: Plan, round: number): Promise<void> {
  const started: Started[] = [];
  try {
    for (const subject of plan.subjects) started.push(await start(subject, plan, round));
    for (const workload of plan.workloads) {
      for (const subject of started.filter(({ server }) => isFor(workload, server))) {
        const figures = await measure(workload.toStreams(subject.rows), subject.running, plan);
        const { server, rows } = subject;
        measurements.push({ round, server: server.name, rows, workload: workload.name, ...figures });
        const title = `${workload.title}, ${count(rows)} pets, ${server.title}`;
        progress(`${round}/${plan.rounds} ${title}: ${toWords(figures)}`);
      }
    }
    for (const { server, rows, running } of started) {
      const { pid, firstReply } = running;
      const used = { resident: memory(pid, 'VmRSS'), peak: memory(pid, 'VmHWM') };
      lives.push({ round, server: server.name, rows, firstReply, ...used });
    }
  } finally {
    for (const { running, copy } of started) {
      running.stop();
      await copy.drop();
    }
  }
}

async function start({ server, rows }: Subject, { databases, isPinned }: Plan, round: number): Promise<Started> {
  const copy = await databases.copy(rows, `${server.name}-${rows}-${round}`);
  await waitForQuiet();
  const running = await startServer(server, copy.url, isPinned);
  await checkServer(server, running, rows);
  return { server, rows, copy, running };
}

/** The one of some tries that other programs disturbed least; the first that they did not. */
async function measure(
  streams: Stream[],
  { pid, port }: Running,
  { seconds, isPinned, databases }: Plan,
): Promise<Used> {
  const databaseTime = () => (databases.pid ? cpuTime(databases.pid) : Number.NaN);
  await sendLoad(port, streams, { seconds: WARM_UP, isPinned, check: true });
  const tries: Used[] = [];
  do {
    await waitForQuiet();
    const [before, beforeOfDatabase, all, begin] = [cpuTime(pid), databaseTime(), machineTime(), performance.now()];
    const figures = await sendLoad(port, streams, { seconds, isPinned });
    const elapsed = performance.now() - begin;
    const [used, usedByDatabase] = [cpuTime(pid) - before, databaseTime() - beforeOfDatabase];
    const others = (machineTime() - all - used - (usedByDatabase || 0)) / elapsed - figures.generator;
    const [cpu, databaseCpu] = [used, usedByDatabase].map((time) => (time * 1000) / figures.requests);
    tries.push({ ...figures, cpu, databaseCpu, others } as Used);
  } while (tries.length < TRIES && tries.every(({ others }) => isDisturbed(others)));
  return tries.toSorted((a, b) => a.others - b.others)[0] as Used;
}

/** A constant server answers every request with a list of 20. */
const isFor = ({ name }: Workload, { isConstant }: Server) => !isConstant || name === 'list-20';

function toWords({ perSecond, p99, cpu, databaseCpu, generator, others }: Used): string {
  const [server, database] = [cpu, databaseCpu].map((time) => (time * perSecond) / 1e6);
  const cores = Object.entries({ server, database, wrk: generator, others });
  const used = cores
    .filter(([, share]) => !Number.isNaN(share))
    .map(([name, share = 0]) => `${name} ${count(share * 100)} %`)
    .join(', ');
  return `${count(perSecond)}/s, p99 ${format(p99)} ms; of a core, ${used}`;
}

const count = (value: number) => Math.round(value).toLocaleString('en');
const progress = (line: string) => console.error(line);
