/**
 * Limits how many connections are read at the same time, if many clients send requests before they have the replies to
 * earlier ones.
 */

/**
 * How many connections may read ahead in one iteration of the event loop. After that, all connections wait for their
 * turn.
 */
const MAX_AHEAD = 32;

/** How many waiting connections are read again in each iteration. */
const MAX_RESUMED = 8;

export interface Reader {
  /** Makes the connection wait for its turn, unless it is paused. */
  yieldTurn(): void;
  resume(): void;
}

/**
 * Decides which connections may be read. A single read brings up to 64 KiB of requests, which are served one after the
 * other. If 1,000 connections were read in one iteration, their requests would outlive several garbage collections, and
 * V8 would keep many times their size.
 */
export class ReadTurns {
  readonly #open: Iterable<Reader>;
  readonly #queue: Reader[] = [];
  /** The number of connections that have read ahead in this iteration. */
  #ahead = 0;

  constructor(open: Iterable<Reader>) {
    this.#open = open;
  }

  /** Counts a connection that has stopped reading because it has read ahead. */
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
