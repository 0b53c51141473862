/** Nobody takes more than their share: limits of keys, and of addresses that send requests without a valid one. */
import { isIP } from 'node:net';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { Failure } from '../http/errors.ts';
import type { Rate, Tally } from '../store/store.ts';
import { buildLimiter, type Standing } from './limiter.ts';

const OVER = new Failure('rate_limited', 'Too many requests. Try again after as many seconds as Retry-After says.');

/** Called when it is known whether a request is beyond the limit; not when it was answered meanwhile. */
type Next = (failure: Failure | undefined) => void;

export function buildFairShares(tally: Tally) {
  const count = buildLimiter(tally);

  function answer(reply: FastifyReply, { isOver, reset }: Standing, next: Next): void {
    if (isOver) reply.raw.setHeader('Retry-After', reset);
    next(isOver ? OVER : undefined);
  }

  return {
    /** The reply says how the key's limit stands (draft-ietf-httpapi-ratelimit-headers-10). */
    countForKey(id: string, rate: Rate, reply: FastifyReply, next: Next): void {
      count(id, rate, (standing) => {
        if (reply.sent) return;
        reply.raw.setHeader('RateLimit-Policy', `"key";q=${rate.limit};w=${rate.window}`);
        reply.raw.setHeader('RateLimit', `"key";r=${standing.left};t=${standing.reset}`);
        answer(reply, standing, next);
      });
    },
    countForAddress({ ip }: FastifyRequest, rate: Rate, reply: FastifyReply, next: Next): void {
      count(`address ${toNetwork(String(ip))}`, rate, (standing) => {
        if (!reply.sent) answer(reply, standing, next);
      });
    },
  };
}

/** The address; of IPv6 the first 64 bits, within which a client may have any address. */
export function toNetwork(ip: string): string {
  const address = ip.replace(/^::ffff:(?=[\d.]+$)/i, '');
  if (isIP(address) !== 6) return address;
  const [ahead = [], behind = []] = address.split('::').map((text) => text.split(':').filter(Boolean));
  while (ahead.length + behind.length < 8) ahead.push('0');
  return [...ahead, ...behind].slice(0, 4).join(':');
}
