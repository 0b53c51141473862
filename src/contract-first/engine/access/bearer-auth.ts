/** Bearer keys (RFC 6750). */
import bearerAuth from '@fastify/bearer-auth';
import type { FastifyInstance, FastifyRequest } from 'fastify';
import { hashKey } from '../../store/api-keys.ts';
import { HttpError } from '../errors.ts';
import { stateOf } from '../request-state.ts';
import type { Identify, NoteCaller } from './caller.ts';
import { buildVerified } from './sent-keys.ts';

export async function buildIdentifyBearer(app: FastifyInstance, note: NoteCaller): Promise<Identify> {
  const verified = buildVerified();
  const auth = (key: string, request: FastifyRequest) => {
    const hash = hashKey(key);
    const failure = note(request, hash);
    if (failure) throw failure;
    if (!stateOf(request).caller) return false;
    verified.set(request.headers.authorization as string, hash);
    return true;
  };
  // Null, which its types do not know, keeps it from writing an error to the log for each 401: a request has one line, and that is ours.
  const quiet = { verifyErrorLogLevel: null as never };
  await app.register(bearerAuth, { addHook: false, keys: [], auth, specCompliance: 'rfc6749', ...quiet });
  const verify = app.verifyBearerAuth as NonNullable<typeof app.verifyBearerAuth>;

  return (request, reply, done) => {
    const state = stateOf(request);
    const hash = verified.get(request.headers.authorization ?? '');
    // An alternative that was tried before may have set its caller.
    state.caller = undefined;
    const failure = hash === undefined ? undefined : note(request, hash);
    if (failure || state.caller) done(failure);
    else {
      verify(request, reply, (error) => {
        // The plugin has set 401, but a later alternative may admit the request.
        reply.code(200);
        done(error instanceof HttpError ? error : undefined);
      });
    }
  };
}
