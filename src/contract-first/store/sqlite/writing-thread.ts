/** Starts the writing thread, and restarts it when it ends, each time after a longer pause. */
import { once } from 'node:events';
import { extname } from 'node:path';
import { Worker } from 'node:worker_threads';
import type { Answer, Target } from './writer.ts';
import type { Batch } from './writes.ts';

const WRITER = new URL(`./writer${extname(import.meta.url)}`, import.meta.url);

/** The pause before a restart, in milliseconds. It doubles each time, up to MOST_PAUSE, until a batch is answered. */
const FIRST_PAUSE = 100;
const MOST_PAUSE = 10_000;

export interface ThreadEvents {
  /** A batch is answered. */
  onAnswer: (answer: Answer) => void;
  /** The thread has ended, and takes no batch until it is restarted. */
  onEnd: (cause: Error) => void;
  /** The thread is restarted. */
  onStart: () => void;
}

export class WritingThread {
  readonly #target: Target;
  readonly #events: ThreadEvents;
  #pause = FIRST_PAUSE;
  #isStopping = false;
  #exit!: Promise<void>;
  #worker: Worker;

  constructor(target: Target, events: ThreadEvents) {
    this.#target = target;
    this.#events = events;
    this.#worker = this.#start();
  }

  /** Posts a batch; one at a time. @throws Error when the batch cannot be copied */
  post(batch: Batch): void {
    this.#worker.postMessage(batch);
  }

  /** Adds uses of keys, as a JSON array, without an answer. */
  addUses(uses: string): void {
    this.#worker.postMessage({ uses });
  }

  /** Resolves when the thread has a connection, or cannot have one. To be called while the thread is idle, before `stop`. */
  async hold(): Promise<void> {
    this.#isStopping = true;
    const answer = new Promise((resolve) => this.#worker.once('message', resolve));
    this.#worker.postMessage('hold');
    await Promise.race([answer, this.#exit]);
  }

  stop(): Promise<void> {
    this.#worker.postMessage('stop');
    return this.#exit;
  }

  #start(): Worker {
    const worker = new Worker(WRITER, { workerData: this.#target });
    worker.on('message', (answer: Answer) => {
      this.#pause = FIRST_PAUSE;
      this.#events.onAnswer(answer);
    });
    this.#exit = Promise.allSettled([once(worker, 'exit')]).then(([end]) => {
      if (this.#isStopping) return;
      this.#startAgain(new Error('the writing thread has ended', { cause: (end as PromiseRejectedResult).reason }));
    });
    return worker;
  }

  #startAgain(cause: Error): void {
    setTimeout(() => {
      this.#worker = this.#start();
      this.#events.onStart();
    }, this.#pause);
    this.#pause = Math.min(2 * this.#pause, MOST_PAUSE);
    this.#events.onEnd(cause);
  }
}
