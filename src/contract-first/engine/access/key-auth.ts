/** Finds callers by their API keys (RFC 6750 for bearer keys; OpenAPI 3.1, section 4.8.27, for the others). */
import bearerAuth from '@fastify/bearer-auth';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { LRUCache } from 'lru-cache';
import { hashKey } from '../../store/api-keys.ts';
import type { KeyPlace } from '../contract/contract.ts';
import { HttpError } from '../errors.ts';
import { stateOf } from '../request-state.ts';
import type { Caller, IdentifyCaller } from './caller.ts';
import { keyAt } from './key-locations.ts';

/** How many valid keys are cached: hashing a key takes a sixth of the time of a request. */
const MAX_VERIFIED = 1000;

/** The longest text that is cached: a key may be sent with any number of spaces before it. */
const LONGEST = 256;

/** Finds the caller whose key has this hash; an error while keys cannot be read. */
export type FindCaller = (hash: string) => Caller | HttpError | undefined;

/** Caches the hash of each valid key by the text that was sent. Whether the key is still valid is looked up by the hash. */
export function buildVerified() {
  const known = new LRUCache<string, string>({ max: MAX_VERIFIED });
  return {
    get: (text: string) => known.get(text),
    set: (text: string, hash: string) => {
      if (text.length <= LONGEST) known.set(text, hash);
    },
  };
}

/** For keys at any location but `bearer`. */
export function buildIdentifyByKey(place: KeyPlace, find: FindCaller): IdentifyCaller {
  const verified = buildVerified();
  return (request, _reply, done) => {
    const key = keyAt(place, request);
    const hash = verified.get(key) ?? hashKey(key);
    const found = find(hash);
    if (found && !(found instanceof HttpError)) verified.set(key, hash);
    done(found);
  };
}

/** Bearer keys are checked by @fastify/bearer-auth, unless they are known. */
export async function buildIdentifyBearer(app: FastifyInstance, find: FindCaller): Promise<IdentifyCaller> {
  const verified = buildVerified();
  const auth = (key: string, request: FastifyRequest) => {
    const hash = hashKey(key);
    const found = find(hash);
    if (found instanceof HttpError) throw found;
    stateOf(request).caller = found;
    if (found) verified.set(request.headers.authorization as string, hash);
    return found !== undefined;
  };
  // Null, which its types do not know, keeps it from writing an error to the log for each 401: a request has one line, and that is ours.
  const quiet = { verifyErrorLogLevel: null as never };
  await app.register(bearerAuth, { addHook: false, keys: [], auth, specCompliance: 'rfc6749', ...quiet });
  const verify = app.verifyBearerAuth as NonNullable<typeof app.verifyBearerAuth>;

  return (request, reply, done) => {
    const hash = verified.get(request.headers.authorization ?? '');
    const known = hash === undefined ? undefined : find(hash);
    if (known) done(known);
    else {
      verify(request, reply, (error) => {
        // The plugin has set 401, but a later alternative may admit the request.
        reply.code(200);
        if (!error) done(stateOf(request).caller);
        else done(error instanceof HttpError ? error : undefined);
      });
    }
  };
}
