/** The life of the writing thread: started, and started again when it ends, each time after a longer pause. */
import { once } from 'node:events';
import { extname } from 'node:path';
import { Worker } from 'node:worker_threads';
import type { Answer, Target } from './writer.ts';
import type { Batch } from './writes.ts';

const WRITER = new URL(`./writer${extname(import.meta.url)}`, import.meta.url);

/** The pause before a start again, in milliseconds; it doubles each time, up to the most, until a batch is answered. */
const FIRST_PAUSE = 100;
const MOST_PAUSE = 10_000;

export interface ThreadEvents {
  /** A batch is answered. */
  onAnswer: (answer: Answer) => void;
  /** The thread has ended, and takes nothing until it is started again. */
  onEnd: (cause: Error) => void;
  /** The thread is started again. */
  onStart: () => void;
}

export interface WritingThread {
  /** One at a time. @throws Error when the batch cannot be copied */
  post(batch: Batch): void;
  /** Uses of keys, as a JSON array, which need no answer. */
  addUses(uses: string): void;
  /** Resolves when the thread has a connection, or cannot have one. To be called while it is idle, and before `stop`. */
  hold(): Promise<void>;
  stop(): Promise<void>;
}

export function startThread(target: Target, { onAnswer, onEnd, onStart }: ThreadEvents): WritingThread {
  let pause = FIRST_PAUSE;
  let isStopping = false;
  let exit: Promise<void>;
  let worker = start();

  function start(): Worker {
    const started = new Worker(WRITER, { workerData: target });
    started.on('message', (answer: Answer) => {
      pause = FIRST_PAUSE;
      onAnswer(answer);
    });
    exit = Promise.allSettled([once(started, 'exit')]).then(([end]) => {
      if (isStopping) return;
      startAgain(new Error('the writing thread has ended', { cause: (end as PromiseRejectedResult).reason }));
    });
    return started;
  }

  function startAgain(cause: Error): void {
    setTimeout(() => {
      worker = start();
      onStart();
    }, pause);
    pause = Math.min(2 * pause, MOST_PAUSE);
    onEnd(cause);
  }

  return {
    post: (batch) => worker.postMessage(batch),
    addUses: (uses) => worker.postMessage({ uses }),
    hold: async () => {
      isStopping = true;
      const answer = new Promise((resolve) => worker.once('message', resolve));
      worker.postMessage('hold');
      await Promise.race([answer, exit]);
    },
    stop: () => {
      worker.postMessage('stop');
      return exit;
    },
  };
}
