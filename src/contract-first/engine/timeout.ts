/** Gives up work that takes too long. */
import { setTimeout as wait } from 'node:timers/promises';
import type { Awaitable } from '../store/collection.ts';

/** @throws Error with these words after `timeout` milliseconds; the work itself goes on */
export async function withTimeout<Result>(work: Awaitable<Result>, timeout: number, words: string): Promise<Result> {
  const timer = new AbortController();
  const fail = () => Promise.reject(new Error(words));
  try {
    return await Promise.race([work, wait(timeout, undefined, { signal: timer.signal }).then(fail)]);
  } finally {
    timer.abort();
  }
}
