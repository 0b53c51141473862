/** The sender of a request. The sender is described by the id and the name of the key, never by the key itself. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Claims } from '../../registered.ts';
import { KEY_BUCKET, parseRate, TOKEN_BUCKET } from '../../store/rates.ts';
import type { KeyOwner, Rate, StoredKey } from '../../store/store.ts';
import type { HttpError } from '../errors/catalogue.ts';
import type { Verified } from '../tokens.ts';

/**
 * The time when the key was last used, in milliseconds since 1970. Undefined if this time is already written to the
 * store.
 */
export interface KeyUsage {
  usedAt: number | undefined;
}

export interface Caller extends KeyOwner {
  /** The claims of the caller's token; undefined if the caller sent a key. */
  readonly claims: Claims | undefined;
  /**
   * The id that the rate limits use to count the caller's requests; for a token, `Idempotency-Key`s are also stored
   * under this id. Keys and tokens have different prefixes, so that a key and a token never share an id.
   */
  readonly counted: string;
  /** When the key expires, in milliseconds since the epoch, or Infinity. */
  readonly expiry: number;
  /** The rate limit of the key; undefined if the key may be used any number of times. */
  readonly rate: Rate | undefined;
  readonly use: KeyUsage;
  /** The fields of the caller in a log line, as JSON with a comma after each field. */
  readonly logged: string;
}

/**
 * Finds the caller by the key that was sent at one location. Calls `done` with the caller, or with an error if keys
 * cannot be checked now. If no valid key was sent, calls `done` with undefined, and for a rejected token also with the
 * reason.
 */
export type IdentifyCaller = (request: FastifyRequest, reply: FastifyReply, done: Identified) => void;
type Identified = (found: Caller | HttpError | undefined, tokenProblem?: string) => void;

/** The properties of a stored key that the check of a request needs. */
export type CallerKey = Pick<StoredKey, 'id' | 'name' | 'scopes' | 'expiresAt' | 'rate'>;

/**
 * Makes the caller of a key. `keyRate` applies to keys without their own rate.
 * @throws Error if the stored rate cannot be parsed, because somebody has edited it
 */
export function toCaller(
  { id, name, scopes, expiresAt, rate }: CallerKey,
  keyRate: Rate | undefined,
  use: KeyUsage,
): Caller {
  const expiry = expiresAt ? Date.parse(expiresAt) : Number.POSITIVE_INFINITY;
  const logged = `"keyId":${JSON.stringify(id)},"keyName":${JSON.stringify(name)},`;
  const own = { claims: undefined, counted: KEY_BUCKET + id, rate: rate === undefined ? keyRate : parseRate(rate) };
  return { id, name, scopes, expiry, use, logged, ...own };
}

/**
 * Makes the caller of a token. The store does not record when tokens are used, because their issuer does.
 * @throws TypeError if `verifyToken` returned no id
 */
export function toTokenCaller({ id, claims, scopes }: Verified<Claims>, rate: Rate | undefined): Caller {
  if (typeof id !== 'string' || id === '') throw new TypeError('a token was verified without an id');
  const logged = `"tokenId":${JSON.stringify(id)},`;
  const expiry = Number.POSITIVE_INFINITY;
  return { id, name: id, scopes, expiry, use: { usedAt: undefined }, logged, claims, counted: TOKEN_BUCKET + id, rate };
}
