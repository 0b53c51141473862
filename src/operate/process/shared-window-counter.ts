/** Shares one window counter among the processes of a machine: the first process has it. */
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

/** The counter in a worker, which asks the first process. */
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

/** Answers a worker, in the first process. */
export function answerWorker(worker: Worker, countWindow: WindowCounter): void {
  worker.on('message', async ({ ask, number }: Question) => {
    // The callback ignores the error if the worker has just died.
    if (ask) worker.send({ counted: await countWindow(...ask), number } satisfies Answer, () => {});
  });
}
