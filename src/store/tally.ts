/** How much of each limit is used in its window of time, for all that share this process. */
import { LRUCache } from 'lru-cache';
import type { Tally } from './store.ts';

/** What the ids of addresses' limits begin with, and those of keys. */
export const ADDRESS = 'address ';
export const KEY = 'key ';

/** How many addresses are known at a time. As a sum of sizes: for `max`, a start would fill long arrays. */
const ADDRESSES = { maxSize: 100_000, sizeCalculation: () => 1 };

/** What is known of each limit. Strangers choose addresses, which push each other out; operators make keys, which stay. */
export function buildKnown<Value extends object>(): (id: string) => Pick<Map<string, Value>, 'get'> & Setter<Value> {
  const keys = new Map<string, Value>();
  const addresses = new LRUCache<string, Value>(ADDRESSES);
  return (id) => (id.startsWith(ADDRESS) ? addresses : keys);
}

interface Setter<Value> {
  set(id: string, value: Value): unknown;
}

export function buildTally(): Tally {
  const knownOf = buildKnown<{ began: number; total: number }>();
  return (id, window, amount) => {
    const now = Date.now();
    const age = now % (window * 1000);
    const began = now - age;
    const known = knownOf(id);
    const before = known.get(id);
    const total = amount + (before?.began === began ? before.total : 0);
    known.set(id, { began, total });
    return { total, ends: window * 1000 - age };
  };
}
