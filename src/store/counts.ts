/** What a store counts of its work, for operators: plain numbers since it was opened, which are read when somebody asks. */
import { Distribution, SECONDS } from '../distribution.ts';

export interface Pool {
  used: number;
  idle: number;
  /** Statements that wait for a connection, each of many calls. */
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
  /** The commit that has ended last. */
  latest: Commit | undefined;
  /** How long each write took until it was durable, in seconds: its wait for a commit, and the commit. */
  readonly writes = new Distribution(SECONDS);
  /** Reads that a cache has answered, and those that it has not, by what is read; empty without caches. */
  readonly cached: Record<string, Hits> = {};
  /** Connections to a database server, by what they are for; empty without a server. */
  pools: () => Record<string, Pool> = () => ({});

  /** A commit that began at this time has ended: all its writes are answered before anything else can happen. */
  addCommit(began: number, size: number): void {
    const ended = performance.now();
    this.sizes.add(size);
    this.commits.add((ended - began) / 1000);
    this.latest = { began, ended, size };
  }

  /** A write that was called at this time is durable. */
  addWrite(since: number): void {
    this.writes.add((performance.now() - since) / 1000);
  }

  /** The counts of what is read under this name, by all caches together. */
  cache(name: string): Hits {
    this.cached[name] ??= { hits: 0, misses: 0 };
    return this.cached[name];
  }
}
