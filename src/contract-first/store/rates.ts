/** Parses rate limits, such as `100/s` or `none`. Counts the requests to this process in windows of time. */
import { LRUCache } from 'lru-cache';
import type { Rate, WindowCounter } from './store.ts';

const SECONDS: Record<string, number> = { s: 1, m: 60, h: 3600, d: 86_400 };

export const RATE_PATTERN = '^([1-9][0-9]{0,8})/([smhd])$';
export const RATE_FORM = 'a number of requests per s, m, h or d, such as 100/s, or none';

/** Parses a rate limit. Returns undefined for `none`. @throws Error that explains the form of a rate */
export function parseRate(text: string): Rate | undefined {
  if (text === 'none') return undefined;
  const [, limit, unit = ''] = new RegExp(RATE_PATTERN).exec(text) ?? [];
  if (limit === undefined) throw new Error(`A rate is ${RATE_FORM}, not ${text}`);
  return { limit: Number(limit), window: SECONDS[unit] as number };
}

/** Whether a value is a valid `Rate`. The check is needed at run time, because JavaScript code can pass any value. */
export const isRate = (value: unknown): value is Rate =>
  [Object(value).limit, Object(value).window].every((count) => Number.isSafeInteger(count) && count > 0);

/**
 * The prefixes of the ids of rate limits. A limit applies to a client's address, to an API key, or to a token of
 * another issuer.
 */
export const ADDRESS_BUCKET = 'address ';
export const KEY_BUCKET = 'key ';
export const TOKEN_BUCKET = 'token ';

/**
 * The options of the cache for addresses and tokens. An id counts once for each 128 characters that it has begun, so
 * that long ids cannot fill the memory.
 */
const STRANGERS = { maxSize: 100_000, sizeCalculation: (_: unknown, id: string) => Math.ceil(id.length / 128) };

/** A map from the id of a rate limit to the state of this limit. */
interface Known<Value> {
  get(id: string): Value | undefined;
  set(id: string, value: Value): unknown;
}

/**
 * Builds a function that returns the map with the states of limits in the current window. Windows of the same length
 * begin at the same time, and the states of the previous window are then dropped. During a window, no state of an API
 * key is evicted, because only operators can make keys. Clients can use any number of addresses and tokens, so for
 * these the least recently used states are evicted.
 */
export function buildKnown<Value extends object | number>(): (id: string, window: number, now: number) => Known<Value> {
  const windows = new Map<number, { began: number; keys: Known<Value>; strangers: Known<Value> }>();
  return (id, window, now) => {
    let known = windows.get(window);
    if (known === undefined || now < known.began || now >= known.began + window * 1000) {
      const began = now - (now % (window * 1000));
      known = { began, keys: new Map(), strangers: new LRUCache<string, Value>(STRANGERS) };
      windows.set(window, known);
    }
    return id.startsWith(KEY_BUCKET) ? known.keys : known.strangers;
  };
}

export function buildWindowCounter(): WindowCounter {
  const totalsOf = buildKnown<number>();
  return (id, window, amount) => {
    const now = Date.now();
    const totals = totalsOf(id, window, now);
    const total = amount + (totals.get(id) ?? 0);
    totals.set(id, total);
    return { total, ends: window * 1000 - (now % (window * 1000)) };
  };
}
