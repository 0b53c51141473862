/** What a store counts of its work, for operators: plain numbers since it was opened, which are read when somebody asks. */
import { Distribution, SECONDS } from '../distribution.ts';

export interface Pool {
  used: number;
  idle: number;
  /** Statements that wait for a connection, each of many calls. */
  waiting: number;
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
  /** How long each write took until it was durable, in seconds: its wait for a commit, and the commit. */
  readonly writes = new Distribution(SECONDS);
  /** Reads that a cache has answered, and those that it has not, by what is read; empty without caches. */
  readonly cached: Record<string, Hits> = {};
  /** Connections to a database server, by what they are for; empty without a server. */
  pools: () => Record<string, Pool> = () => ({});

  /** A commit that began at this time, as performance.now() has it, has ended. */
  addCommit(began: number, size: number): void {
    this.sizes.add(size);
    this.commits.add((performance.now() - began) / 1000);
  }

  /** A write that was called at this time is durable. */
  addWrite(since: number): void {
    this.writes.add((performance.now() - since) / 1000);
  }

  /** The counts of what is read under this name. */
  cache(name: string): Hits {
    const hits = { hits: 0, misses: 0 };
    this.cached[name] = hits;
    return hits;
  }
}
