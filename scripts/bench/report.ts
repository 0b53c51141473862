/** The figures as Markdown tables: a line for each server, a column for each workload; medians, with the range in brackets. */
import { comparisonsOf } from './comparisons.ts';
import { format, type Life, type Measurement, type Results, ratios, select, spread } from './figures.ts';
import type { Plan, Subject } from './plan.ts';
import { toRange, toTable } from './table.ts';
import type { Workload } from './workloads.ts';

const LIFE_COLUMNS = [
  { title: 'start to first reply, ms', figure: 'firstReply' },
  { title: 'memory after a round, MB', figure: 'resident' },
  { title: 'at its peak, MB', figure: 'peak' },
] as const;

export function toMarkdown(plan: Plan, { measurements, lives }: Results): string {
  const isOneSize = plan.subjects.every(({ rows }) => rows === plan.subjects[0]?.rows);
  const subjects = plan.subjects.map((subject) => ({
    ...subject,
    title: subject.server.title + (isOneSize ? '' : `, ${format(subject.rows)} pets`),
  }));
  const mixes = plan.workloads.filter(({ name }) => name.startsWith('mix'));

  const keyOf = ({ server, rows }: Subject, { name }: Workload) => ({ server: server.name, rows, workload: name });
  const valuesOf = (subject: Subject, workload: Workload, figure: keyof Measurement) =>
    select(measurements, keyOf(subject, workload)).map((one) => one[figure] as number);
  const livesOf = ({ server, rows }: Subject, figure: keyof Life) =>
    lives.filter((life) => life.server === server.name && life.rows === rows).map((life) => life[figure] as number);
  const tableByWorkload = (title: string, toCell: (subject: Subject, workload: Workload) => string) =>
    toTable(title, subjects, plan.workloads, toCell);

  return [
    tableByWorkload('requests per second', (subject, workload) => toRange(valuesOf(subject, workload, 'perSecond'))),
    ...comparisonsOf(plan).map(({ title, baseOf }) =>
      tableByWorkload(title, (subject, workload) => {
        const key = keyOf(subject, workload);
        return toRange(ratios(measurements, key, baseOf(key)));
      }),
    ),
    tableByWorkload('p50 / p99, ms', (subject, workload) => {
      const [p50, p99] = [valuesOf(subject, workload, 'p50'), valuesOf(subject, workload, 'p99')].map(spread);
      return p50 && p99 ? `${format(p50.median)} / ${format(p99.median)}` : '';
    }),
    toTable('p99 of the reads, ms', subjects, mixes, (subject, workload) =>
      toRange(valuesOf(subject, workload, 'readP99')),
    ),
    tableByWorkload('CPU for 1,000 requests, ms', (subject, workload) => toRange(valuesOf(subject, workload, 'cpu'))),
    toTable('', subjects, LIFE_COLUMNS, (subject, { figure }) => toRange(livesOf(subject, figure))),
  ]
    .filter(Boolean)
    .join('\n');
}
