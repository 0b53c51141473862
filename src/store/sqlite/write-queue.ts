/**
 * The way to the writing thread. Writes of one turn of the event loop, and those that come while an fsync runs, share the next
 * one: under load a write costs a fraction of an fsync. Still, none is answered before it is on disk.
 */
import { setTimeout as wait } from 'node:timers/promises';
import type { StoreCounts } from '../counts.ts';
import { type OutageKind, type StoreLimits, StoreUnavailable } from '../store.ts';
import type { Write, WriteOutcome } from '../write.ts';
import type { Answer, Target } from './writer.ts';
import { toBatch, toOutcomes } from './writes.ts';
import { startThread } from './writing-thread.ts';

export interface Writer {
  /** Resolves once it is durable. @throws StoreUnavailable when it is not stored, or that is not known in time */
  write(write: Write): Promise<WriteOutcome>;
  /** Uses of keys, as a JSON array, which may be lost where the disk cannot be written. */
  addUses(uses: string): void;
  /** @throws StoreUnavailable when the disk cannot be written, or not in time */
  check(): Promise<void>;
  /** Waits until every write in the queue is written, and the thread has a connection if it can. */
  flush(): Promise<void>;
  stop(): Promise<void>;
}

interface Waiting<Result> {
  since: number;
  resolve: (result: Result) => void;
  reject: (error: unknown) => void;
}

interface WaitingWrite extends Waiting<WriteOutcome> {
  write: Write;
}

/** How often to look for what has waited too long, in milliseconds. */
const SWEEP_INTERVAL = 100;
/** How long a check waits for the disk, in milliseconds. */
const CHECK_TIMEOUT = 700;
/** How long a successful write proves that the disk can be written, in milliseconds. */
const PROOF_AGE = 10_000;
const FLUSH_INTERVAL = 5;
/** For how long writes are gathered while more of them come, in milliseconds. */
const GATHER_TIME = 2;

const TOO_MANY = new Error('too many writes wait');
const NOT_BEGUN = new Error('the disk was busy for too long with what came before');
const NOT_ENDED = new Error('the disk has not answered in time');

