/** The figures as Markdown tables: a line for each server, a column for each workload. */
import { format, type Results, spread } from './figures.ts';
import { isOnPostgres, toBase, toLines } from './lines.ts';
import type { Plan } from './rounds.ts';
import { toMedian, toRange, toTable } from './table.ts';
import { isOfReads } from './workloads.ts';

const LIFE_COLUMNS = [
  { title: 'start to first reply, ms', figure: 'firstReply' },
  { title: 'memory after a round, MB', figure: 'resident' },
  { title: 'at its peak, MB', figure: 'peak' },
] as const;

/** For people who read about the service: medians. */
export function toSummary(plan: Plan, results: Results): string {
  const lines = toLines(plan, results);
  const workloads = plan.workloads.filter(({ name }) => !isOfReads(name));
  return joinTables([
    toTable('requests per second', lines, workloads, (line, { name }) => toMedian(line.values(name, 'perSecond'))),
    toTable(toBase(plan).title, lines, workloads, (line, { name }) => toMedian(line.times(name))),
    toTable('processor time of a request, µs', lines, workloads, (line, { name }) =>
      toMedian(line.values(name, 'cpu')),
    ),
    toTable('processor time of PostgreSQL for a request, µs', lines, workloads, (line, { name }) =>
      toMedian(line.values(name, 'databaseCpu')),
    ),
    toTable(
      'p99, ms',
      lines,
      plan.workloads.filter(({ name }) => isOnPostgres(plan) || isOfReads(name)),
      (line, { name }) => toMedian(line.values(name, 'p99')),
    ),
  ]);
}

/** For those who check them: medians, with the least and the most of the rounds. */
export function toMarkdown(plan: Plan, results: Results): string {
  const lines = toLines(plan, results);
  const { workloads } = plan;
  return joinTables([
    toTable('requests per second', lines, workloads, (line, { name }) => toRange(line.values(name, 'perSecond'))),
    toTable(toBase(plan).title, lines, workloads, (line, { name }) => toRange(line.times(name))),
    toTable('p50 / p99, ms', lines, workloads, (line, { name }) => {
      const [p50, p99] = [line.values(name, 'p50'), line.values(name, 'p99')].map(spread);
      return p50 && p99 ? `${format(p50.median)} / ${format(p99.median)}` : '';
    }),
    toTable('processor time of a request, µs', lines, workloads, (line, { name }) => toRange(line.values(name, 'cpu'))),
    toTable('processor time of PostgreSQL for a request, µs', lines, workloads, (line, { name }) =>
      toRange(line.values(name, 'databaseCpu')),
    ),
    toTable('cores that wrk used', lines, workloads, (line, { name }) => toRange(line.values(name, 'generator'))),
    toTable('', lines, LIFE_COLUMNS, (line, { figure }) => toRange(line.life(figure))),
  ]);
}

const joinTables = (tables: string[]) => tables.filter(Boolean).join('\n');
