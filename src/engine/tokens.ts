/** How a team's `tokens.ts` checks tokens that others have issued. */
import type { FastifyRequest } from 'fastify';
import type { Awaitable } from '../store/collection.ts';

/** The owner of a token. */
export interface Verified<Claims> {
  /** Names the caller among all callers: of several issuers, with that of the issuer. Rates and `Idempotency-Key`s are counted by it. */
  id: string;
  /** Handlers get them as `caller.claims`. */
  claims: Claims;
  scopes: readonly string[];
}

/** The client is told why, as `error_description`. */
export interface Refused {
  refused: string;
}

/**
 * Checks a token before the body of its request is read. What it throws is no fault of the token: the client gets 503, and the log
 * the cause. So does a client whose token is not checked within five seconds.
 */
export type VerifyToken<Claims> = (token: string, request: FastifyRequest) => Awaitable<Verified<Claims> | Refused>;
