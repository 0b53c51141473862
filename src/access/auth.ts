/** Checks keys before the body is read. Keys come from the configuration and from the store; the contract says where clients send them. */
import { createHmac } from 'node:crypto';
import type { FastifyInstance, FastifyReply, FastifyRequest, onRequestHookHandler } from 'fastify';
import type { Logger } from 'pino';
import type { NeededKey, Requirement } from '../contract/contract.ts';
import type { Failure } from '../http/errors.ts';
import type { Rate, Store, Tally } from '../store/store.ts';
import { buildIdentifyApiKey } from './api-key-auth.ts';
import { CONFIGURED, hashKey } from './api-keys.ts';
import { buildIdentifyBearer } from './bearer-auth.ts';
import { type Caller, type CallerKey, type Identify, missingScopes, type NoteCaller, toCaller } from './caller.ts';
import { forbidden, placesOf, unauthorized } from './challenges.ts';
import { buildFairShares, type RefuseOver } from './fair-shares.ts';
import { takeFromQuery } from './sent-keys.ts';
import { readStoredKeys } from './stored-keys.ts';
import { buildTally } from './tally.ts';
import { buildUses } from './uses.ts';

export interface Rates {
  /** How often a key may be used that has no rate of its own. */
  keyRate?: Rate | undefined;
  /** How often an address may send requests without a valid key. */
  unauthorizedRate?: Rate | undefined;
}

export interface AuthOptions {
  logger: Logger;
  store: Store;
  /** Keys that are valid beside the stored ones. */
  apiKeys: readonly string[];
  /** The `realm` in the `WWW-Authenticate` header. */
  realm: string;
  rates?: Rates;
  /** What all processes have in common that share the limits; without, this process has them for itself. */
  tally?: Tally | undefined;
  /** Called whenever the stored keys have been read. */
  onRead?: () => void;
  /** How long the last stored keys that were read stay valid while the store cannot be read, in milliseconds. */
  maxKeyAge?: number;
}

/**
 * Makes hooks that let a request pass that has one of some ways in. Any other gets 401, or 403 where only scopes are missing; 429
 * beyond a limit; 503 while the keys cannot be read.
 */
export async function addAuth(
  app: FastifyInstance,
  { logger, store, apiKeys, realm, rates = {}, tally = buildTally(), maxKeyAge, onRead }: AuthOptions,
): Promise<(security: Requirement[], over: RefuseOver, isKeyOptional?: boolean) => onRequestHookHandler> {
  const { keyRate, unauthorizedRate } = rates;
  const uses = buildUses(store, logger);
  const toOurs = (key: CallerKey) => toCaller(key, keyRate, uses.of(key.id));
  const stored = await readStoredKeys(store, logger, toOurs, maxKeyAge, onRead);
  const configured = new Map(apiKeys.map((key) => [hashKey(key), toOurs(toConfigured(key, stored.salt))]));
  const { countForKey, countForAddress } = buildFairShares(tally);
  app.addHook('onClose', async () => {
    stored.stop();
    await uses.stop();
  });
  app.decorateRequest('caller', undefined);
  const note: NoteCaller = (request, hash) => {
    try {
      request.caller = configured.get(hash) ?? stored.find(hash);
      return undefined;
    } catch (error) {
      return error as Failure;
    }
  };
  const identifyBearer = await buildIdentifyBearer(app, note);

  return (security, over, isKeyOptional = false) => {
    const places = placesOf(security);
    const identifies = new Map(
      places.map((place) => [place, place.in === 'bearer' ? identifyBearer : buildIdentifyApiKey(place, note)]),
    );
    const toHeld = (key: NeededKey): HeldKey => ({ ...key, identify: identifies.get(key.place) as Identify });
    const ways = security.map((way) => ({ ...toHeld(way), others: way.others.map(toHeld) }));
    const takeKeys = takeFromQuery(places);

    /** Tries the ways in from this one on. `denied` is the failure of one whose key lacks scopes. */
    function tryFrom(index: number, request: FastifyRequest, reply: FastifyReply, done: Done, denied?: Failure): void {
      const way = ways[index];
      if (!way) {
        if (isKeyOptional) {
          request.caller = undefined;
          done();
        } else if (denied) done(denied);
        else turnAway(request, reply, done);
        return;
      }
      way.identify(request, reply, (failure) => {
        const { caller } = request;
        if (failure) done(failure);
        else if (!caller) tryFrom(index + 1, request, reply, done, denied);
        else if (caller.rate === undefined) admit(caller, index, request, reply, done, denied);
        else {
          const passed = () => admit(caller, index, request, reply, done, denied);
          countForKey(caller.id, caller.rate, reply, { passed, over });
        }
      });
    }

    /** By this way in, or by another one where its scopes are too few. */
    function admit(
      caller: Caller,
      index: number,
      request: FastifyRequest,
      reply: FastifyReply,
      done: Done,
      denied?: Failure,
    ) {
      const way = ways[index] as (typeof ways)[number];
      const missing = missingScopes(caller, way.scopes);
      if (missing.length > 0) {
        tryFrom(index + 1, request, reply, done, denied ?? forbidden(missing, way, realm));
      } else if (way.others.length === 0) pass(caller, request, done);
      else {
        needOthers(way.others, 0, request, reply, (failure, isHeld) => {
          request.caller = caller;
          if (failure) done(failure);
          else if (isHeld) pass(caller, request, done);
          else tryFrom(index + 1, request, reply, done, denied);
        });
      }
    }

    function pass(caller: Caller, request: FastifyRequest, done: Done): void {
      caller.use.isNew = true;
      takeKeys?.(request);
      done();
    }

    /** The keys that are needed beside the first, each with its scopes. */
    function needOthers(
      others: HeldKey[],
      index: number,
      request: FastifyRequest,
      reply: FastifyReply,
      told: (failure?: Failure, isHeld?: boolean) => void,
    ): void {
      const other = others[index];
      if (!other) {
        told(undefined, true);
        return;
      }
      other.identify(request, reply, (failure) => {
        const { caller } = request;
        const missing = caller ? missingScopes(caller, other.scopes) : [];
        if (failure || !caller) told(failure, false);
        else if (missing.length > 0) told(forbidden(missing, other, realm));
        else needOthers(others, index + 1, request, reply, told);
      });
    }

    function turnAway(request: FastifyRequest, reply: FastifyReply, done: Done): void {
      const passed = () => done(unauthorized(request, places, realm));
      if (unauthorizedRate === undefined) passed();
      else countForAddress(unauthorizedRate, reply, { passed, over });
    }

    return (request, reply, done) => tryFrom(0, request, reply, done);
  };
}

type Done = (failure?: Failure) => void;

interface HeldKey extends NeededKey {
  /** Notes its caller in the request. */
  identify: Identify;
}

/**
 * A key of the configuration: it may do everything. Its id is the same wherever it stands there, and in all servers of a database; who
 * does not know the database's salt cannot find out by it whether a guess is the key.
 */
function toConfigured(key: string, salt: string): CallerKey {
  return { id: CONFIGURED + createHmac('sha256', salt).update(key).digest('hex').slice(0, 8), name: 'API_KEYS' };
}
