/** Counts of a store's work, for metrics: plain numbers since it was opened. */
import { Distribution, SECONDS } from '../distribution.ts';

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
  /** How many writes each commit made durable. */
  readonly sizes = new Distribution([1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000]);
  /** How long each commit took, in seconds. */
  readonly commits = new Distribution(SECONDS);
  /** The latest commit. */
  latest: Commit | undefined;
  /** How long each write took until it was durable, in seconds: its wait for a commit, and the commit. */
  readonly writes = new Distribution(SECONDS);
  /** Hits and misses of the caches, by what is read; empty without caches. */
  readonly cached: Record<string, Hits> = {};
  /** Connections to a database server, by purpose; empty without a server. */
  pools: () => Record<string, Pool> = () => ({});

  /** Counts a commit that ends now. Its writes are answered in the same tick. */
  addCommit(began: number, size: number): void {
    const ended = performance.now();
    this.sizes.add(size);
    this.commits.add((ended - began) / 1000);
    this.latest = { began, ended, size };
  }

  /** Counts a write that is durable now, and was called at this time. */
  addWrite(since: number): void {
    this.writes.add((performance.now() - since) / 1000);
  }

  /** The counts under this name, shared by all caches of that kind. */
  cache(name: string): Hits {
    this.cached[name] ??= { hits: 0, misses: 0 };
    return this.cached[name];
  }
}
