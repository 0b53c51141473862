/** Who sent a request: a key by its id and name, never the key itself. */
import type { KeyOwner, StoredKey } from '../store/store.ts';

export interface Caller extends KeyOwner {
  /** When the key expires, in milliseconds since the epoch, or Infinity. */
  readonly expiry: number;
}

export function toCaller({
  id,
  name,
  scopes,
  expiresAt,
}: Pick<StoredKey, 'id' | 'name' | 'scopes' | 'expiresAt'>): Caller {
  return { id, name, scopes, expiry: expiresAt ? Date.parse(expiresAt) : Number.POSITIVE_INFINITY };
}

/** Those of the needed scopes that the caller lacks. */
export const missingScopes = ({ scopes }: Caller, needed: readonly string[]): string[] =>
  scopes === undefined ? [] : needed.filter((scope) => !scopes.includes(scope));
