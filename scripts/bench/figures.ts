/** One figure from all rounds: the median, with the lowest and the highest. */
import type { Figures } from './load.ts';

/** The server that was measured, and in which round. */
interface Source {
  round: number;
  server: string;
  rows: number;
}

export interface Measurement extends Source, Figures {
  workload: string;
  /** Processor time of the server for a request, in microseconds. */
  cpu: number;
  /** The processor time of the database's own processes. */
  databaseCpu: number;
  /** How much of a core other programs used meanwhile. */
  others: number;
}

/** A server's whole round: the time from its start to its first reply (ms), and its memory at the end and at its peak (MB). */
export interface Life extends Source {
  firstReply: number;
  resident: number;
  peak: number;
}

export interface Results {
  measurements: Measurement[];
  lives: Life[];
}

export interface Spread {
  median: number;
  least: number;
  most: number;
}

/** The values that are measured once in each round. */
export interface Key {
  server: string;
  rows: number;
  workload: string;
}

/** The measurements of a key, in the order of their rounds; none where it was not measured. */
export function select(measurements: Measurement[], { server, rows, workload }: Key): Measurement[] {
  return measurements.filter((one) => one.server === server && one.rows === rows && one.workload === workload);
}

/** The ratio of requests per second, round by round, so that a slow round does not change it. */
export function ratios(measurements: Measurement[], key: Key, base: Key): number[] {
  const bases = select(measurements, base);
  return select(measurements, key).flatMap(({ perSecond, round }) =>
    bases.filter((one) => one.round === round).map((one) => perSecond / one.perSecond),
  );
}

/** The median; undefined without values. */
export function spread(values: number[]): Spread | undefined {
  const sorted = values.toSorted((a, b) => a - b);
  const at = (index: number) => sorted[index] as number;
  if (sorted.length === 0) return undefined;
  const middle = (sorted.length - 1) / 2;
  return { median: (at(Math.floor(middle)) + at(Math.ceil(middle))) / 2, least: at(0), most: at(sorted.length - 1) };
}

/** Three digits, or all before the decimal point; at most two after it. */
export function format(value: number): string {
  if (value >= 100) return Math.round(value).toLocaleString('en');
  return value.toFixed(value < 10 ? 2 : 1);
}
