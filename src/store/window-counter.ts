/** Counts requests in windows of time, within this process. */
import { LRUCache } from 'lru-cache';
import type { WindowCounter } from './store.ts';

/** The prefixes of the ids of limits: for addresses, keys, and tokens of other issuers. */
export const ADDRESS = 'address ';
export const KEY = 'key ';
export const TOKEN = 'token ';

/** How many addresses and tokens are remembered. By size, because with `max` the cache would allocate long arrays at the start. */
const STRANGERS = { maxSize: 100_000, sizeCalculation: () => 1 };

/** The state of each limit. Keys are made by operators, and stay; addresses and tokens are unlimited, so the oldest are evicted. */
export function buildKnown<Value extends object>(): (id: string) => Pick<Map<string, Value>, 'get'> & Setter<Value> {
  const keys = new Map<string, Value>();
  const strangers = new LRUCache<string, Value>(STRANGERS);
  return (id) => (id.startsWith(KEY) ? keys : strangers);
}

interface Setter<Value> {
  set(id: string, value: Value): unknown;
}

export function buildWindowCounter(): WindowCounter {
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
