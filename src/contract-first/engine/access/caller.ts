/** The sender of a request: the id and name of a key, never the key itself. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Claims } from '../../registered.ts';
import { KEY_BUCKET, parseRate, TOKEN_BUCKET } from '../../store/rates.ts';
import type { KeyOwner, Rate, StoredKey } from '../../store/store.ts';
import type { HttpError } from '../errors/catalogue.ts';
import type { Verified } from '../tokens.ts';

/** The time when the key was last used, in milliseconds since 1970; undefined if the store already contains this time. */
export interface KeyUsage {
  usedAt: number | undefined;
}

export interface Caller extends KeyOwner {
  /** The claims of a token; a key has none. */
  readonly claims: Claims | undefined;
  /** The id that requests and `Idempotency-Key`s are counted by. A key and a token never share an id. */
  readonly counted: string;
  /** When the key expires, in milliseconds since the epoch, or Infinity. */
  readonly expiry: number;
  /** The rate limit of the key; undefined if the key may be used any number of times. */
  readonly rate: Rate | undefined;
  readonly use: KeyUsage;
  /** The caller's fields in the log, as JSON with a comma after each. */
  readonly logged: string;
}

/**
 * Finds the caller by the key at one location. `done` is called with the caller, with an error of the service, or with the reason why a
 * token was rejected.
 */
export type IdentifyCaller = (request: FastifyRequest, reply: FastifyReply, done: Identified) => void;
type Identified = (found: Caller | HttpError | undefined, tokenProblem?: string) => void;

/** The parts of a stored key that a request needs. */
export type CallerKey = Pick<StoredKey, 'id' | 'name' | 'scopes' | 'expiresAt' | 'rate'>;

/**
 * Makes the caller of a stored key. `keyRate` is the limit of keys without their own rate. @throws Error if somebody has edited the stored
 * rate so that it cannot be parsed
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
 * Makes the caller of a token. The store does not record uses of tokens, because the issuer knows them. @throws TypeError if `verifyToken`
 * returned no id
 */
export function toTokenCaller({ id, claims, scopes }: Verified<Claims>, rate: Rate | undefined): Caller {
  if (typeof id !== 'string' || id === '') throw new TypeError('a token was verified without an id');
  const logged = `"tokenId":${JSON.stringify(id)},`;
  const expiry = Number.POSITIVE_INFINITY;
  return { id, name: id, scopes, expiry, use: { usedAt: undefined }, logged, claims, counted: TOKEN_BUCKET + id, rate };
}
