/**
 * The queue of a writer that takes writes in batches (group commit). The next batch contains the writes of one iteration of the event loop,
 * and the writes that arrive while another batch is written. So under load a write costs only a fraction of an fsync. The queue is
 * independent of threads and files.
 */
import { setTimeout as wait } from 'node:timers/promises';
import { Queue, rejectAll, type Waiting } from '../changes/queue.ts';
import { type OutageKind, type StoreCounts, StoreUnavailable } from '../store.ts';

export interface BatchOptions<Item, Result> {
  /**
   * Hands a batch to the writer, one at a time. An empty batch only tests whether the disk can be written.
   * @throws Error if the batch cannot be handed over
   */
  post: (items: Item[]) => void;
  /** Whether an item with this result was written to the disk. A refused change, and a change that was made before, write nothing. */
  isWritten: (item: Item, result: Result) => boolean;
  /** The most writes that may wait, including the current batch. */
  maxWaiting: number;
  /** The longest time until a write is on the disk, in milliseconds. */
  timeout: number;
  /** The longest wait of a health check for the writer, in milliseconds. */
  checkTimeout: number;
  counts: StoreCounts;
}

/** The interval of searches for late writes in the current batch, in milliseconds. */
const WATCH_INTERVAL = 100;
/** How long a written batch proves that the disk can be written, in milliseconds. */
const PROOF_AGE = 10_000;
/** The longest wait of a batch for more writes, in milliseconds. */
const GATHER_TIME = 2;
const FLUSH_INTERVAL = 5;

const TOO_MANY = new Error('too many writes wait');
const NOT_BEGUN = new Error('the disk was busy for too long with earlier writes');
const NOT_ENDED = new Error('the disk has not answered in time');

/** The queue. After each batch, the writer must call `end`, `blame` or `fail`. */
export class BatchQueue<Item, Result> {
  readonly #options: BatchOptions<Item, Result>;
  readonly #waiting: Queue<Item, Result>;
  readonly #checks: Queue<undefined, void>;
  #batch: Waiting<Item, Result>[] = [];
  /** The time when the writer began the batch, or when it ended; undefined while the writer is idle. */
  #busySince: number | undefined;
  /** The timer that rejects late writes of the batch. */
  #watching: NodeJS.Timeout | undefined;
  #isDue = false;
  /** The maximum number of writes in the next batch. Smaller while the queue bisects for a faulty write. */
  #batchSize: number;
  #provenAt = Number.NEGATIVE_INFINITY;
  /** True if the last batch wrote nothing, so that a waiting health check needs a test write. */
  #isUnproven = false;

  constructor(options: BatchOptions<Item, Result>) {
    this.#options = options;
    this.#batchSize = options.maxWaiting;
    this.#waiting = new Queue(options.timeout, () => new StoreUnavailable(NOT_BEGUN));
    this.#checks = new Queue(options.checkTimeout, () => new StoreUnavailable(NOT_ENDED));
  }

  /** Resolves when the item is written. @throws StoreUnavailable if it is not written, or its outcome is not known in time */
  add(item: Item): Promise<Result> {
    const { maxWaiting, timeout } = this.#options;
    if (this.#waiting.length + this.#batch.length >= maxWaiting || this.#isStuck(timeout)) {
      return Promise.reject(new StoreUnavailable(TOO_MANY, 'overloaded'));
    }
    const result = this.#waiting.add(item);
    this.#handOverSoon(this.#waiting.length);
    return result;
  }

