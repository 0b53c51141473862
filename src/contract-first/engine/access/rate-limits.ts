/** Rate limits of keys, and of addresses that send requests without a valid key. */
import { isIP } from 'node:net';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { ADDRESS } from '../../store/rates.ts';
import type { Rate, WindowCounter } from '../../store/store.ts';
import { buildLimiter, type Standing } from './limiter.ts';

/** Answers a request that is over its rate limit, with these headers. */
export type RefuseOver = (request: FastifyRequest, reply: FastifyReply, headers: Record<string, string>) => void;

export type RateLimits = ReturnType<typeof buildRateLimits>;

export function buildRateLimits(
  countWindow: WindowCounter,
  toAddress: (request: FastifyRequest) => string | undefined,
) {
  const count = buildLimiter(countWindow);

  /**
   * Calls `on.passed` or `on.over`; neither where the request was answered meanwhile. Refusals wait for `setImmediate`, so that good
   * requests that arrive with a flood are handled first.
   */
  function countRequest(id: string, rate: Rate, reply: FastifyReply, toHeaders: ToHeaders, on: Continuation): void {
    function act(standing: Standing): void {
      if (reply.sent) return;
      const headers = toHeaders(rate, standing);
      if (standing.isOver) {
        // Not by `{ ...headers, … }`: V8 makes a new shape for each such object, and only a full collection frees it.
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
    /** Counts for the caller's limit, and sets the `RateLimit` headers of the reply. */
    countForCaller: (counted: string, rate: Rate, reply: FastifyReply, on: Continuation) =>
      countRequest(counted, rate, reply, toStanding, on),
    countForAddress: (rate: Rate, reply: FastifyReply, on: Continuation) =>
      countRequest(ADDRESS + toNetwork(String(toAddress(reply.request))), rate, reply, () => ({}), on),
  };
}

/** The next step of a request once it is counted. */
interface Continuation {
  passed: () => void;
  over: RefuseOver;
}

type ToHeaders = (rate: Rate, standing: Standing) => Record<string, string>;

/** draft-ietf-httpapi-ratelimit-headers-10. */
const toStanding: ToHeaders = ({ limit, window }, { left, reset }) => ({
  'RateLimit-Policy': `"key";q=${limit};w=${window}`,
  RateLimit: `"key";r=${left};t=${reset}`,
});

/** The address, or the first 64 bits of IPv6: a client may have every address in such a network. */
export function toNetwork(ip: string): string {
  const address = ip.replace(/^::ffff:(?=[\d.]+$)/i, '');
  if (isIP(address) !== 6) return address;
  const [ahead = [], behind = []] = address.split('::').map((text) => text.split(':').filter(Boolean));
  while (ahead.length + behind.length < 8) ahead.push('0');
  return [...ahead, ...behind].slice(0, 4).join(':');
}
