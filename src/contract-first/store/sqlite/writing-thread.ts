/**
 * Passes writes to the writing thread. Several writes share an fsync, but each call is answered only after its write is
 * on the disk. If the thread ends, it is started again; the pause before the start grows each time.
 */
import { once } from 'node:events';
import { extname } from 'node:path';
import { Worker } from 'node:worker_threads';
import {
  type Change,
  type Create,
  type Created,
  isTransactionCall,
  type Outcome,
  type TransactionCall,
} from '../changes/changes.ts';
import { type StoreCounts, type StoreLimits, StoreUnavailable } from '../store.ts';
import { BatchQueue } from './batch-queue.ts';
import type { Answer, Target } from './writer.ts';
import { isChange, toBatch, toOutcomes, type Write } from './writes.ts';

const WRITER = new URL(`./writer${extname(import.meta.url)}`, import.meta.url);

/**
 * The pause before the thread is started again, in milliseconds. Every restart doubles the pause, up to MOST_PAUSE. The
 * first answer resets it.
 */
const FIRST_PAUSE = 100;
const MOST_PAUSE = 10_000;

export interface Writer {
  /**
   * Resolves when the record is durable.
   * @throws StoreUnavailable if the record is not stored, or if the outcome is not known in time
   */
  create(create: Create): Promise<Created>;
  change(change: Change | TransactionCall): Promise<Outcome>;
  /** Stores the last uses of keys, given as a JSON array. The uses are lost if the disk cannot be written. */
  addUses(uses: string): void;
  /**
   * Checks that the disk can be written. @throws StoreUnavailable if it cannot be written, or does not answer in time
   */
  check(): Promise<void>;
  /**
   * Waits until the queue is empty, and until the thread has opened its connection or has failed to open it. Call this
   * before `stop`.
   */
  flush(): Promise<void>;
  stop(): Promise<void>;
}

/** How long a health check waits for the disk, in milliseconds. */
const CHECK_TIMEOUT = 700;

/**
 * The memory limits of the thread. The objects of a batch are garbage after the batch, so a small young generation is
 * enough: V8's default is three times as large, and not faster.
 */
const THREAD_LIMITS = { maxYoungGenerationSizeMb: 12 };

export class WritingThread implements Writer {
  readonly #target: Target;
  readonly #queue: BatchQueue<Write, Created | Outcome>;
  #pause = FIRST_PAUSE;
  #isStopping = false;
  #exit!: Promise<void>;
  #worker: Worker;

  constructor(target: Target, limits: StoreLimits, counts: StoreCounts) {
    const { createTimeout: timeout, maxCreates: maxWaiting, checkTimeout = CHECK_TIMEOUT } = limits;
    const tables = new Map(target.tables.map((table) => [table.collection, table]));
    const post = (writes: Write[]) => this.#worker.postMessage(toBatch(tables, writes));
    this.#target = target;
    this.#queue = new BatchQueue({ post, isWritten, maxWaiting, timeout, checkTimeout, counts });
    this.#worker = this.#start();
  }

  create(create: Create): Promise<Created> {
    return this.#queue.add(create) as Promise<Created>;
  }

  change(change: Change | TransactionCall): Promise<Outcome> {
    return this.#queue.add(change) as Promise<Outcome>;
  }

  addUses(uses: string): void {
    this.#worker.postMessage({ uses });
  }

  check(): Promise<void> {
    return this.#queue.check();
  }

  async flush(): Promise<void> {
    await this.#queue.flush();
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
    const worker = new Worker(WRITER, { workerData: this.#target, resourceLimits: THREAD_LIMITS });
    worker.on('message', (answer: Answer) => {
      this.#pause = FIRST_PAUSE;
      settle(this.#queue, answer);
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
      this.#queue.resume();
    }, this.#pause);
    this.#pause = Math.min(2 * this.#pause, MOST_PAUSE);
    this.#queue.pause(cause);
  }
}

/**
 * Whether the result proves that something was written to the disk. A call of a transaction proves nothing, because the
 * transaction may only have read.
 */
const isWritten = (write: Write, result: Created | Outcome): boolean =>
  'sequence' in result || (!isTransactionCall(write) && result.text !== undefined && !result.isReplayed);

function settle(queue: BatchQueue<Write, Created | Outcome>, answer: Answer): void {
  if ('first' in answer) {
    queue.end((writes) => toOutcomes(writes, answer));
    return;
  }
  const { kind, code, message, at } = answer;
  const cause = Object.assign(new Error(message), { code });
  if (kind === undefined) queue.blame(cause, at === undefined ? undefined : (writes) => writes.filter(isChange)[at]);
  else if (kind === 'ids_used_up') queue.blame(new StoreUnavailable(cause, kind));
  // SQLITE_BUSY means that another process has held the lock for too long, so the disk is not at fault.
  else queue.fail(cause, kind, code?.startsWith('SQLITE_BUSY'));
}
