/**
 * A queue that hands writes to a writer in batches (group commit). A batch contains all writes that have arrived in one
 * iteration of the event loop, or while the previous batch was being written. Therefore a write costs only a fraction
 * of an fsync under load. The queue does not depend on threads or files.
 */
import { setTimeout as wait } from 'node:timers/promises';
import { Queue, rejectAll, type Waiting } from '../changes/queue.ts';
import { type OutageKind, type StoreCounts, StoreUnavailable } from '../store.ts';

export interface BatchOptions<Item, Result> {
  /**
   * Hands a batch to the writer. The queue hands over the next batch only after the writer has answered. A batch
   * without writes is a test of whether the disk can be written.
   * @throws Error if the batch cannot be handed over
   */
  post: (items: Item[]) => void;
  /**
   * Whether this result means that something was written to the disk. A refused change writes nothing. Nor does a
   * change that an earlier request with the same `Idempotency-Key` already made.
   */
  isWritten: (item: Item, result: Result) => boolean;
  /** How many writes may wait, including the writes of the current batch. */
  maxWaiting: number;
  /** How long a write may take until it is on the disk, in milliseconds. */
  timeout: number;
  /** How long a health check may take, in milliseconds. */
  checkTimeout: number;
  counts: StoreCounts;
}

/** How often the queue looks for late writes in the current batch, in milliseconds. */
const WATCH_INTERVAL = 100;
/** How long a written batch proves that the disk can be written, in milliseconds. */
const PROOF_AGE = 10_000;
/** How long a batch waits for more writes, in milliseconds. */
const GATHER_TIME = 2;
const FLUSH_INTERVAL = 5;

const TOO_MANY = new Error('too many writes wait');
const NOT_BEGUN = new Error('the disk was busy for too long with earlier writes');
const NOT_ENDED = new Error('the disk has not answered in time');

/** The queue. After each batch, the writer must call one of `end`, `blame` and `fail`. */
export class BatchQueue<Item, Result> {
  readonly #options: BatchOptions<Item, Result>;
  readonly #waiting: Queue<Item, Result>;
  readonly #checks: Queue<undefined, void>;
  #batch: Waiting<Item, Result>[] = [];
  /**
   * The time when the current batch was handed to the writer, or when the writer ended. Undefined while the writer is
   * idle.
   */
  #busySince: number | undefined;
  /** The timer that looks for late writes in the current batch. */
  #watching: NodeJS.Timeout | undefined;
  #isDue = false;
  /**
   * How many writes the next batch may contain. The number is lower while the queue bisects a failed batch to find the
   * faulty write.
   */
  #batchSize: number;
  #provenAt = Number.NEGATIVE_INFINITY;
  /** True if the last batch wrote nothing to the disk. Then a waiting health check needs an empty batch as a test. */
  #isUnproven = false;

  constructor(options: BatchOptions<Item, Result>) {
    this.#options = options;
    this.#batchSize = options.maxWaiting;
    this.#waiting = new Queue(options.timeout, () => new StoreUnavailable(NOT_BEGUN));
    this.#checks = new Queue(options.checkTimeout, () => new StoreUnavailable(NOT_ENDED));
  }

  /**
   * Adds a write. The promise resolves when the write is on the disk.
   * @throws StoreUnavailable if the write fails, or if its outcome is not known in time
   */
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

  /** Resolves when no write is waiting and no batch is being written. */
  async flush(): Promise<void> {
    while (this.#isDue || this.#busySince !== undefined || this.#waiting.length > 0) await wait(FLUSH_INTERVAL);
  }

  /**
   * The writer calls this after it has written the batch. `toResults` must return one result for each item, or an Error
   * for an item that failed without affecting the others.
   */
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
   * The writer calls this if one item has prevented the whole batch from being written. `find` may return this item if
   * the writer knows which one it is. Otherwise the queue bisects the batch, so that only the faulty item is rejected.
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

  /**
   * The writer calls this if nothing of the batch was written. `isLocked` is true if another process held SQLite's
   * lock: then the disk is not at fault.
   */
  fail(cause: Error, kind?: OutageKind, isLocked = false): void {
    this.#rejectAll(cause, kind, isLocked);
    this.resume();
  }

  /** Call this when the writer has ended. The queue hands over no batches until `resume` is called. */
  pause(cause: Error): void {
    this.#busySince ??= performance.now();
    this.#rejectAll(cause, 'outcome_unknown');
    this.#emptyBatch();
  }

  /** Marks the writer as idle, so that the queue hands over the next batch. */
  resume(): void {
    this.#busySince = undefined;
    this.#emptyBatch();
    // If writes are waiting, the next batch waits for at least one more iteration of the event loop: a client that was
    // just answered can send its next request only after this iteration.
    this.#handOverSoon(0);
  }

  /**
   * Hands over a batch at the end of this iteration of the event loop. If more than `seen` writes are waiting at that
   * time, the queue waits for further writes first.
   */
  #handOverSoon(seen: number): void {
    if (this.#isDue || this.#busySince !== undefined || this.#waiting.length + this.#checks.length === 0) return;
    this.#isDue = true;
    const until = performance.now() + GATHER_TIME;
    setImmediate(() => this.#gather(seen, until));
  }

  /**
   * Hands over the batch as soon as an iteration of the event loop has brought no new writes. The clients of the
   * previous batch send their next requests in the next few iterations. If the first of these requests were written
   * immediately, all the others would wait for its fsync.
   */
  #gather(seen: number, until: number): void {
    const { length } = this.#waiting;
    if (length > seen && performance.now() < until) setImmediate(() => this.#gather(length, until));
    else this.#handOver();
  }

  #handOver(): void {
    this.#isDue = false;
    // If the writer has ended since this method was scheduled, its successor gets the waiting writes.
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

  /**
   * Rejects late writes of the current batch, and repeats this until the batch ends. If the writer still completes a
   * rejected write, its result is ignored.
   */
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

  /** Whether the writer has been busy for longer than this time, in milliseconds, without an answer. */
  #isStuck(time: number): boolean {
    return this.#busySince !== undefined && this.#busySince < performance.now() - time;
  }
}

function itemsOf<Item>(waiting: Waiting<Item, never>[]): Item[] {
  return waiting.map(({ item }) => item);
}
