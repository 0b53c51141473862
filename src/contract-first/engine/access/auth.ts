/** Checks keys before the body is read. Keys come from the configuration and from the store; the contract says where clients send them. */
import { createHmac } from 'node:crypto';
import type { FastifyInstance, FastifyRequest, onRequestHookHandler } from 'fastify';
import type { Logger } from 'pino';
import type { Claims } from '../../registered.ts';
import { CONFIGURED, hashKey } from '../../store/api-keys.ts';
import { buildWindowCounter } from '../../store/rates.ts';
import type { Rate, Store, WindowCounter } from '../../store/store.ts';
import type { KeyPlace, NeededKey, Requirement } from '../contract/contract.ts';
import { BEARER } from '../contract/contract.ts';
import type { VerifyToken } from '../tokens.ts';
import { Admission } from './admission.ts';
import { type CallerKey, type IdentifyCaller, toCaller, toTokenCaller } from './caller.ts';
import { buildIdentifyBearer, buildIdentifyByKey, type FindCaller } from './key-auth.ts';
import { buildRateLimits, type RefuseOver } from './rate-limits.ts';
import { StoredKeys } from './stored-keys.ts';
import { buildIdentifyToken } from './token-auth.ts';
import { buildUses } from './uses.ts';

export interface Rates {
  /** The rate limit of keys that have none of their own. */
  keyRate?: Rate | undefined;
  /** The rate limit of an address for requests without a valid key. */
  unauthorizedRate?: Rate | undefined;
}

export interface AuthOptions {
  logger: Logger;
  store: Store;
  /** Checks tokens of other issuers; without it, a token is one of our keys. */
  verifyToken?: VerifyToken<Claims> | undefined;
  /** Keys that are valid beside the stored ones. */
  apiKeys: readonly string[];
  /** The `realm` in the `WWW-Authenticate` header. */
  realm: string;
  rates?: Rates;
  /** The counter that is shared with other servers; without it, this process counts alone. */
  countWindow?: WindowCounter | undefined;
  /** The address of a request's client; by default, as Fastify finds it. */
  toAddress?: ((request: FastifyRequest) => string | undefined) | undefined;
  /** Called whenever the stored keys have been read. */
  onRead?: (() => void) | undefined;
  /** How long the keys that were read last stay valid while the store cannot be read, in milliseconds. */
  maxKeyAge?: number;
}

/**
 * Makes hooks that let a request pass which meets one of the security requirements. Other requests get 401, or 403 where only
 * scopes are missing; 429 over a rate limit; 503 while the keys cannot be read.
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
): Promise<(security: Requirement[], over: RefuseOver, isKeyOptional?: boolean) => onRequestHookHandler> {
  const { keyRate, unauthorizedRate } = rates;
  const uses = buildUses(store, logger);
  const toOurs = (key: CallerKey) => toCaller(key, keyRate, uses.of(key.id));
  const stored = new StoredKeys({ store, logger, toCaller: toOurs, maxAge: maxKeyAge, onRead });
  await stored.start();
  const configured = new Map(apiKeys.map((key) => [hashKey(key), toOurs(toConfigured(key, stored.salt))]));
  const shares = buildRateLimits(countWindow, toAddress);
  app.addHook('onClose', async () => {
    stored.stop();
    await uses.stop();
  });
  const find: FindCaller = (hash) => configured.get(hash) ?? stored.find(hash);
  const identifyBearer = await buildIdentifyBearer(app, find);
  const identifyToken = verifyToken && buildIdentifyToken(verifyToken, (verified) => toTokenCaller(verified, keyRate));

  /** Shared by all operations, because each caches keys. */
  const identifies = new Map<KeyPlace, IdentifyCaller>();
  function identifyBy(place: KeyPlace): IdentifyCaller {
    if (place.isToken && identifyToken) return identifyToken;
    if (place.in === 'bearer') return identifyBearer;
    const identify = identifies.get(place) ?? buildIdentifyByKey(place, find);
    identifies.set(place, identify);
    return identify;
  }

  return (security, over, isKeyOptional = false) => {
    const alternatives = verifyToken ? security : security.map(asKeys);
    const options = { security: alternatives, realm, identifyBy, unauthorizedRate, shares, over, isKeyOptional };
    return new Admission(options).hook;
  };
}

const counters = new WeakMap<Store, WindowCounter>();

/** One for each store: the contracts on it count the uses of a key together. */
function counterOf(store: Store): WindowCounter {
  const counter = counters.get(store) ?? buildWindowCounter();
  counters.set(store, counter);
  return counter;
}

/** Without `verifyToken`, a token is a key like any other. */
const asKeys = (alternative: Requirement): Requirement => ({
  ...asKey(alternative),
  alsoNeeded: alternative.alsoNeeded.map(asKey),
});
const asKey = <Needed extends NeededKey>(needed: Needed): Needed =>
  needed.place.isToken ? { ...needed, place: BEARER } : needed;

/**
 * A key of the configuration: it may do everything. Its id is the same in all servers of a database, wherever the key is in the list.
 * Without the database's salt, nobody can test by the id whether a guess is the key.
 */
function toConfigured(key: string, salt: string): CallerKey {
  return { id: CONFIGURED + createHmac('sha256', salt).update(key).digest('hex').slice(0, 8), name: 'API_KEYS' };
}
