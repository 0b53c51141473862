/** Measures in rounds: each server starts on a fresh database, and each workload is sent to one server after the other. */
import { closeSync, copyFileSync, fsyncSync, mkdirSync, openSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { checkServer } from './check.ts';
import { format, type Results } from './figures.ts';
import { type Figures, sendLoad } from './load.ts';
import { seed } from './pets.ts';
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
  /** Where the databases are kept while it runs. */
  directory: string;
  isPinned: boolean;
}

type Started = Subject & { running: Running };
type Used = Figures & { cpu: number; others: number };

/** @throws Error at the first wrong reply */
export async function runPlan(plan: Plan): Promise<Results> {
  for (const rows of new Set(plan.subjects.map((subject) => subject.rows))) {
    progress(`making a database of ${count(rows)} pets`);
    seed(join(plan.directory, `${rows}.db`), rows);
  }
  const results: Results = { measurements: [], lives: [] };
  for (let round = 1; round <= plan.rounds; round++) await addRound(results, plan, round);
  return results;
}

async function addRound({ measurements, lives }: Results, plan: Plan, round: number): Promise<void> {
  const folder = join(plan.directory, `round-${round}`);
  const started: Started[] = [];
  mkdirSync(folder);
  try {
    for (const subject of plan.subjects) started.push(await start(subject, plan, folder));
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
    for (const { running } of started) running.stop();
    rmSync(folder, { recursive: true, force: true });
  }
}

async function start({ server, rows }: Subject, { directory, isPinned }: Plan, folder: string): Promise<Started> {
  const file = join(folder, `${server.name}-${rows}.db`);
  copyDurably(join(directory, `${rows}.db`), file);
  await waitForQuiet();
  const running = await startServer(server, file, isPinned);
  await checkServer(server, running, rows);
  return { server, rows, running };
}

/** The one of some tries that other programs disturbed least; the first that they did not. */
async function measure(streams: Stream[], { pid, port }: Running, { seconds, isPinned }: Plan): Promise<Used> {
  await sendLoad(port, streams, { seconds: WARM_UP, isPinned, check: true });
  const tries: Used[] = [];
  do {
    await waitForQuiet();
    const [before, all, begin] = [cpuTime(pid), machineTime(), performance.now()];
    const figures = await sendLoad(port, streams, { seconds, isPinned });
    const elapsed = performance.now() - begin;
    const used = cpuTime(pid) - before;
    const others = (machineTime() - all - used) / elapsed - figures.generator;
    tries.push({ ...figures, cpu: (used * 1000) / figures.requests, others });
  } while (tries.length < TRIES && tries.every(({ others }) => isDisturbed(others)));
  return tries.toSorted((a, b) => a.others - b.others)[0] as Used;
}

/** A constant server answers every request with a list of 20. */
const isFor = ({ name }: Workload, { isConstant }: Server) => !isConstant || name === 'list-20';

/** Writes everything to the disk: otherwise it would be written while a server waits for its own fsync. */
function copyDurably(from: string, to: string): void {
  copyFileSync(from, to);
  const file = openSync(to, 'r+');
  fsyncSync(file);
  closeSync(file);
}

function toWords({ perSecond, p99, cpu, generator, others }: Used): string {
  const cores = [(cpu * perSecond) / 1e6, generator, others].map((share) => `${count(share * 100)} %`);
  return `${count(perSecond)}/s, p99 ${format(p99)} ms; of a core, server ${cores[0]}, wrk ${cores[1]}, others ${cores[2]}`;
}

const count = (value: number) => Math.round(value).toLocaleString('en');
const progress = (line: string) => console.error(line);
