/** Makes and hashes API keys. A key is shown once, when it is made; only its hash is stored. */
import { hash, randomBytes } from 'node:crypto';
import type { StoredKey } from './store.ts';

/** The start of every key of a service, which lets secret scanners recognise a leaked one: 48 hexadecimal digits follow. */
export const toKeyPrefix = (service: string) => `${service}_`;

/** The start of the ids of configured keys; ids of stored keys have another form. */
export const CONFIGURED = 'API_KEYS.';

/** 1 to 100 characters, without spaces around, and without characters that a terminal would execute, or that hide or reorder text. */
export const NAME_PATTERN = '^(?! )[^\\p{Cc}\\p{Cf}\\p{Cs}\\p{Zl}\\p{Zp}]{1,100}(?<! )$';

/** 192 random bits. */
export function makeKey(service: string): string {
  return toKeyPrefix(service) + randomBytes(24).toString('hex');
}

/** SHA-256 in hexadecimal digits: enough for random keys, which cannot be guessed from a word list. */
export function hashKey(key: string): string {
  return hash('sha256', key, 'hex');
}

/** The stored form of a key. */
export function toStoredKey(key: string, name: string, expiresAt?: Date, scopes?: string[], rate?: string): StoredKey {
  return {
    id: randomBytes(4).toString('hex'),
    name,
    hash: hashKey(key),
    createdAt: new Date().toISOString(),
    expiresAt: expiresAt?.toISOString(),
    scopes,
    rate,
  };
}

/** Whether a stored key is valid at this time. */
export function isValid({ revokedAt, expiresAt }: StoredKey, now: number): boolean {
  return revokedAt == null && (expiresAt == null || now < Date.parse(expiresAt));
}
