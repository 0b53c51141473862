/** Measures the service and its baselines, and prints tables for README.md: `npm run bench -- [options]`. */
import { chmodSync, mkdirSync, rmSync } from 'node:fs';
import { cpus } from 'node:os';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { buildSqliteDatabases, startPostgresDatabases } from './databases.ts';
import { type Figures, measure } from './load.ts';
import { CONSTANT, type Running, SERVICE, type Server, STRAIGHTFORWARD, startServer, stopAll } from './servers.ts';
import { CONNECTIONS, ROWS, WORKLOADS } from './workloads.ts';

/**
 * The folder is in the project, because the system's folder for temporary files is often in memory, where fsync costs
 * nothing.
 */
const folder = fileURLToPath(new URL(`../../data/bench-${process.pid}`, import.meta.url));

const { values: options } = parseArgs({
  options: {
    /** Measures only the service, on a PostgreSQL that the benchmark starts. */
    postgres: { type: 'boolean', default: false },
    /** The names of the workloads to measure, separated by commas. By default, all are measured. */
    only: { type: 'string' },
    rounds: { type: 'string', default: '3' },
    /** The duration of each measurement, in seconds. */
    seconds: { type: 'string', default: '5' },
  },
});
const { postgres, only, rounds, seconds } = options;
const workloads = WORKLOADS.filter(({ name }) => only === undefined || only.split(',').includes(name));
const servers = postgres ? [SERVICE] : [CONSTANT, STRAIGHTFORWARD, SERVICE];
const measured: (Figures & { server: Server; workload: string })[] = [];

/** Measures one round: starts each server with a new database, and runs each workload on one server after the other. */
async function addRound(): Promise<void> {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  // PostgreSQL may run as another user, who must be able to enter the folder.
  chmodSync(folder, 0o755);
  const databases = postgres ? await startPostgresDatabases(folder) : buildSqliteDatabases(folder);
  const started: [Server, Running][] = [];
  for (const [index, server] of servers.entries()) {
    started.push([server, await startServer(server, await databases.create(`pets_${index}`))]);
  }
  for (const { name, title, toStreams } of workloads) {
    for (const [server, running] of started) {
      if (server === CONSTANT && name !== 'list-20') continue;
      const figures = await measure(toStreams(), running, databases.pid, Number(seconds));
      measured.push({ server, workload: name, ...figures });
      console.error(`${title}, ${server.title}: ${format(figures.perSecond)}/s, p99 ${format(figures.p99)} ms`);
    }
  }
  await stopAll();
}

/**
 * Renders a table with a line for each server and a column for each workload. A cell without a measurement is empty.
 * The text is empty if nothing was measured.
 */
function toTable(title: string, figure: keyof Figures): string {
  const cells = servers.map((server) => [
    server === SERVICE ? `**${server.title}**` : server.title,
    ...workloads.map(({ name }) =>
      toMedian(measured.filter((one) => one.server === server && one.workload === name).map((one) => one[figure])),
    ),
  ]);
  if (!cells.some(([, ...figures]) => figures.some(Boolean))) return '';
  const head = [title, ...workloads.map((workload) => workload.title)];
  return [head, ['---', ...workloads.map(() => '--:')], ...cells].map((row) => `| ${row.join(' | ')} |\n`).join('');
}

/** Renders the median of the rounds, followed by their minimum and maximum. */
function toMedian(values: number[]): string {
  const sorted = values.filter(Number.isFinite).toSorted((a, b) => a - b);
  const [median, least, most] = [sorted[sorted.length >> 1], sorted[0], sorted.at(-1)];
  if (median === undefined) return '';
  return sorted.length === 1 ? format(median) : `${format(median)} (${format(least)}–${format(most)})`;
}

/**
 * Renders a number from 100 on without decimals, a number from 10 on with one decimal, and a smaller number with two.
 */
function format(value = Number.NaN): string {
  return value >= 100 ? Math.round(value).toLocaleString('en') : value.toFixed(value < 10 ? 2 : 1);
}

process.on('exit', () => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }));
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => process.exit(1));
if (workloads.length === 0) throw new Error(`--only takes some of ${WORKLOADS.map(({ name }) => name).join(', ')}.`);
for (let round = 1; round <= Number(rounds); round++) await addRound();

console.log(`${format(ROWS)} pets; ${CONNECTIONS} connections; medians of ${rounds} × ${seconds} seconds, load by wrk, \
behind forced collections. ${new Date().toISOString().slice(0, 10)}, ${cpus()[0]?.model.trim()}, Node ${process.version}.\n`);
console.log(toTable('requests per second', 'perSecond'));
console.log(toTable('processor time of a request, µs', 'cpu'));
console.log(toTable('processor time of PostgreSQL for a request, µs', 'databaseCpu'));
console.log(toTable('p99, ms', 'p99'));
