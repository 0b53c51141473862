/** The bearer check (RFC 6750), before the body is read. Keys come from the configuration and from the store. */
import bearerAuth from '@fastify/bearer-auth';
import type { FastifyInstance, FastifyRequest, onRequestHookHandler } from 'fastify';
import type { Logger } from 'pino';
import { Failure } from '../http/errors.ts';
import type { Store } from '../store/store.ts';
import { hashKey, isValid } from './api-keys.ts';

/** How often the stored keys are read again, in milliseconds: a revoked key is refused within a second. */
const REFRESH_INTERVAL = 500;

export interface AuthOptions {
  logger: Logger;
  store: Store;
  /** Keys that are valid beside the stored ones. */
  apiKeys: readonly string[];
  /** The name that the `WWW-Authenticate` header gives to what is protected. */
  realm: string;
}

/** Returns the hook that lets a request with a valid key pass, and answers any other with 401. */
export async function addAuth(app: FastifyInstance, options: AuthOptions): Promise<onRequestHookHandler> {
  const auth = await loadKeys(app, options);
  await app.register(bearerAuth, { addHook: false, keys: [], auth, specCompliance: 'rfc6749' });
  const verify = app.verifyBearerAuth as NonNullable<typeof app.verifyBearerAuth>;
  return (request, reply, done) => {
    verify(request, reply, (error) => {
      if (error) done(unauthorized(request, options.realm));
      else done();
    });
  };
}

/** Reads the stored keys now and ever again, and returns the check of a key against them and the configured ones. */
async function loadKeys(
  app: FastifyInstance,
  { logger, store, apiKeys }: AuthOptions,
): Promise<(key: string) => boolean> {
  const configured = new Set(apiKeys.map(hashKey));
  let stored = await readKeys(store);
  const timer = setInterval(async () => {
    try {
      stored = await readKeys(store);
    } catch (error) {
      logger.warn({ err: error }, 'the API keys could not be read again; those known stay valid');
    }
  }, REFRESH_INTERVAL);
  timer.unref();
  app.addHook('onClose', () => clearInterval(timer));

  return (key) => {
    const hash = hashKey(key);
    const expiry = stored.get(hash);
    return configured.has(hash) || (expiry !== undefined && Date.now() < expiry);
  };
}

/** The hash of each valid key -> when it expires, in milliseconds since the epoch, or Infinity. */
async function readKeys(store: Store): Promise<Map<string, number>> {
  const keys = await store.listKeys();
  const valid = keys.filter((key) => isValid(key, Date.now()));
  return new Map(
    valid.map(({ hash, expiresAt }) => [hash, expiresAt ? Date.parse(expiresAt) : Number.POSITIVE_INFINITY]),
  );
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
