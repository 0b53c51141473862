/** How long replies took: a count for each microsecond, so that a million of them cost no more memory than one. */

/** Anything slower counts as this, in microseconds. */
const SLOWEST = 2_000_000;

export class Latencies {
  #counts = new Uint32Array(SLOWEST + 1);
  count = 0;

  add(milliseconds: number): void {
    const microseconds = Math.min(Math.round(milliseconds * 1000), SLOWEST);
    this.#counts[microseconds] = (this.#counts[microseconds] as number) + 1;
    this.count += 1;
  }

  /** The latency in milliseconds within which this share of the replies came: `at(0.99)` is the 99th percentile. */
  at(share: number): number {
    let left = Math.ceil(share * this.count);
    let microseconds = 0;
    while (left > (this.#counts[microseconds] as number)) left -= this.#counts[microseconds++] as number;
    return microseconds / 1000;
  }
}
