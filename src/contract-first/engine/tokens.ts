/** The types of a team's `tokens.ts`, which checks tokens of other issuers. */
import type { FastifyRequest } from 'fastify';
import type { Awaitable } from '../store/collection.ts';

/** The owner of a token. */
export interface Verified<Claims> {
  /** Unique among all callers: include the issuer if there are several. Rate limits and `Idempotency-Key`s are counted by it. */
  id: string;
  /** The claims, which handlers get as `caller.claims`. */
  claims: Claims;
  scopes: readonly string[];
}

/** A rejected token. The client gets the reason as `error_description`. */
interface TokenRejection {
  refused: string;
}

/**
 * Checks a token before the body of its request is read. If it throws, or takes more than five seconds, the client gets 503, and the log
 * the cause.
 */
export type VerifyToken<Claims> = (
  token: string,
  request: FastifyRequest,
) => Awaitable<Verified<Claims> | TokenRejection>;
