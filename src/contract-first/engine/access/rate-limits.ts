/** Rate limits of keys, and of addresses that send requests without a valid key. */
import { isIP } from 'node:net';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { ADDRESS_BUCKET, buildKnown, buildWindowCounter } from '../../store/rates.ts';
import type { Rate, WindowCount, WindowCounter } from '../../store/store.ts';
import { withTimeout } from '../timeout.ts';

/** Sends the 429 to a request that is over its rate limit, with these headers. */
export type SendTooManyRequests = (
  request: FastifyRequest,
  reply: FastifyReply,
  headers: Record<string, string>,
) => void;

export type RateLimits = ReturnType<typeof buildRateLimits>;

export function buildRateLimits(
  countWindow: WindowCounter,
  toAddress: (request: FastifyRequest) => string | undefined,
) {
  const count = buildLimiter(countWindow);

  /**
   * Counts a request. Calls `on.passed` if the request is under its limit, and `on.over` if not. Calls neither if the
   * request was answered in the meantime. `on.over` is called in a later `setImmediate`, so that during a flood the
   * requests under their limits are handled first.
   */
  function countRequest(id: string, rate: Rate, reply: FastifyReply, on: Continuation): void {
    function act(standing: Standing): void {
      if (reply.sent) return;
      const headers: Record<string, string> = id.startsWith(ADDRESS_BUCKET) ? {} : toHeaders(rate, standing);
      if (standing.isOver) {
        // The object is changed in place. With `{ ...headers, … }`, V8 would make a new hidden class for each object,
        // and only a full garbage collection would free these classes.
        headers['Retry-After'] = String(standing.reset);
        on.over(reply.request, reply, headers);
        return;
      }
      reply.headers(headers);
      on.passed();
    }
    count(id, rate, (standing) => {
      if (standing.isOver) setImmediate(act, standing);
      else act(standing);
    });
  }

  return {
    /** Counts this request against the caller's limit, and sets the `RateLimit` headers of the reply. */
    countForCaller: countRequest,
    countForAddress: (rate: Rate, reply: FastifyReply, on: Continuation) =>
      countRequest(ADDRESS_BUCKET + toNetwork(String(toAddress(reply.request))), rate, reply, on),
  };
}

/** The callbacks for a request that was counted: `passed` if it is under the limit, `over` if it is not. */
interface Continuation {
  passed: () => void;
  over: SendTooManyRequests;
}

/** Writes the headers `RateLimit-Policy` and `RateLimit` (draft-ietf-httpapi-ratelimit-headers-10). */
const toHeaders = ({ limit, window }: Rate, { left, reset }: Standing): Record<string, string> => ({
  'RateLimit-Policy': `"key";q=${limit};w=${window}`,
  RateLimit: `"key";r=${left};t=${reset}`,
});

/**
 * Returns the network that shares one count of requests: an IPv4 address, or the first 64 bits of an IPv6 address,
 * because one client may own every address that begins with these bits.
 */
export function toNetwork(ip: string): string {
  const address = ip.replace(/^::ffff:(?=[\d.]+$)/i, '');
  if (isIP(address) !== 6) return address;
  const [ahead = [], behind = []] = address.split('::').map((text) => text.split(':').filter(Boolean));
  while (ahead.length + behind.length < 8) ahead.push('0');
  return [...ahead, ...behind].slice(0, 4).join(':');
}

/**
 * The share of the remaining requests that a process leases at once. If a client moves to another process, the unused
 * rest of the lease is lost until the window ends; this is at most the same share.
 */
const LEASED_SHARE = 0.01;

/**
 * How long to wait for the shared counter, in milliseconds. If it does not answer in time, this server counts the
 * requests by itself.
 */
const COUNT_TIMEOUT = 250;

/** The state of a limit after a request. */
export interface Standing {
  isOver: boolean;
  /** The number of further requests that may pass in this window. */
  left: number;
  /** The seconds until the next window begins. */
  reset: number;
}

/** Counts a request. Calls `answer` as soon as it is known whether the request is over its limit. */
export type Limiter = (id: string, rate: Rate, answer: (standing: Standing) => void) => void;

interface Share {
  /** The number of requests that this server may still admit on its own. */
  granted: number;
  /** The number of requests that all servers together may still lease. */
  left: number;
  /** The time when the window ends, as in `performance.now()`. */
  end: number;
  /** The callbacks of the requests that wait until the shared counter answers. */
  waiting: ((standing: Standing) => void)[];
}

/**
 * Builds the function that decides whether a request is over its rate limit. A process leases some of the remaining
 * requests from the shared counter, and admits this number of requests on its own. So all processes together never
 * exceed the limit, and most requests need not wait for the counter. Once the limit is used up, requests are rejected
 * without asking the counter.
 */
export function buildLimiter(countWindow: WindowCounter): Limiter {
  const sharesOf = buildKnown<Share>();
  const countHere = buildWindowCounter();
  /**
   * The shares with requests that wait for the shared counter. The map is needed because `sharesOf` may drop a share
   * during the wait: when the share's window ends, or to make room for other shares.
   */
  const asking = new Map<string, Share>();

  function ask(id: string, rate: Rate, share: Share): void {
    const { limit, window } = rate;
    const left = performance.now() < share.end ? share.left : limit;
    const amount = Math.max(share.waiting.length, Math.ceil(left * LEASED_SHARE));
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
      withTimeout(counted, COUNT_TIMEOUT, 'late').then(settle, () =>
        settle(countHere(id, window, amount) as WindowCount),
      );
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
