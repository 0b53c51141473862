/** Measures the service beside its baselines, and writes README.md and results/: `npm run bench -- [options]`. */
import { chmodSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { buildSqliteDatabases, startPostgresDatabases } from './databases.ts';
import { measure } from './load.ts';
import { describeMachine } from './machine.ts';
import { format, type Line, toReport } from './report.ts';
import {
  CONSTANT,
  type Running,
  SERVICE,
  type Server,
  STRAIGHTFORWARD,
  STRAIGHTFORWARD_POSTGRES,
  startServer,
  stopAll,
} from './servers.ts';
import { CONNECTIONS, WORKLOADS } from './workloads.ts';

/** How much of a core other programs may use. */
const QUIET = 0.15;
/** In the project: the system's folder for temporary files is often in memory, where fsync costs nothing. */
const folder = fileURLToPath(new URL(`../../data/bench-${process.pid}`, import.meta.url));

const { values: options } = parseArgs({
  options: {
    /** On PostgreSQL, which it starts, in place of SQLite. */
    postgres: { type: 'boolean', default: false },
    /** PostgreSQL on the core of the load generator, in place of that of the servers. */
    apart: { type: 'boolean', default: false },
    /** Ten million pets beside ten thousand. */
    growth: { type: 'boolean', default: false },
    /** Names of workloads, with commas between them; then nothing is written. */
    only: { type: 'string' },
    rounds: { type: 'string', default: '3' },
    /** How long each measurement takes. */
    seconds: { type: 'string', default: '5' },
  },
});
const { postgres, growth, rounds, seconds } = options;
const sizes = growth ? [10_000, 10_000_000] : [10_000];
const names = (options.only ?? (growth ? 'get-one,list-20,list-20-by-status,create' : '')).split(',');
const workloads = WORKLOADS.filter(({ name }) => names[0] === '' || names.includes(name));
const baselines = postgres ? [STRAIGHTFORWARD_POSTGRES] : growth ? [STRAIGHTFORWARD] : [CONSTANT, STRAIGHTFORWARD];
const lines = [...baselines, SERVICE].flatMap((server) => sizes.map((rows) => toLine(server, rows)));

function toLine(server: Server, rows: number): Line {
  const title = growth ? `${server.title}, ${format(rows)} pets` : server.title;
  return { server, rows, title: server === SERVICE ? `**${title}**` : title, measured: [] };
}

/** Each server starts on a fresh database, and each workload is sent to one server after the other. */
async function addRound(): Promise<void> {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  // PostgreSQL runs as another user, who must get into it.
  chmodSync(folder, 0o755);
  const core = options.apart ? 'load' : 'server';
  const databases = postgres ? await startPostgresDatabases(folder, core) : buildSqliteDatabases(folder);
  const started: [Line, Running][] = [];
  for (const [index, line] of lines.entries()) {
    const url = await databases.create(`pets_${index}`, line.rows);
    started.push([line, await startServer(line.server, url)]);
  }
  for (const workload of workloads) {
    for (const [line, running] of started) {
      if (line.server === CONSTANT && workload.name !== 'list-20') continue;
      const figures = await measure(workload.toStreams(line.rows), running, databases.pid, Number(seconds));
      line.measured.push({ workload: workload.name, ...figures });
      const [rate, p99, others] = [figures.perSecond, figures.p99, figures.others].map(format);
      console.error(`${workload.title}, ${line.title}: ${rate}/s, p99 ${p99} ms; other programs: ${others} of a core`);
    }
  }
  await stopAll();
}

/** Into a file of its own, and into README.md, between the two comments that are there for it. */
function write(name: string, summary: string, details: string): void {
  const here = fileURLToPath(new URL('./', import.meta.url));
  writeFileSync(`${here}results/${name}.md`, details);
  const around = new RegExp(`(?<=<!-- figures: ${name} -->\\n).*?(?=<!-- end of figures -->)`, 's');
  const text = readFileSync(`${here}README.md`, 'utf8').replace(around, () => summary);
  writeFileSync(`${here}README.md`, text);
}

process.on('exit', () => rmSync(folder, { recursive: true, force: true, maxRetries: 5 }));
for (const signal of ['SIGINT', 'SIGTERM']) process.once(signal, () => process.exit(1));
if (workloads.length === 0) throw new Error(`--only takes some of ${WORKLOADS.map(({ name }) => name).join(', ')}.`);
for (let round = 1; round <= Number(rounds); round++) await addRound();

const others = Math.max(...lines.flatMap(({ measured }) => measured.map((one) => one.others)));
const notes = [
  `${sizes.map(format).join(', ')} pets; ${CONNECTIONS} connections; medians of ${rounds} × ${seconds} seconds, load by wrk.`,
  describeMachine(folder),
  ...(others > QUIET ? [`The machine was not quiet: other programs took up to ${format(others)} of a core.`] : []),
].join(' ');
const { summary, details } = toReport(lines, workloads, { growth, postgres });
console.log(`${notes}\n\n${details}`);
if (!options.only && !options.apart) {
  const name = [postgres && 'postgres', growth && 'growth'].filter(Boolean).join('-') || 'bench';
  write(name, `${notes}\n\n${summary}`, `${notes}\n\n${details}`);
}
