/** A queue that rejects items that wait longer than a timeout. */

/** A waiting item. The code that takes it from the queue must resolve or reject it. */
export interface Waiting<Item, Result = unknown> {
  item: Item;
  /** The time when the item was added, by `performance.now()`. */
  since: number;
  resolve(result: Result): void;
  reject(error: unknown): void;
}

export class Queue<Item, Result = unknown> {
  readonly #timeout: number;
  readonly #toError: () => Error;
  #all: Waiting<Item, Result>[] = [];
  #timer: NodeJS.Timeout | undefined;

  /**
   * `timeout` is the longest time that an item may wait, in milliseconds. If an item waits longer, it is rejected with
   * the error of `toError`.
   */
  constructor(timeout: number, toError: () => Error) {
    this.#timeout = timeout;
    this.#toError = toError;
  }

  get length(): number {
    return this.#all.length;
  }

  /** Adds an item. The promise is resolved or rejected by the code that takes the item. */
  add(item: Item): Promise<Result> {
    return new Promise((resolve, reject) => {
      this.#all.push({ item, since: performance.now(), resolve, reject });
      if (this.#all.length === 1) this.#watch();
    });
  }

  /**
   * Rejects the items that have waited too long. Then removes the first `count` items (by default all) from the queue,
   * and returns them.
   */
  take(count = this.#all.length): Waiting<Item, Result>[] {
    this.#rejectLate();
    const taken = this.#all.splice(0, count);
    if (this.#all.length === 0) this.#watch();
    return taken;
  }

  /** Puts items that `take` returned back to their former position, because the queue is sorted by `since`. */
  putBack(taken: Waiting<Item, Result>[]): void {
    this.#all = [...taken, ...this.#all].sort((a, b) => a.since - b.since);
    this.#watch();
  }

  /** Sets a timer for the moment when the first item will be late. */
  #watch(): void {
    clearTimeout(this.#timer);
    const [first] = this.#all;
    const look = () => {
      this.#rejectLate();
      this.#watch();
    };
    if (first) this.#timer = setTimeout(look, first.since + this.#timeout - performance.now());
  }

  /** Rejects the items that have waited too long, which are at the front, because the queue is sorted by `since`. */
  #rejectLate(): void {
    const limit = performance.now() - this.#timeout;
    const count = this.#all.findIndex(({ since }) => since > limit);
    const late = this.#all.splice(0, count === -1 ? this.#all.length : count);
    if (late.length > 0) rejectAll(late, this.#toError());
  }
}

export function rejectAll(all: Pick<Waiting<unknown>, 'reject'>[], error: unknown): void {
  for (const { reject } of all) reject(error);
}
