/**
 * Decides whether a request is within its rate limit. A process leases a part of the remaining requests from the shared counter, and
 * admits by itself until they are used. So the sum never exceeds the limit, few requests wait, and refusals need no round trip.
 */
import { setTimeout as wait } from 'node:timers/promises';
import { buildKnown, buildWindowCounter } from '../../store/rates.ts';
import type { Rate, WindowCount, WindowCounter } from '../../store/store.ts';

/** The part of the remaining requests that is leased at once. As much may stay unused in a process whose clients go to others. */
const PART = 0.01;

/** How long to wait for the shared counter, in milliseconds; after that, this server counts by itself. */
const COUNT_TIMEOUT = 250;

/** The state of a limit after a request. */
export interface Standing {
  isOver: boolean;
  /** How many more requests may pass in this window. */
  left: number;
  /** In how many seconds the next window begins. */
  reset: number;
}

/** Counts a request, and calls back when it is known whether it may pass. */
export type Limiter = (id: string, rate: Rate, answer: (standing: Standing) => void) => void;

interface Share {
  /** How many requests this server may still admit by itself. */
  granted: number;
  /** How many more all servers may lease. */
  left: number;
  /** When the window ends. */
  end: number;
  /** The requests that wait for the shared counter. */
  waiting: ((standing: Standing) => void)[];
}

export function buildLimiter(countWindow: WindowCounter): Limiter {
  const sharesOf = buildKnown<Share>();
  const countHere = buildWindowCounter();
  /** The shares that wait for the shared counter. Their windows may end, or they may be evicted, meanwhile. */
  const asking = new Map<string, Share>();

  function ask(id: string, rate: Rate, share: Share): void {
    const { limit, window } = rate;
    const left = performance.now() < share.end ? share.left : limit;
    const amount = Math.max(share.waiting.length, Math.ceil(left * PART));
    const settle = ({ total, ends }: WindowCount) => {
      asking.delete(id);
      share.granted = Math.max(0, Math.min(amount, limit - total + amount));
      share.left = Math.max(0, limit - total);
      const now = performance.now();
      share.end = now + ends;
      const answered = share.waiting.splice(0, share.left === 0 ? share.waiting.length : share.granted);
      const standings = answered.map(() => pass(share, now));
      if (share.waiting.length > 0) ask(id, rate, share);
      for (const [index, answer] of answered.entries()) answer(standings[index] as Standing);
    };
    const counted = countWindow(id, window, amount);
    if (!(counted instanceof Promise)) settle(counted);
    else {
      asking.set(id, share);
      withTimeout(counted).then(settle, () => settle(countHere(id, window, amount) as WindowCount));
    }
  }

  return (id, rate, answer) => {
    const shares = sharesOf(id, rate.window, Date.now());
    let share = shares.get(id);
    if (share === undefined) {
      share = asking.get(id) ?? { granted: 0, left: 0, end: 0, waiting: [] };
      shares.set(id, share);
    }
    const now = performance.now();
    if (share.waiting.length === 0 && now < share.end && (share.granted > 0 || share.left === 0))
      answer(pass(share, now));
    else if (share.waiting.push(answer) === 1) ask(id, rate, share);
  };
}

function pass(share: Share, now: number): Standing {
  const isOver = share.granted === 0;
  if (!isOver) share.granted--;
  const reset = Math.max(1, Math.ceil((share.end - now) / 1000));
  return { isOver, left: share.granted + share.left, reset };
}

function withTimeout(counted: Promise<WindowCount>): Promise<WindowCount> {
  return Promise.race([counted, wait(COUNT_TIMEOUT, undefined, { ref: false }).then(() => Promise.reject(LATE))]);
}

const LATE = new Error('the shared count has not come in time');
