/** An example request, printed as a curl command for people who have just started a server. */
import { randomUUID } from 'node:crypto';
import { toShellWord } from '../../json/literals.ts';

/** The arguments of a curl command. The options are quoted for a shell. */
export interface FirstRequest {
  options: string[];
  /** The URL after the origin, not quoted. */
  url: string;
}

/**
 * Placeholders in the arguments of curl: one for the reader's API key, and one for a new UUID in the header
 * `Idempotency-Key`.
 */
export const KEY_PLACEHOLDER = '<API_KEY>';
export const UUID_PLACEHOLDER = '<UUID>';

/** Replaces the placeholders by the key and a new UUID. */
export const fillPlaceholders = (text: string, key: string): string =>
  text.replaceAll(KEY_PLACEHOLDER, key).replaceAll(UUID_PLACEHOLDER, randomUUID());

/** Returns the whole curl command. */
export function toFirstCurl({ options, url }: FirstRequest, origin: string, key: string): string {
  const words = [...options, toShellWord(origin + url)].join(' \\\n    ');
  return fillPlaceholders(`curl ${words}`, key);
}
