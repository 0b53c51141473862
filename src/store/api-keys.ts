/** Making and hashing API keys. A key is shown once, when it is made; only its hash is kept. */
import { hash, randomBytes } from 'node:crypto';
import type { StoredKey } from './store.ts';

/** Lets secret scanners recognise a leaked key: `petstore_` and 48 hexadecimal digits. */
const PREFIX = 'petstore_';

/** What the ids of keys of the configuration begin with, and those of stored keys do not. */
export const CONFIGURED = 'API_KEYS.';

/** 1 to 100 characters without control characters, which a terminal would carry out, or that show another text; no spaces around. */
export const NAME_PATTERN = '^(?! )[^\\p{Cc}\\p{Cf}\\p{Cs}\\p{Zl}\\p{Zp}]{1,100}(?<! )$';

/** A text from a store or a file for a terminal: what is not to be printed, as its code. */
export function toPrintable(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/gu, (character) => {
    return `\\u{${(character.codePointAt(0) as number).toString(16)}}`;
  });
}

/** Does so with each of several lines. */
export const toPrintableLines = (text: string) => text.split('\n').map(toPrintable).join('\n');

/** 192 random bits. */
export function makeKey(): string {
  return PREFIX + randomBytes(24).toString('hex');
}

/** SHA-256 in hexadecimal digits: enough for keys that are random, which cannot be guessed from a word list. */
export function hashKey(key: string): string {
  return hash('sha256', key, 'hex');
}

/** What to store of a key. */
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

/** Whether a stored key opens the door at this time. */
export function isValid({ revokedAt, expiresAt }: StoredKey, now: number): boolean {
  return revokedAt == null && (expiresAt == null || now < Date.parse(expiresAt));
}
