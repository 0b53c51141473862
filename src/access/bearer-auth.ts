/** Bearer keys (RFC 6750). */
import bearerAuth from '@fastify/bearer-auth';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { LRUCache } from 'lru-cache';
import { Failure } from '../http/errors.ts';
import { hashKey } from './api-keys.ts';
import type { Identify, NoteCaller } from './auth.ts';

/** How many texts with valid keys are remembered: hashing a key takes a sixth of the time of a request. */
export const MAX_VERIFIED = 1000;

export async function buildIdentifyBearer(app: FastifyInstance, note: NoteCaller): Promise<Identify> {
  /** The hash of the key in each header that was found valid. Only the hash says whether it still is. */
  const verified = new LRUCache<string, string>({ max: MAX_VERIFIED });
  const auth = (key: string, request: FastifyRequest) => {
    const hash = hashKey(key);
    const failure = note(request, hash);
    if (failure) throw failure;
    if (!request.caller) return false;
    verified.set(request.headers.authorization as string, hash);
    return true;
  };
  await app.register(bearerAuth, { addHook: false, keys: [], auth, specCompliance: 'rfc6749' });
  const verify = app.verifyBearerAuth as NonNullable<typeof app.verifyBearerAuth>;

  return (request, reply, done) => {
    const hash = verified.get(request.headers.authorization ?? '');
    // Another way in may have noted its caller.
    request.caller = undefined;
    const failure = hash === undefined ? undefined : note(request, hash);
    if (failure || request.caller) done(failure);
    else {
      verify(request, reply, (error) => {
        // The plugin has set 401, but there may be another way in.
        reply.code(200);
        done(error instanceof Failure ? error : undefined);
      });
    }
  };
}
