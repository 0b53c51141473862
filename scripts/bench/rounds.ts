/** The measuring: in each round every server starts on a fresh database, and each workload goes to one after the other. */
import { closeSync, copyFileSync, fsyncSync, mkdirSync, openSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { checkServer } from './check.ts';
import { format, type Results } from './figures.ts';
import { type Figures, startLoad } from './load.ts';
import { seed } from './pets.ts';
import type { Plan, Subject } from './plan.ts';
import { cpuTime, memory } from './process-usage.ts';
import { type Running, type Server, startServer } from './servers.ts';
import type { Workload } from './workloads.ts';

/** How long each workload runs before it is measured, in seconds. */
const WARM_UP = 1;

type Started = Subject & { running: Running };

/** @throws Error at the first reply that is not what it must be */
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
        const figures = await measure(workload, subject, plan.seconds);
        const { server, rows } = subject;
        measurements.push({ round, server: server.name, rows, workload: workload.name, ...figures });
        progress(
          `${round}/${plan.rounds} ${workload.title}, ${count(rows)} pets, ${server.title}: ${toWords(figures)}`,
        );
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
  const running = await startServer(server, file, isPinned);
  await checkServer(server, running, rows);
  return { server, rows, running };
}

async function measure(workload: Workload, { rows, running }: Started, seconds: number) {
  const load = startLoad(running.port, workload.exchanges(rows));
  try {
    await load.measure(WARM_UP);
    const before = cpuTime(running.pid);
    const figures = await load.measure(seconds);
    return { ...figures, cpu: ((cpuTime(running.pid) - before) * 1000) / figures.requests };
  } finally {
    load.stop();
  }
}

/** A constant server answers whatever it is asked with a list of 20. */
const isFor = ({ name }: Workload, { isConstant }: Server) => !isConstant || name === 'list-20';

/** Down to the disk: what is left to write would be written while a server waits for its own fsync. */
function copyDurably(from: string, to: string): void {
  copyFileSync(from, to);
  const file = openSync(to, 'r+');
  fsyncSync(file);
  closeSync(file);
}

/** The last of them tells whether the server had its core to itself. */
function toWords({ perSecond, p99, cpu }: Figures & { cpu: number }): string {
  return `${count(perSecond)}/s, p99 ${format(p99)} ms, ${count((cpu * perSecond) / 10_000)} % of a core`;
}

const count = (value: number) => Math.round(value).toLocaleString('en');
const progress = (line: string) => console.error(line);
