/** How much of each limit is used in its window of time, for all that share this process. */
import { LRUCache } from 'lru-cache';
import type { Tally } from '../store/store.ts';

/** How many limits are known at a time, each an API key or an address. As a sum of sizes: for `max`, a start would fill long arrays. */
export const KNOWN = { maxSize: 100_000, sizeCalculation: () => 1 };

export function buildTally(): Tally {
  const known = new LRUCache<string, { began: number; total: number }>(KNOWN);
  return (id, window, amount) => {
    const now = Date.now();
    const age = now % (window * 1000);
    const began = now - age;
    const before = known.get(id);
    const total = amount + (before?.began === began ? before.total : 0);
    known.set(id, { began, total });
    return { total, ends: window * 1000 - age };
  };
}
