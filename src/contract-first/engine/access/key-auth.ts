/** Finds callers by their API keys (RFC 6750 for bearer keys; OpenAPI 3.1, section 4.8.27, for the others). */
import bearerAuth from '@fastify/bearer-auth';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { LRUCache } from 'lru-cache';
import { hashKey } from '../../store/api-keys.ts';
import type { KeyLocation } from '../contract/contract.ts';
import { HttpError } from '../errors/catalogue.ts';
import { stateOf } from '../request-state.ts';
import type { Caller, IdentifyCaller } from './caller.ts';
import { keyAt } from './key-locations.ts';

/** The number of valid keys with a cached hash. Hashing a key takes a sixth of the time of a request. */
const MAX_KNOWN = 1000;

/**
 * The longest header value that is cached. The length is limited because a client may send any number of spaces before
 * a key.
 */
const MAX_CACHED_LENGTH = 256;

/** Finds the caller by the hash of a key. Returns an error while the keys cannot be read. */
export type FindCaller = (hash: string) => Caller | HttpError | undefined;

/**
 * Caches the hash of each valid key, under the text that the client sent as the key. The caller is not cached, but
 * looked up at each request, because a key may be revoked while its hash is cached.
 */
export class KnownKeys {
  readonly #hashes = new LRUCache<string, string>({ max: MAX_KNOWN });
  readonly #find: FindCaller;

  constructor(find: FindCaller) {
    this.#find = find;
  }

  /**
   * Finds the caller of a text that an earlier request has sent as a valid key. Returns undefined if the text is not
   * cached.
   */
  findKnown(text: string): Caller | HttpError | undefined {
    const hash = this.#hashes.get(text);
    return hash === undefined ? undefined : this.#find(hash);
  }

  find(key: string, text = key): Caller | HttpError | undefined {
    const hash = hashKey(key);
    const found = this.#find(hash);
    if (found && !(found instanceof HttpError) && text.length <= MAX_CACHED_LENGTH) this.#hashes.set(text, hash);
    return found;
  }
}

/** Finds the callers of keys at any location except `bearer`. */
export function buildIdentifyByKey(find: FindCaller): (location: KeyLocation) => IdentifyCaller {
  const keys = new KnownKeys(find);
  return (location) => (request, _reply, done) => {
    const key = keyAt(location, request);
    done(keys.findKnown(key) ?? keys.find(key));
  };
}

/** Finds the callers of bearer keys. If a key is not cached, @fastify/bearer-auth checks it. */
export async function buildIdentifyBearer(app: FastifyInstance, find: FindCaller): Promise<IdentifyCaller> {
  const keys = new KnownKeys(find);
  const auth = (key: string, request: FastifyRequest) => {
    const found = keys.find(key, request.headers.authorization);
    if (found instanceof HttpError) throw found;
    stateOf(request).caller = found;
    return found !== undefined;
  };
  // `null` turns off the plugin's log line for each 401, because each request is logged anyway. The cast is needed
  // because the plugin's types do not allow null.
  const quiet = { verifyErrorLogLevel: null as never };
  await app.register(bearerAuth, { addHook: false, keys: [], auth, specCompliance: 'rfc6749', ...quiet });
  const verify = app.verifyBearerAuth as NonNullable<typeof app.verifyBearerAuth>;

  return (request, reply, done) => {
    const known = keys.findKnown(request.headers.authorization ?? '');
    if (known) done(known);
    else {
      verify(request, reply, (error) => {
        // The plugin has set the status 401, but a later alternative may admit the request.
        reply.code(200);
        if (!error) done(stateOf(request).caller);
        else done(error instanceof HttpError ? error : undefined);
      });
    }
  };
}
