/** Measures the service beside its baselines: `npm run bench`; what it takes after `--` stands in options.ts. */
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { toChart } from './chart.ts';
import { pinLoad } from './cores.ts';
import { format } from './figures.ts';
import { CONNECTIONS } from './load.ts';
import { describeMachine, toSentence } from './machine.ts';
import { toOptions } from './options.ts';
import { toMarkdown } from './report.ts';
import { runPlan } from './rounds.ts';

const RESULTS = fileURLToPath(new URL('./results/', import.meta.url));
/** In the project's folder: the system's folder for temporary files is often in memory, where fsync costs nothing. */
const DATA = fileURLToPath(new URL('../../data/', import.meta.url));

async function main(): Promise<void> {
  const { plan, isGrowth, out } = toOptions(process.argv.slice(2), RESULTS);
  mkdirSync(DATA, { recursive: true });
  const directory = mkdtempSync(join(DATA, 'bench-'));
  process.on('exit', () => rmSync(directory, { recursive: true, force: true }));
  // Leaving ends the servers, too.
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => process.exit(1));

  const isPinned = pinLoad();
  const machine = describeMachine(directory, isPinned);
  const wholePlan = { ...plan, directory, isPinned };
  const results = await runPlan(wholePlan);

  const { subjects, rounds, seconds } = plan;
  const sizes = [...new Set(subjects.map(({ rows }) => format(rows)))];
  const notes = [
    `${sizes.join(', ')} pets; ${CONNECTIONS} connections; medians, and ranges, of ${rounds} × ${seconds} seconds.`,
    toSentence(machine),
  ];
  const markdown = `${notes.join(' ')}\n\n${toMarkdown(wholePlan, results)}`;
  console.log(markdown);
  if (out === undefined) return;

  const json = `${JSON.stringify({ machine, rounds, seconds, ...results }, null, 2)}\n`;
  const chart = isGrowth ? undefined : toChart(wholePlan, results, notes);
  const name = isGrowth ? 'growth' : 'bench';
  mkdirSync(out, { recursive: true });
  writeFileSync(join(out, `${name}.json`), json);
  writeFileSync(join(out, `${name}.md`), markdown);
  if (chart !== undefined) writeFileSync(join(out, `${name}.svg`), chart);
}

main().catch((error: Error) => {
  console.error(error.message);
  // Not only the exit code: a server that is still there would keep this process waiting.
  process.exit(1);
});
