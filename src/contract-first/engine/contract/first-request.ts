/** A request that works, for people who have just started a server. */
import { randomUUID } from 'node:crypto';
import { toShellWord } from '../../json/literals.ts';

/** The words of a curl command, quoted for a shell. */
export interface FirstRequest {
  options: string[];
  /** The URL after the origin, not quoted. */
  url: string;
}

/** The placeholders for the reader's key and a new `Idempotency-Key`, as plain text in the words. */
export const KEY_PLACEHOLDER = '<API_KEY>';
export const UUID_PLACEHOLDER = '<UUID>';

/** Writes the key, and a new UUID, in place of their placeholders. */
export const fillPlaceholders = (text: string, key: string): string =>
  text.replaceAll(KEY_PLACEHOLDER, key).replaceAll(UUID_PLACEHOLDER, randomUUID());

/** Returns a curl command. */
export function toFirstCurl({ options, url }: FirstRequest, origin: string, key: string): string {
  const words = [...options, toShellWord(origin + url)].join(' \\\n    ');
  return fillPlaceholders(`curl ${words}`, key);
}
