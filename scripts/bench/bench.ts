/** Measures the service beside its baselines: `npm run bench -- [options]`; they stand in options.ts. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { format } from './figures.ts';
import { findWrk } from './load.ts';
import { describeMachine, toSentence } from './machine.ts';
import { toOptions } from './options.ts';
import { startPostgresDatabases } from './postgres-databases.ts';
import { toMarkdown, toSummary } from './report.ts';
import { runPlan } from './rounds.ts';
import { buildSqliteDatabases } from './sqlite-databases.ts';
import { CONNECTIONS } from './workloads.ts';

const HERE = fileURLToPath(new URL('./', import.meta.url));
/** In the project's folder: the system's folder for temporary files is often in memory, where fsync costs nothing. */
const DATA = fileURLToPath(new URL('../../data/', import.meta.url));

async function main(): Promise<void> {
  const { plan, isOnPostgres, isApart, isGrowth, isWhole } = toOptions(process.argv.slice(2));
  findWrk();
  mkdirSync(DATA, { recursive: true });
  const directory = mkdtempSync(join(DATA, 'bench-'));
  process.on('exit', () => rmSync(directory, { recursive: true, force: true }));
  // Leaving ends the servers, too.
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));

  const machine = describeMachine(directory);
  const { isPinned } = machine;
  const databases = isOnPostgres
    ? await startPostgresDatabases(directory, isApart ? 'load' : 'server', isPinned)
    : buildSqliteDatabases(directory);
  const wholePlan = { ...plan, databases, isPinned };
  const results = await runPlan(wholePlan);
  await databases.stop();

  const { subjects, rounds, seconds } = plan;
  const sizes = [...new Set(subjects.map(({ rows }) => format(rows)))];
  const notes = [
    `${sizes.join(', ')} pets; ${CONNECTIONS} connections; medians of ${rounds} × ${seconds} seconds, load by wrk.`,
    toSentence(machine),
  ];
  const tables = `${notes.join(' ')}\n\n${toMarkdown(wholePlan, results)}`;
  console.log(tables);
  if (!isWhole) return;

  const name = [isOnPostgres && 'postgres', isGrowth && 'growth'].filter(Boolean).join('-') || 'bench';
  writeFileSync(join(HERE, `results/${name}.md`), tables);
  if (!isGrowth) writeIntoReadme(name, `${notes.join(' ')}\n\n${toSummary(wholePlan, results)}`);
}

/** Between the two comments that are there for it. */
function writeIntoReadme(name: string, summary: string): void {
  const path = join(HERE, 'README.md');
  const around = new RegExp(`(?<=<!-- figures: ${name} -->\\n).*?(?=<!-- end of figures -->)`, 's');
  writeFileSync(
    path,
    readFileSync(path, 'utf8').replace(around, () => summary),
  );
}

main().catch((error: Error) => {
  console.error(error.message);
  // Not only the exit code: a server that is still there would keep this process waiting.
  process.exit(1);
});
