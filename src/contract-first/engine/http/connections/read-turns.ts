/**
 * Limits how many connections are read at the same time, if many clients send requests before they receive the replies
 * to earlier ones.
 */

/**
 * If this number of connections reach the limit for reading ahead in one iteration of the event loop, all connections
 * must wait for their turn to be read.
 */
const MAX_AHEAD = 32;

/** How many waiting connections may be read again in each iteration. */
const MAX_RESUMED = 8;

export interface Reader {
  /** Stops reading this connection until its turn, unless it is already paused. */
  yieldTurn(): void;
  resume(): void;
}

/**
 * Decides which connections may be read. A single read returns up to 64 KiB of requests, which are then served one
 * after the other. If 1,000 connections were read in one iteration, their requests would survive several garbage
 * collections, and V8 would need many times their size in memory.
 */
export class ReadTurns {
  readonly #open: Iterable<Reader>;
  readonly #queue: Reader[] = [];
  /** How many connections have reached the limit for reading ahead in this iteration. */
  #ahead = 0;

  constructor(open: Iterable<Reader>) {
    this.#open = open;
  }

  /** Counts a connection that has reached the limit for reading ahead, and is no longer read. */
  countAhead(): void {
    if (this.#ahead++ === 0) setImmediate(() => this.#endIteration());
    if (this.#ahead === MAX_AHEAD) for (const reader of this.#open) reader.yieldTurn();
  }

  wait(reader: Reader): void {
    if (this.#queue.push(reader) === 1) setImmediate(() => this.#resumeSome());
  }

  #endIteration(): void {
    this.#ahead = 0;
  }

  #resumeSome(): void {
    for (const reader of this.#queue.splice(0, MAX_RESUMED)) reader.resume();
    if (this.#queue.length > 0) setImmediate(() => this.#resumeSome());
  }
}
