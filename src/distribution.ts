/** Counts numbers by size, for a histogram, at the price of an addition. */
export class Distribution {
  /** In ascending order. */
  readonly bounds: readonly number[];
  /** How many numbers were up to each bound, and above the previous one; the last bucket is above all bounds. */
  readonly buckets: number[];
  sum = 0;

  constructor(bounds: readonly number[]) {
    this.bounds = bounds;
    this.buckets = Array<number>(bounds.length + 1).fill(0);
  }

  add(value: number): void {
    let bucket = 0;
    while (value > (this.bounds[bucket] as number)) bucket++;
    (this.buckets[bucket] as number)++;
    this.sum += value;
  }

  get count(): number {
    return this.buckets.reduce((sum, count) => sum + count, 0);
  }
}

/** Bounds for durations in seconds: replies take 0.1 to 5 ms, stalls take seconds. */
export const SECONDS: readonly number[] = [
  ...[0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10],
];
