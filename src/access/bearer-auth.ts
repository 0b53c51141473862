/** The bearer check (RFC 6750), before the body is read. Keys come from the configuration and from the store. */
import bearerAuth from '@fastify/bearer-auth';
import type { FastifyInstance, FastifyRequest, onRequestHookHandler } from 'fastify';
import { LRUCache } from 'lru-cache';
import type { Logger } from 'pino';
import { Failure } from '../http/errors.ts';
import type { Store } from '../store/store.ts';
import { hashKey } from './api-keys.ts';
import { type Caller, missingScopes, toCaller } from './caller.ts';
import { readStoredKeys } from './stored-keys.ts';

/** How many valid `Authorization` headers are remembered: hashing a key takes a sixth of the time of a request. */
const MAX_VERIFIED = 1000;

declare module 'fastify' {
  interface FastifyRequest {
    /** Who sent it; undefined where no key was checked, or none was valid. */
    caller: Caller | undefined;
  }
}

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
 * Makes hooks that let a request pass whose key is valid and has all of some scopes. Any other gets 401 or 403; 503 while the keys
 * cannot be read.
 */
export async function addAuth(
  app: FastifyInstance,
  { logger, store, apiKeys, realm, maxKeyAge }: AuthOptions,
): Promise<(scopes: readonly string[]) => onRequestHookHandler> {
  const configured = new Map(apiKeys.map((key, index) => [hashKey(key), toConfigured(index)]));
  const stored = await readStoredKeys(store, logger, maxKeyAge);
  app.addHook('onClose', async () => stored.stop());
  const find = (hash: string) => configured.get(hash) ?? stored.find(hash);
  /** The hash of the key in each header that was found valid. Only the hash says whether it still is. */
  const verified = new LRUCache<string, string>({ max: MAX_VERIFIED });
  const auth = (key: string, request: FastifyRequest) => {
    const hash = hashKey(key);
    request.caller = find(hash);
    if (!request.caller) return false;
    verified.set(request.headers.authorization as string, hash);
    return true;
  };
  app.decorateRequest('caller', undefined);
  await app.register(bearerAuth, { addHook: false, keys: [], auth, specCompliance: 'rfc6749' });
  const verify = app.verifyBearerAuth as NonNullable<typeof app.verifyBearerAuth>;

  return (scopes) => {
    const refuse = ({ caller }: FastifyRequest) => {
      const missing = missingScopes(caller as Caller, scopes);
      return missing.length > 0 ? forbidden(missing, scopes, realm) : undefined;
    };
    return (request, reply, done) => {
      const hash = verified.get(request.headers.authorization ?? '');
      request.caller = hash === undefined ? undefined : find(hash);
      if (request.caller) {
        done(refuse(request));
        return;
      }
      verify(request, reply, (error) => {
        if (error) done(error instanceof Failure ? error : unauthorized(request, realm));
        else done(refuse(request));
      });
    };
  };
}

/** A key of the configuration, by its place there: it may do everything. */
const toConfigured = (index: number) => toCaller({ id: `API_KEYS.${index + 1}`, name: 'API_KEYS' });

/** `error="invalid_token"` only where a bearer key was sent (RFC 6750, section 3.1). */
function unauthorized({ headers }: FastifyRequest, realm: string): Failure {
  const isMissing = !/^bearer\s+\S/i.test(headers.authorization ?? '');
  const message = isMissing
    ? 'The API key is missing: send Authorization: Bearer <API_KEY>.'
    : 'The API key is not valid.';
  const challenge = `Bearer realm="${realm}"${isMissing ? '' : ', error="invalid_token"'}`;
  return new Failure('unauthorized', message, { headers: { 'www-authenticate': challenge } });
}

/** RFC 6750, section 3.1. */
function forbidden(missing: string[], scopes: readonly string[], realm: string): Failure {
  const message = `The API key may not do this: it lacks the scope ${missing.join(' and ')}.`;
  const challenge = `Bearer realm="${realm}", error="insufficient_scope", scope="${scopes.join(' ')}"`;
  return new Failure('forbidden', message, { headers: { 'www-authenticate': challenge } });
}
