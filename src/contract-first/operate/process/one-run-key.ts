/** Makes an API key that is valid only for this run, so that a first start needs no preparation. */
import type { Logger } from 'pino';
import type { Contract } from '../../engine/contract/contract.ts';
import { toFirstCurl } from '../../engine/contract/first-request.ts';
import { toPrintableLines } from '../../json/literals.ts';
import { isValid, makeKey } from '../../store/api-keys.ts';
import type { Store } from '../../store/store.ts';
import { type Config, ConfigError } from '../config.ts';

/**
 * True if the server accepts API keys. False if every operation accepts only tokens of other issuers, which the team's
 * function `verifyToken` checks.
 */
export const takesKeys = ({ keyLocations }: Pick<Contract, 'keyLocations'>, verifyToken: unknown): boolean =>
  verifyToken === undefined || !keyLocations.every(({ isToken }) => isToken);

/**
 * Makes a key for this run, if no key is configured and none was ever stored. Otherwise returns undefined. Logs a
 * warning if every stored key has expired or is revoked, because the service then rejects every caller.
 * @throws ConfigError in production, instead of making a key
 */
export async function makeOneRunKey(
  { name, apiKeys, isProduction }: Pick<Config, 'apiKeys' | 'isProduction'> & { name: string },
  store: Store,
  logger: Logger,
  isTaken = true,
): Promise<string | undefined> {
  if (!isTaken || apiKeys.length > 0) return undefined;
  const { keys } = await store.readKeys();
  if (keys.some((key) => isValid(key, Date.now()))) return undefined;
  if ((await store.listKeys()).length > 0) {
    logger.warn(`no API key is valid: every caller is refused. ${HOW}`);
    return undefined;
  }
  if (!isProduction) return makeKey(name);
  throw new ConfigError(NO_KEY_CONFIGURED);
}

/**
 * The command that makes a key, for messages. Messages do not suggest the shorter `npm run keys`, because it compiles
 * the service first, and a deployment does not contain a compiler.
 */
export const MAKE_KEY = '`node dist/src/main.js keys create <name>`';
const HOW = `Make one with ${MAKE_KEY}, or set API_KEYS`;
export const NO_KEY_CONFIGURED = `No API key is configured. ${HOW}, and start again.`;

/**
 * Returns the text for the person who started the server, with the key. The caller must write this text to standard
 * error, because the log must not contain keys.
 */
export function toFirstWords(key: string, origin: string, { firstRequest }: Pick<Contract, 'firstRequest'>): string {
  const tried = firstRequest ? `Try it:\n\n  ${toFirstCurl(firstRequest, origin, key)}\n\n` : '';
  return toPrintableLines(`
No API key is configured. This one is for this run only:

  ${key}

After a restart it is gone: make one that lasts with ${MAKE_KEY}.

${tried}Documentation, to read and try: ${origin}/docs

`);
}
