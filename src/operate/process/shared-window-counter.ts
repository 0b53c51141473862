/** The count that several processes of one machine share: the first of them keeps it. */
import type { Worker } from 'node:cluster';
import type { WindowCount, WindowCounter } from '../../store/store.ts';

interface Question {
  ask: Parameters<WindowCounter>;
  number: number;
}

interface Answer {
  counted: WindowCount;
  number: number;
}

/** In a worker. */
export function askFirstProcess(): WindowCounter {
  const waiting = new Map<number, (counted: WindowCount) => void>();
  let count = 0;
  process.on('message', ({ counted, number }: Answer) => {
    waiting.get(number)?.(counted);
    waiting.delete(number);
  });
  return (...ask) =>
    new Promise((resolve) => {
      waiting.set(++count, resolve);
      process.send?.({ ask, number: count } satisfies Question);
    });
}

/** In the first process. */
export function answerWorker(worker: Worker, countWindow: WindowCounter): void {
  worker.on('message', async ({ ask, number }: Question) => {
    // No error where the worker has just died.
    if (ask) worker.send({ counted: await countWindow(...ask), number } satisfies Answer, () => {});
  });
}
