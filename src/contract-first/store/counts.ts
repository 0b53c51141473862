/** Counts of a store's work, for metrics and traces. */

export interface Pool {
  used: number;
  idle: number;
  /** Statements that wait for a connection, each for many calls. */
  waiting: number;
}

/** Times are those of performance.now(). */
export interface Commit {
  began: number;
  ended: number;
  /** How many writes it made durable. */
  size: number;
}

export interface Hits {
  hits: number;
  misses: number;
}

export class StoreCounts {
  /** Called after each commit, with its duration and how many writes it made durable. */
  onCommit: ((seconds: number, size: number) => void) | undefined;
  /** Called for each durable write, with its duration: its wait for a commit, and the commit. */
  onWrite: ((seconds: number) => void) | undefined;
  /** The latest commit. */
  latest: Commit | undefined;
  /** Hits and misses of the caches, by what is read; empty without caches. */
  readonly cached: Record<string, Hits> = {};
  /** Connections to a database server, by purpose; empty without a server. */
  pools: () => Record<string, Pool> = () => ({});

  /** Counts a commit that ends now. Its writes are answered in the same tick. */
  addCommit(began: number, size: number): void {
    const ended = performance.now();
    this.onCommit?.((ended - began) / 1000, size);
    this.latest = { began, ended, size };
  }

  /** Counts a write that is durable now, and was called at this time. */
  addWrite(since: number): void {
    this.onWrite?.((performance.now() - since) / 1000);
  }

  /** The counts under this name, shared by all caches of that kind. */
  cache(name: string): Hits {
    this.cached[name] ??= { hits: 0, misses: 0 };
    return this.cached[name];
  }
}
