/** Who sent a request: a key by its id and name, never the key itself. */
import type { FastifyReply, FastifyRequest } from 'fastify';
import { parseRate } from '../../store/rate.ts';
import type { KeyOwner, Rate, StoredKey } from '../../store/store.ts';
import type { Failure } from '../errors.ts';
import type { Use } from './uses.ts';

export interface Caller extends KeyOwner {
  /** When the key expires, in milliseconds since the epoch, or Infinity. */
  readonly expiry: number;
  /** How often the key may be used; undefined for any number of times. */
  readonly rate: Rate | undefined;
  readonly use: Use;
  /** Its fields in a line of the log, as JSON, with a comma behind each. */
  readonly logged: string;
}

declare module 'fastify' {
  interface FastifyRequest {
    /** Who sent it; undefined where no key was checked, or none was valid. */
    caller: Caller | undefined;
  }
}

/** Notes whose key has this hash: nobody's where none is valid. Gives the failure where the keys cannot be read; never throws. */
export type NoteCaller = (request: FastifyRequest, hash: string) => Failure | undefined;

/** Notes who sent the request, by the key in one place; `done` is told only of a failure of the service. */
export type Identify = (request: FastifyRequest, reply: FastifyReply, done: (failure?: Failure) => void) => void;

/** What is to be known of a key. */
export type CallerKey = Pick<StoredKey, 'id' | 'name' | 'scopes' | 'expiresAt' | 'rate'>;

/** `keyRate` is that of keys that have none of their own. @throws Error where a rate was edited and is none */
export function toCaller(
  { id, name, scopes, expiresAt, rate }: CallerKey,
  keyRate: Rate | undefined,
  use: Use,
): Caller {
  const expiry = expiresAt ? Date.parse(expiresAt) : Number.POSITIVE_INFINITY;
  const logged = `"keyId":${JSON.stringify(id)},"keyName":${JSON.stringify(name)},`;
  return { id, name, scopes, expiry, use, logged, rate: rate === undefined ? keyRate : parseRate(rate) };
}

/** Those of the needed scopes that the caller lacks. */
export const missingScopes = ({ scopes }: Caller, needed: readonly string[]): string[] =>
  scopes === undefined ? [] : needed.filter((scope) => !scopes.includes(scope));
