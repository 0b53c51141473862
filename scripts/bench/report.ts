/** The figures as Markdown tables: a line for each server, a column for each workload. */
import type { Figures } from './load.ts';
import { CONSTANT, type Server } from './servers.ts';
import type { Workload } from './workloads.ts';

/** A server on a database that begins with so many pets, and what was measured, in the order of the rounds. */
export interface Line {
  server: Server;
  rows: number;
  title: string;
  measured: (Figures & { workload: string })[];
}

type ToValues = (line: Line, workload: string) => number[];
type ToCell = (values: number[]) => string;

const toValues =
  (figure: keyof Figures): ToValues =>
  ({ measured }, workload) =>
    measured.filter((one) => one.workload === workload).map((one) => one[figure]);

/** For people who read about the service, medians; for those who check them, also the least and the most of the rounds. */
export function toReport(
  lines: Line[],
  workloads: Workload[],
  { growth, postgres }: { growth: boolean; postgres: boolean },
): { summary: string; details: string } {
  const toRate = toValues('perSecond');
  /** Multiples of another rate in the same round: a slow round does not change them. */
  const toTimes: ToValues = (line, workload) => {
    const base = lines.find(({ server }) => !growth || server === line.server) as Line;
    const rates = toRate(base, base.server === CONSTANT ? 'list-20' : workload);
    return toRate(line, workload).map((rate, index) => rate / (rates[index] ?? Number.NaN));
  };
  const base = growth ? `itself with ${format(Math.min(...lines.map(({ rows }) => rows)))} pets` : lines[0]?.title;
  const ofReads = workloads.filter(({ name }) => name.startsWith('reads'));
  const others = workloads.filter((workload) => !ofReads.includes(workload));

  const toTables = (columns: Workload[], toCell: ToCell) => [
    toTable('requests per second', lines, columns, toRate, toCell),
    toTable(`times ${base}`, lines, columns, toTimes, toCell),
    toTable('processor time of a request, µs', lines, columns, toValues('cpu'), toCell),
    toTable('processor time of PostgreSQL for a request, µs', lines, columns, toValues('databaseCpu'), toCell),
  ];
  const summary = [
    ...toTables(others, toMedian),
    toTable('p99, ms', lines, postgres ? workloads : ofReads, toValues('p99'), toMedian),
  ];
  const details = [
    ...toTables(workloads, toRange),
    toTable('p50, ms', lines, workloads, toValues('p50'), toRange),
    toTable('p99, ms', lines, workloads, toValues('p99'), toRange),
    toTable('cores that wrk used', lines, workloads, toValues('generator'), toRange),
  ];
  return { summary: summary.filter(Boolean).join('\n'), details: details.filter(Boolean).join('\n') };
}

/** Leaves out the lines whose cells are all empty; empty where no line is left. */
function toTable(title: string, lines: Line[], columns: Workload[], toValues: ToValues, toCell: ToCell): string {
  const rows = lines
    .map((line) => [line.title, ...columns.map(({ name }) => toCell(toValues(line, name)))])
    .filter(([, ...cells]) => cells.some(Boolean));
  if (rows.length === 0) return '';
  const head = [title, ...columns.map((column) => column.title)];
  return [head, ['---', ...columns.map(() => '--:')], ...rows].map((cells) => `| ${cells.join(' | ')} |\n`).join('');
}

/** Empty where nothing was measured. */
function toMedian(values: number[]): string {
  const sorted = values.filter(Number.isFinite).toSorted((a, b) => a - b);
  const [low, high] = [sorted[(sorted.length - 1) >> 1], sorted[sorted.length >> 1]];
  return low === undefined || high === undefined ? '' : format((low + high) / 2);
}

function toRange(values: number[]): string {
  const median = toMedian(values);
  if (!median || values.length === 1) return median;
  return `${median} (${format(Math.min(...values))}–${format(Math.max(...values))})`;
}

/** Three digits, or all before the decimal point; at most two after it. */
export function format(value: number): string {
  if (value >= 100) return Math.round(value).toLocaleString('en');
  return value.toFixed(value < 10 ? 2 : 1);
}
