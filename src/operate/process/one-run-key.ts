/** A key for this run only, so that a first start needs no preparation. */
import type { Logger } from 'pino';
import type { Contract } from '../../engine/contract/contract.ts';
import { isValid, makeKey } from '../../store/api-keys.ts';
import type { Store } from '../../store/store.ts';
import { type Config, ConfigError } from '../config.ts';

/** Whether keys of this server open anything: not where the contract takes tokens of others alone, and they are checked. */
export const takesKeys = ({ keyPlaces }: Pick<Contract, 'keyPlaces'>, verifyToken: unknown): boolean =>
  verifyToken === undefined || !keyPlaces.every(({ isToken }) => isToken);

/**
 * Undefined where any key was ever made: a service whose keys are all revoked refuses every caller, and says so in its log.
 * @throws ConfigError in production where none was
 */
export async function makeOneRunKey(
  { apiKeys, isProduction }: Config,
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
  if (!isProduction) return makeKey();
  throw new ConfigError(`No API key is configured. ${HOW}, and start again.`);
}

/** A deployment has no development tools: `npm run keys` would try to compile. */
const HOW = 'Make one with `node dist/src/operate/cli/keys.js create <name>`, or set API_KEYS';

/** For the person who started it, on standard error: the log never sees a key. */
export function showOneRunKey(key: string, origin: string, contract: Contract): void {
  process.stderr.write(`
No API key is configured. This one is for this run only:

  ${key}

Try it:

  ${toCurl(key, origin, contract)}

Documentation, to read and try: ${origin}/docs

`);
}

/** Calls the first operation that needs nothing but a key, with the key where the contract says that it is sent. */
export function toCurl(key: string, origin: string, { prefix, operations, keyPlaces }: Contract): string {
  const plain = [...operations.values()].find(
    ({ method, path, parameters }) =>
      method === 'GET' && !path.includes('{') && parameters.every(({ required }) => !required),
  );
  const url = `${origin}${prefix}${plain?.path ?? ''}`;
  const place = plain ? plain.security[0]?.place : keyPlaces[0];
  if (!place) return `curl ${url}`;
  if (place.in === 'query') return `curl '${url}?${encodeURIComponent(place.name)}=${key}'`;
  if (place.in === 'basic') return `curl -u :${key} ${url}`;
  if (place.in === 'cookie') return `curl -b '${place.name}=${key}' ${url}`;
  return `curl -H '${place.name}: ${place.in === 'bearer' ? 'Bearer ' : ''}${key}' ${url}`;
}