  /** Checks whether the disk can be written. @throws StoreUnavailable if it cannot, or does not answer in time */
  async check(): Promise<void> {
    if (this.#isStuck(this.#options.checkTimeout)) throw new StoreUnavailable(NOT_ENDED);
    if (performance.now() - this.#provenAt < PROOF_AGE) return;
    const checked = this.#checks.add(undefined);
    this.#handOverSoon(this.#waiting.length);
    await checked;
  }

  /** Resolves when no more writes wait. */
  async flush(): Promise<void> {
    while (this.#isDue || this.#busySince !== undefined || this.#waiting.length > 0) await wait(FLUSH_INTERVAL);
  }

  /** Reports that the batch is written. `toResults` returns the result of each item, or an Error for an item that failed alone. */
  end(toResults: (items: Item[]) => (Result | Error)[]): void {
    const { counts, maxWaiting, isWritten } = this.#options;
    let isProof = this.#batch.length === 0;
    const results = toResults(itemsOf(this.#batch));
    if (this.#batch.length > 0) counts.addCommit(this.#busySince as number, this.#batch.length);
    for (const [index, { item, resolve, reject, since }] of this.#batch.entries()) {
      const result = results[index] as Result | Error;
      if (result instanceof Error) reject(result);
      else {
        counts.addWrite(since);
        resolve(result);
        isProof ||= isWritten(item, result);
      }
    }
    if (isProof) this.#provenAt = performance.now();
    else if (results.every((result) => result instanceof Error)) this.#provenAt = Number.NEGATIVE_INFINITY;
    this.#isUnproven = !isProof;
    this.#batchSize = maxWaiting;
    if (isProof) for (const { resolve } of this.#checks.take()) resolve();
    this.resume();
  }

  /**
   * Reports that one item prevented the whole batch from being written. `find` finds this item. If the item is not known, the queue bisects
   * the batch, so that it rejects only the faulty item.
   */
  blame(error: Error, find?: (items: Item[]) => Item | undefined): void {
    const culprit = find?.(itemsOf(this.#batch));
    if (this.#batch.length === 0) {
      this.#rejectAll(error);
    } else if (culprit) {
      rejectAll(
        this.#batch.filter(({ item }) => item === culprit),
        error,
      );
      this.#waiting.putBack(this.#batch.filter(({ item }) => item !== culprit));
    } else if (this.#batch.length > 1) {
      this.#batchSize = Math.ceil(this.#batch.length / 2);
      this.#waiting.putBack(this.#batch);
    } else {
      this.#batchSize = this.#options.maxWaiting;
      this.#provenAt = Number.NEGATIVE_INFINITY;
      this.#isUnproven = true;
      rejectAll(this.#batch, error);
    }
    this.resume();
  }

  /** Reports that nothing of the batch is written. `isLocked`: another process holds the lock, so the disk is not at fault. */
  fail(cause: Error, kind?: OutageKind, isLocked = false): void {
    this.#rejectAll(cause, kind, isLocked);
    this.resume();
  }

  /** Reports that the writer has ended. The queue waits until `resume` is called. */
  pause(cause: Error): void {
    this.#busySince ??= performance.now();
    this.#rejectAll(cause, 'outcome_unknown');
    this.#emptyBatch();
  }

  /** Reports that the writer is ready for the next batch. */
  resume(): void {
    this.#busySince = undefined;
    this.#emptyBatch();
    // If writes wait, the batch waits for another iteration: clients that were just answered cannot send a request in this one.
    this.#handOverSoon(0);
  }

  /** Hands the batch over at the end of this iteration. If more than `seen` writes wait by then, it waits for more. */
  #handOverSoon(seen: number): void {
    if (this.#isDue || this.#busySince !== undefined || this.#waiting.length + this.#checks.length === 0) return;
    this.#isDue = true;
    const until = performance.now() + GATHER_TIME;
    setImmediate(() => this.#gather(seen, until));
  }

  /**
   * Hands the batch over after an iteration of the event loop without new writes. Clients that were answered by one batch send their next
   * requests in the next few iterations. If the first of these requests were written alone, all others would wait for its fsync.
   */
  #gather(seen: number, until: number): void {
    const { length } = this.#waiting;
    if (length > seen && performance.now() < until) setImmediate(() => this.#gather(length, until));
    else this.#handOver();
  }

  #handOver(): void {
    this.#isDue = false;
    // If the writer has ended meanwhile, the next writer gets the writes.
    if (this.#busySince !== undefined) return;
    const isProving = this.#isUnproven && this.#checks.length > 0;
    this.#batch = isProving ? [] : this.#waiting.take(this.#batchSize);
    this.#busySince = performance.now();
    this.#watchBatch();
    try {
      this.#options.post(itemsOf(this.#batch));
    } catch (error) {
      this.blame(error as Error);
    }
  }

  /** Rejects late writes of the batch, again and again until the batch ends. If the writer still writes one, its answer is ignored. */
  #watchBatch(): void {
    const look = () => {
      const limit = performance.now() - this.#options.timeout;
      const late = this.#batch.filter(({ since }) => since < limit);
      rejectAll(late, new StoreUnavailable(NOT_ENDED, 'outcome_unknown'));
      this.#watchBatch();
    };
    this.#watching = setTimeout(look, WATCH_INTERVAL);
  }

  #emptyBatch(): void {
    this.#batch = [];
    clearTimeout(this.#watching);
  }

  #rejectAll(cause: Error, kind?: OutageKind, isLocked = false): void {
    if (!isLocked) this.#provenAt = Number.NEGATIVE_INFINITY;
    rejectAll(this.#batch, new StoreUnavailable(cause, kind));
    rejectAll(this.#checks.take(), new StoreUnavailable(cause));
  }

  /** Whether the writer has been busy with the same batch for longer than this time, in milliseconds. */
  #isStuck(time: number): boolean {
    return this.#busySince !== undefined && this.#busySince < performance.now() - time;
  }
}

function itemsOf<Item>(waiting: Waiting<Item, never>[]): Item[] {
  return waiting.map(({ item }) => item);
}
