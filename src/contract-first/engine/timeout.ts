/** Stops waiting for work that takes too long. */
import type { Awaitable } from '../store/collection.ts';

/**
 * Waits for `work`, but not longer than `timeout` milliseconds. The work itself is not stopped.
 * @throws Error with the message `words` if the time is over
 */
export async function withTimeout<Result>(work: Awaitable<Result>, timeout: number, words: string): Promise<Result> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(words)), timeout);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
