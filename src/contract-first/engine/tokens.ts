/** The types of a team's `tokens.ts`, which checks tokens of other issuers. */
import type { FastifyRequest } from 'fastify';
import type { Awaitable } from '../store/collection.ts';

/** The owner of a valid token. */
export interface Verified<Claims> {
  /**
   * The id of the owner, unique among all callers: include the issuer if there are several. Rate limits and
   * `Idempotency-Key`s are kept per id.
   */
  id: string;
  /** The claims, which handlers get as `caller.claims`. */
  claims: Claims;
  scopes: readonly string[];
}

/** The result for a token that is not valid. The client gets `refused` as `error_description`. */
interface TokenRejection {
  refused: string;
}

/**
 * Checks a token before the body of its request is read. If it throws, or takes more than five seconds, the client gets
 * 503, and the cause is logged.
 */
export type VerifyToken<Claims> = (
  token: string,
  request: FastifyRequest,
) => Awaitable<Verified<Claims> | TokenRejection>;
