/** How much of each limit is used in its window of time, for all that share this process. */
import { LRUCache } from 'lru-cache';
import type { WindowCounter } from './store.ts';

/** The beginnings of the ids of limits: of addresses, of keys, and of tokens that others have issued. */
export const ADDRESS = 'address ';
export const KEY = 'key ';
export const TOKEN = 'token ';

/** How many strangers are known at a time. As a sum of sizes: for `max`, a start would fill long arrays. */
const STRANGERS = { maxSize: 100_000, sizeCalculation: () => 1 };

/** The state of each limit. Addresses and others' tokens are any number, and push each other out; operators make keys, which stay. */
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
