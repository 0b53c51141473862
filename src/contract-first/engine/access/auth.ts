/**
 * Checks keys before the body is read. The keys are in the configuration and in the store; the contract declares how
 * clients send them.
 */
import { createHmac } from 'node:crypto';
import type { FastifyInstance, FastifyRequest, onRequestHookHandler } from 'fastify';
import type { Logger } from 'pino';
import type { Claims } from '../../registered.ts';
import { CONFIGURED, hashKey } from '../../store/api-keys.ts';
import { buildWindowCounter } from '../../store/rates.ts';
import type { Rate, Store, WindowCounter } from '../../store/store.ts';
import { BEARER, type NeededKey, type Requirement } from '../contract/contract.ts';
import type { VerifyToken } from '../tokens.ts';
import { Admission, type CheckedKey } from './admission.ts';
import { type CallerKey, toCaller, toTokenCaller } from './caller.ts';
import { buildIdentifyBearer, buildIdentifyByKey, type FindCaller } from './key-auth.ts';
import { buildRateLimits, type SendTooManyRequests } from './rate-limits.ts';
import { buildUses, StoredKeys } from './stored-keys.ts';
import { buildIdentifyToken } from './token-auth.ts';

export interface Rates {
  /** The rate limit of each key without a stored limit. */
  keyRate?: Rate | undefined;
  /** The rate limit for requests without a valid key, counted for each client address. */
  unauthorizedRate?: Rate | undefined;
}

export interface AuthOptions {
  logger: Logger;
  store: Store;
  /**
   * Checks tokens of other issuers. Without `verifyToken`, clients must send one of the service's own keys in place of
   * such a token.
   */
  verifyToken?: VerifyToken<Claims> | undefined;
  /** Keys that are valid in addition to the keys in the store. */
  apiKeys: readonly string[];
  /** The `realm` in the `WWW-Authenticate` header. */
  realm: string;
  rates?: Rates;
  /** The counter that several servers share. By default, this process counts alone. */
  countWindow?: WindowCounter | undefined;
  /** Returns the address of a request's client. By default, this is Fastify's `request.ip`. */
  toAddress?: ((request: FastifyRequest) => string | undefined) | undefined;
  /** Called after each successful read of the stored keys. */
  onRead?: (() => void) | undefined;
  /** How long the keys that were last read remain valid while the store cannot be read, in milliseconds. */
  maxKeyAge?: number;
}

/**
 * Builds the hook of an operation. The hook admits a request if it meets at least one of the requirements in
 * `security`.
 */
export type AuthFor = (
  security: Requirement[],
  over: SendTooManyRequests,
  isKeyOptional?: boolean,
) => onRequestHookHandler;

/**
 * Prepares the check of keys, and returns a function that builds the hook of an operation. The hook replies with 401 if
 * a request lacks the needed keys, with 403 if its key only lacks scopes, with 429 if a rate limit is exceeded, and
 * with 503 while the stored keys cannot be read.
 */
export async function addAuth(
  app: FastifyInstance,
  {
    logger,
    store,
    verifyToken,
    apiKeys,
    realm,
    rates = {},
    countWindow = counterOf(store),
    maxKeyAge,
    onRead,
    toAddress = ({ ip }) => ip,
  }: AuthOptions,
): Promise<AuthFor> {
  const { keyRate, unauthorizedRate } = rates;
  const uses = buildUses(store, logger);
  const toOurs = (key: CallerKey) => toCaller(key, keyRate, uses.of(key.id));
  const stored = new StoredKeys({ store, logger, toCaller: toOurs, maxAge: maxKeyAge, onRead });
  await stored.start();
  const configured = new Map(apiKeys.map((key) => [hashKey(key), toOurs(toConfigured(key, stored.salt))]));
  const limits = buildRateLimits(countWindow, toAddress);
  app.addHook('onClose', async () => {
    stored.stop();
    await uses.stop();
  });
  const find: FindCaller = (hash) => configured.get(hash) ?? stored.find(hash);
  const identifyBearer = await buildIdentifyBearer(app, find);
  const identifyByKey = buildIdentifyByKey(find);
  const identifyToken = verifyToken && buildIdentifyToken(verifyToken, (verified) => toTokenCaller(verified, keyRate));

  function toChecked({ location, scopes }: NeededKey): CheckedKey {
    if (location.isToken && identifyToken) return { location, scopes, identify: identifyToken };
    // Without `verifyToken`, one of the service's own keys is expected in place of a token.
    if (location.isToken || location.in === 'bearer')
      return { location: location.isToken ? BEARER : location, scopes, identify: identifyBearer };
    return { location, scopes, identify: identifyByKey(location) };
  }

  return (security, over, isKeyOptional = false) => {
    const alternatives = security.map(({ alsoNeeded, ...first }) => [first, ...alsoNeeded].map(toChecked));
    return new Admission({ alternatives, realm, unauthorizedRate, limits, over, isKeyOptional }).hook;
  };
}

const counters = new WeakMap<Store, WindowCounter>();

/**
 * Returns the rate counter of a store. Contracts on the same store share one counter, so that the uses of a key are
 * counted together.
 */
function counterOf(store: Store): WindowCounter {
  const counter = counters.get(store) ?? buildWindowCounter();
  counters.set(store, counter);
  return counter;
}

/**
 * Makes the caller of a key in `API_KEYS`, which has every scope. The key has the same id on all servers of a database,
 * at any position in the list. The id depends on the database's salt, so that nobody can test guesses of the key
 * against the id.
 */
function toConfigured(key: string, salt: string): CallerKey {
  return { id: CONFIGURED + createHmac('sha256', salt).update(key).digest('hex').slice(0, 8), name: 'API_KEYS' };
}