export function startWriter(target: Target, limits: StoreLimits, counts: StoreCounts): Writer {
  const { createTimeout, maxCreates, checkTimeout = CHECK_TIMEOUT } = limits;
  let waiting: WaitingWrite[] = [];
  let writing: WaitingWrite[] = [];
  let checks: Waiting<void>[] = [];
  /** Since when the thread works on a batch, or is down; undefined while it is idle. */
  let busySince: number | undefined;
  let isDue = false;
  /** How many writes go to the thread at once: fewer while it looks for the one that makes a batch fail. */
  let most = maxCreates;
  let provenAt = Number.NEGATIVE_INFINITY;
  const thread = startThread(target, { onAnswer, onEnd, onStart: setIdle });
  const sweeping = setInterval(sweep, SWEEP_INTERVAL).unref();

  /** Up to as many writes as `seen` are handed over at the end of this turn; more are gathered. */
  function writeSoon(seen: number): void {
    if (isDue || busySince !== undefined || waiting.length + checks.length === 0) return;
    isDue = true;
    setImmediate(gather, seen, performance.now() + GATHER_TIME);
  }

  /**
   * Hands over when a turn of the event loop has brought no more writes. The clients that one batch has answered come back within
   * a few turns: if the first of them were written alone, all others would wait for their fsync.
   */
  function gather(seen: number, until: number): void {
    if (waiting.length > seen && performance.now() < until) setImmediate(gather, waiting.length, until);
    else handOver();
  }

  function handOver(): void {
    isDue = false;
    // The thread has just ended: the next one gets them.
    if (busySince !== undefined) return;
    writing = waiting.splice(0, most);
    busySince = performance.now();
    try {
      thread.post(
        toBatch(
          target.table,
          writing.map(({ write }) => write),
        ),
      );
    } catch (error) {
      blameOne(error);
      setIdle();
    }
  }

  function onAnswer(answer: Answer): void {
    if ('first' in answer) {
      const outcomes = toOutcomes(
        writing.map(({ write }) => write),
        answer,
      );
      if (writing.length > 0) counts.addCommit(busySince as number, writing.length);
      for (const [index, { resolve, since }] of writing.entries()) {
        counts.addWrite(since);
        resolve(outcomes[index] as WriteOutcome);
      }
      prove();
    } else {
      const { kind, code, message } = answer;
      const cause = Object.assign(new Error(message), { code });
      if (kind === 'ids_used_up') blameOne(new StoreUnavailable(cause, kind));
      else if (kind || writing.length === 0) fail(cause, kind);
      else blameOne(cause);
    }
    setIdle();
  }

  function setIdle(): void {
    busySince = undefined;
    writing = [];
    // Who has just been answered cannot be back in this turn.
    writeSoon(0);
  }

  function prove(): void {
    provenAt = performance.now();
    most = maxCreates;
    for (const { resolve } of checks) resolve();
    checks = [];
  }

  /** When another process holds the lock for too long, the disk is not at fault. */
  function fail(cause: Error & { code?: string | undefined }, kind: OutageKind | undefined): void {
    if (!cause.code?.startsWith('SQLITE_BUSY')) provenAt = Number.NEGATIVE_INFINITY;
    refuse(writing, new StoreUnavailable(cause, kind));
    refuse(checks, new StoreUnavailable(cause));
    checks = [];
  }

  /** One write made the whole batch fail: halves the batch until that one is alone. */
  function blameOne(error: unknown): void {
    if (writing.length > 1) {
      most = Math.ceil(writing.length / 2);
      waiting = [...writing, ...waiting];
    } else {
      most = maxCreates;
      refuse(writing, error);
    }
  }

  function onEnd(cause: Error): void {
    busySince ??= performance.now();
    fail(cause, 'outcome_unknown');
    writing = [];
  }

  /** Refuses what has waited too long. The thread may still write what it has already; its answer is then ignored. */
  function sweep(): void {
    const now = performance.now();
    const isLate = ({ since }: WaitingWrite) => since < now - createTimeout;
    refuse(writing.filter(isLate), new StoreUnavailable(NOT_ENDED, 'outcome_unknown'));
    refuse(waiting.filter(isLate), new StoreUnavailable(NOT_BEGUN));
    waiting = waiting.filter((write) => !isLate(write));
    const isOverdue = ({ since }: Waiting<void>) => since < now - checkTimeout;
    refuse(checks.filter(isOverdue), new StoreUnavailable(NOT_ENDED));
    checks = checks.filter((check) => !isOverdue(check));
  }

  /** Whether the thread has been at the same batch for longer than this. */
  const isStuck = (now: number, time: number) => busySince !== undefined && busySince < now - time;

  function enqueue(write: Write): Promise<WriteOutcome> {
    return new Promise((resolve, reject) => {
      const since = performance.now();
      if (waiting.length + writing.length >= maxCreates || isStuck(since, createTimeout)) {
        reject(new StoreUnavailable(TOO_MANY, 'overloaded'));
        return;
      }
      waiting.push({ write, since, resolve, reject });
      writeSoon(waiting.length);
    });
  }

  return {
    write: enqueue,
    addUses: thread.addUses,
    check: () =>
      new Promise((resolve, reject) => {
        const since = performance.now();
        if (isStuck(since, checkTimeout)) reject(new StoreUnavailable(NOT_ENDED));
        else if (since - provenAt < PROOF_AGE) resolve();
        else {
          checks.push({ since, resolve, reject });
          writeSoon(waiting.length);
        }
      }),
    flush: async () => {
      while (isDue || busySince !== undefined || waiting.length > 0) await wait(FLUSH_INTERVAL);
      await thread.hold();
    },
    stop: async () => {
      await thread.stop();
      clearInterval(sweeping);
    },
  };
}

function refuse(all: Waiting<never>[], error: unknown): void {
  for (const { reject } of all) reject(error);
}
