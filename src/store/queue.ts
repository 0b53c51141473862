/** What waits for its turn: each item is taken in time, or refused with the reason. It knows no database. */

/** Whoever takes it answers it. */
export interface Waiting<Item, Result = unknown> {
  item: Item;
  /** When it came, by performance.now(). */
  since: number;
  resolve(result: Result): void;
  reject(error: unknown): void;
}

export class Queue<Item, Result = unknown> {
  readonly #patience: number;
  readonly #toError: () => Error;
  #all: Waiting<Item, Result>[] = [];
  #timer: NodeJS.Timeout | undefined;

  /** Each item waits for so many milliseconds at most. */
  constructor(patience: number, toError: () => Error) {
    this.#patience = patience;
    this.#toError = toError;
  }

  get length(): number {
    return this.#all.length;
  }

  /** Resolves with what whoever takes it answers. */
  add(item: Item): Promise<Result> {
    return new Promise((resolve, reject) => {
      this.#all.push({ item, since: performance.now(), resolve, reject });
      if (this.#all.length === 1) this.#watch();
    });
  }

  /** The first ones, at most so many; without a count all. None of them is late. */
  take(count = this.#all.length): Waiting<Item, Result>[] {
    this.#refuseLate();
    const taken = this.#all.splice(0, count);
    if (this.#all.length === 0) this.#watch();
    return taken;
  }

  /** Puts what was taken back to where it stood. */
  putBack(taken: Waiting<Item, Result>[]): void {
    this.#all = [...taken, ...this.#all].sort((a, b) => a.since - b.since);
    this.#watch();
  }

  /** Looks again when the first of them will be late. */
  #watch(): void {
    clearTimeout(this.#timer);
    const [first] = this.#all;
    const look = () => {
      this.#refuseLate();
      this.#watch();
    };
    if (first) this.#timer = setTimeout(look, first.since + this.#patience - performance.now());
  }

  /** The first in the queue came first. */
  #refuseLate(): void {
    const limit = performance.now() - this.#patience;
    const count = this.#all.findIndex(({ since }) => since > limit);
    const late = this.#all.splice(0, count === -1 ? this.#all.length : count);
    if (late.length > 0) rejectAll(late, this.#toError());
  }
}

export function rejectAll(all: Pick<Waiting<unknown>, 'reject'>[], error: unknown): void {
  for (const { reject } of all) reject(error);
}
