/** The bearer check (RFC 6750), before the body is read. Keys come from the configuration and from the store. */
import bearerAuth from '@fastify/bearer-auth';
import type { FastifyInstance, FastifyRequest, onRequestHookHandler } from 'fastify';
import { LRUCache } from 'lru-cache';
import type { Logger } from 'pino';
import { Failure } from '../http/errors.ts';
import type { Store } from '../store/store.ts';
import { hashKey } from './api-keys.ts';
import { readStoredKeys } from './stored-keys.ts';

/** How many valid `Authorization` headers are remembered: hashing a key takes a sixth of the time of a request. */
const MAX_VERIFIED = 1000;

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

/** Returns the hook that lets a request with a valid key pass, and answers any other with 401; 503 while the keys cannot be read. */
export async function addAuth(
  app: FastifyInstance,
  { logger, store, apiKeys, realm, maxKeyAge }: AuthOptions,
): Promise<onRequestHookHandler> {
  const configured = new Set(apiKeys.map(hashKey));
  const stored = await readStoredKeys(store, logger, maxKeyAge);
  app.addHook('onClose', async () => stored.stop());
  const isValid = (hash: string) => configured.has(hash) || stored.isValid(hash);
  /** The hash of the key in each header that was found valid. Only the hash says whether it still is. */
  const verified = new LRUCache<string, string>({ max: MAX_VERIFIED });
  const auth = (key: string, { headers }: FastifyRequest) => {
    const hash = hashKey(key);
    if (!isValid(hash)) return false;
    verified.set(headers.authorization as string, hash);
    return true;
  };
  await app.register(bearerAuth, { addHook: false, keys: [], auth, specCompliance: 'rfc6749' });
  const verify = app.verifyBearerAuth as NonNullable<typeof app.verifyBearerAuth>;
  return (request, reply, done) => {
    const known = verified.get(request.headers.authorization ?? '');
    if (known !== undefined && isValid(known)) {
      done();
      return;
    }
    verify(request, reply, (error) => {
      if (error) done(error instanceof Failure ? error : unauthorized(request, realm));
      else done();
    });
  };
}

/** `error="invalid_token"` only where a bearer key was sent (RFC 6750, section 3.1). */
function unauthorized({ headers }: FastifyRequest, realm: string): Failure {
  const isMissing = !/^bearer\s+\S/i.test(headers.authorization ?? '');
  const message = isMissing
    ? 'The API key is missing: send Authorization: Bearer <API_KEY>.'
    : 'The API key is not valid.';
  const challenge = `Bearer realm="${realm}"${isMissing ? '' : ', error="invalid_token"'}`;
  return new Failure('unauthorized', message, { headers: { 'www-authenticate': challenge } });
}
