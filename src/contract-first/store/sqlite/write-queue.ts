/** Passes writes to the writing thread: they share an fsync, and none is answered before it is on disk. */
import type { StoreCounts } from '../counts.ts';
import { type StoreLimits, StoreUnavailable } from '../store.ts';
import { type Call, type Change, type Create, type Created, isCall, type Outcome } from '../write.ts';
import { BatchQueue } from './batch-queue.ts';
import type { Answer, Target } from './writer.ts';
import { isChange, toBatch, toOutcomes, type Write } from './writes.ts';
import { WritingThread } from './writing-thread.ts';

export interface Writer {
  /** Resolves when the record is durable. @throws StoreUnavailable when it is not stored, or the outcome is not known in time */
  create(create: Create): Promise<Created>;
  change(change: Change | Call): Promise<Outcome>;
  /** Adds uses of keys, as a JSON array. They may be lost if the disk cannot be written. */
  addUses(uses: string): void;
  /** @throws StoreUnavailable when the disk cannot be written, or not in time */
  check(): Promise<void>;
  /** Waits until the queue is empty, and the thread has a connection, if it can have one. */
  flush(): Promise<void>;
  stop(): Promise<void>;
}

/** How long a check waits for the disk, in milliseconds. */
const CHECK_TIMEOUT = 700;

export function startWriter(target: Target, limits: StoreLimits, counts: StoreCounts): Writer {
  const { createTimeout: timeout, maxCreates: maxWaiting, checkTimeout = CHECK_TIMEOUT } = limits;
  const tables = new Map(target.tables.map((table) => [table.collection, table]));
  const post = (writes: Write[]) => thread.post(toBatch(tables, writes));
  const waiting = { maxWaiting, timeout, checkTimeout, counts };
  const queue = new BatchQueue<Write, Created | Outcome>({ post, isWritten, ...waiting });
  const thread = new WritingThread(target, {
    onAnswer: (answer) => settle(queue, answer),
    onEnd: (cause) => queue.pause(cause),
    onStart: () => queue.resume(),
  });

  return {
    create: (create) => queue.add(create) as Promise<Created>,
    change: (change) => queue.add(change) as Promise<Outcome>,
    addUses: (uses) => thread.addUses(uses),
    check: () => queue.check(),
    flush: async () => {
      await queue.flush();
      await thread.hold();
    },
    stop: () => thread.stop(),
  };
}

/** A transaction may have read only. */
const isWritten = (write: Write, result: Created | Outcome): boolean =>
  'sequence' in result || (!isCall(write) && result.text !== undefined && !result.isReplayed);

function settle(queue: BatchQueue<Write, Created | Outcome>, answer: Answer): void {
  if ('first' in answer) {
    queue.end((writes) => toOutcomes(writes, answer));
    return;
  }
  const { kind, code, message, at } = answer;
  const cause = Object.assign(new Error(message), { code });
  if (kind === undefined) queue.blame(cause, at === undefined ? undefined : (writes) => writes.filter(isChange)[at]);
  else if (kind === 'ids_used_up') queue.blame(new StoreUnavailable(cause, kind));
  // If another process holds the lock for too long, the disk is not at fault.
  else queue.fail(cause, kind, code?.startsWith('SQLITE_BUSY'));
}
