/** The count that several processes of one machine share: the first of them keeps it. */
import type { Worker } from 'node:cluster';
import type { Tallied, Tally } from '../../store/store.ts';

interface Question {
  ask: Parameters<Tally>;
  number: number;
}

interface Answer {
  tallied: Tallied;
  number: number;
}

/** In a worker. */
export function askFirstProcess(): Tally {
  const waiting = new Map<number, (tallied: Tallied) => void>();
  let count = 0;
  process.on('message', ({ tallied, number }: Answer) => {
    waiting.get(number)?.(tallied);
    waiting.delete(number);
  });
  return (...ask) =>
    new Promise((resolve) => {
      waiting.set(++count, resolve);
      process.send?.({ ask, number: count } satisfies Question);
    });
}

/** In the first process. */
export function answerWorker(worker: Worker, tally: Tally): void {
  worker.on('message', async ({ ask, number }: Question) => {
    // No error where the worker has just died.
    if (ask) worker.send({ tallied: await tally(...ask), number } satisfies Answer, () => {});
  });
}
