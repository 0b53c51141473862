/** Checks keys before the body is read. Keys come from the configuration and from the store; the contract says where clients send them. */
import type { FastifyInstance, FastifyReply, FastifyRequest, onRequestHookHandler } from 'fastify';
import type { Logger } from 'pino';
import type { Requirement } from '../contract/contract.ts';
import type { Failure } from '../http/errors.ts';
import type { Store } from '../store/store.ts';
import { buildIdentifyApiKey, takeFromQuery } from './api-key-auth.ts';
import { hashKey } from './api-keys.ts';
import { buildIdentifyBearer } from './bearer-auth.ts';
import { type Caller, missingScopes, toCaller } from './caller.ts';
import { forbidden, unauthorized } from './challenges.ts';
import { readStoredKeys } from './stored-keys.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** Who sent it; undefined where no key was checked, or none was valid. */
    caller: Caller | undefined;
  }
}

/** Whose key has this hash; undefined where none is valid. @throws Failure while the keys cannot be read */
export type FindCaller = (hash: string) => Caller | undefined;

/** Notes who sent the request, by the key in one place; `done` is told only of a failure of the service. */
export type Identify = (request: FastifyRequest, reply: FastifyReply, done: (failure?: Failure) => void) => void;

export interface AuthOptions {
  logger: Logger;
  store: Store;
  /** Keys that are valid beside the stored ones. */
  apiKeys: readonly string[];
  /** The `realm` in the `WWW-Authenticate` header. */
  realm: string;
  /** How long the last stored keys that were read stay valid while the store cannot be read, in milliseconds. */
  maxKeyAge?: number;
}

/**
 * Makes hooks that let a request pass that has one of some ways in. Any other gets 401, or 403 where only scopes are missing; 503
 * while the keys cannot be read.
 */
export async function addAuth(
  app: FastifyInstance,
  { logger, store, apiKeys, realm, maxKeyAge }: AuthOptions,
): Promise<(security: Requirement[]) => onRequestHookHandler> {
  const configured = new Map(apiKeys.map((key, index) => [hashKey(key), toConfigured(index)]));
  const stored = await readStoredKeys(store, logger, maxKeyAge);
  app.addHook('onClose', async () => stored.stop());
  app.decorateRequest('caller', undefined);
  const find: FindCaller = (hash) => configured.get(hash) ?? stored.find(hash);
  const identifyBearer = await buildIdentifyBearer(app, find);

  return (security) => {
    const places = security.map(({ place }) => place);
    const identifies = places.map((place) =>
      place.in === 'bearer' ? identifyBearer : buildIdentifyApiKey(place, find),
    );
    const takeKeys = takeFromQuery(places);

    /** Tries the ways in from this one on. `denied` is the failure of one whose key lacks scopes. */
    function tryFrom(index: number, request: FastifyRequest, reply: FastifyReply, done: Done, denied?: Failure): void {
      const way = security[index];
      if (!way) {
        done(denied ?? unauthorized(request, places, realm));
        return;
      }
      (identifies[index] as Identify)(request, reply, (failure) => {
        const missing = request.caller && missingScopes(request.caller, way.scopes);
        if (failure) done(failure);
        else if (!missing) tryFrom(index + 1, request, reply, done, denied);
        else if (missing.length > 0) {
          tryFrom(index + 1, request, reply, done, denied ?? forbidden(missing, way, realm));
        } else {
          takeKeys?.(request);
          done();
        }
      });
    }

    return (request, reply, done) => tryFrom(0, request, reply, done);
  };
}

type Done = (failure?: Failure) => void;

/** A key of the configuration, by its place there: it may do everything. */
const toConfigured = (index: number) => toCaller({ id: `API_KEYS.${index + 1}`, name: 'API_KEYS' });
