/** What waits for its turn: each item is taken in time, or refused with the reason. It knows no database. */

/** Whoever takes it answers it, once. */
export interface Waiting<Item, Result = unknown> {
  item: Item;
  /** When it came, by performance.now(). */
  since: number;
  resolve(result: Result): void;
  reject(error: unknown): void;
}

export class Queue<Item, Result = unknown> {
  #all: Waiting<Item, Result>[] = [];

  get length(): number {
    return this.#all.length;
  }

  /** Resolves with what whoever takes it answers. */
  add(item: Item): Promise<Result> {
    return new Promise((resolve, reject) => {
      this.#all.push({ item, since: performance.now(), resolve, reject });
    });
  }

  /** The first ones, at most so many; without a count all. */
  take(count = this.#all.length): Waiting<Item, Result>[] {
    return this.#all.splice(0, count);
  }

  /** Those that were taken are the first again. */
  putBack(taken: Waiting<Item, Result>[]): void {
    this.#all = [...taken, ...this.#all];
  }

  /** Refuses those that came more than so many milliseconds ago. */
  refuseLate(time: number, error: Error): void {
    const limit = performance.now() - time;
    refuse(
      this.#all.filter(({ since }) => since < limit),
      error,
    );
    this.#all = this.#all.filter(({ since }) => since >= limit);
  }
}

export function refuse(all: Pick<Waiting<unknown>, 'reject'>[], error: unknown): void {
  for (const { reject } of all) reject(error);
}
