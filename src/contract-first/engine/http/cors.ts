/** CORS: lets web pages of the configured origins call the service from a browser. */
import cors from '@fastify/cors';
import type { FastifyInstance, onRequestHookHandler, onRouteHookHandler, preParsingHookHandler } from 'fastify';
import { HttpError } from '../errors/catalogue.ts';

export async function addCors(app: FastifyInstance, origins: readonly string[] = []): Promise<void> {
  if (origins.length === 0) return;
  app.addHook('onRoute', answerPreflights);
  app.addHook('onRequest', boundAsked);
  await app.register(cors, toCorsOptions(new Set(origins)));
}

/** The headers that a script from another origin may read (Fetch Standard, section 3.3.3). */
const EXPOSED_HEADERS = [
  ...['Link', 'Location', 'Retry-After', 'X-Request-Id', 'RateLimit', 'RateLimit-Policy'],
  ...['Deprecation', 'Sunset', 'Idempotency-Replayed', 'WWW-Authenticate', 'Allow', 'ETag'],
];

/**
 * The CORS headers of replies that are sent before any hook runs. Every origin is allowed, because the origin of the
 * request was not checked yet, and these replies contain nothing secret.
 */
export const toBareHeaders = (origins: readonly string[] = []): Record<string, string> =>
  origins.length === 0
    ? {}
    : { 'access-control-allow-origin': '*', 'access-control-expose-headers': EXPOSED_HEADERS.join(', ') };

/**
 * Makes the options of @fastify/cors. A browser sends a preflight without a key, so preflights are answered before keys
 * are checked. Every reply has `Vary: Origin`, so that caches keep the replies for different origins apart. Cookies are
 * not allowed, because keys are sent in headers.
 */
const toCorsOptions = (origins: ReadonlySet<string>): cors.FastifyCorsOptions => ({
  origin: (origin, done) => done(null, origin !== undefined && origins.has(origin) && origin),
  exposedHeaders: EXPOSED_HEADERS,
  maxAge: 600,
  // With `true`, the plugin would send its own text in reply to an OPTIONS request that is not a preflight. The engine
  // answers such a request with 405.
  strictPreflight: false,
  preflightContinue: true,
});

/** The longest `Access-Control-Request-Headers` that is accepted, in characters. */
const MOST_ASKED = 1024;

/**
 * Rejects a preflight with a header `Access-Control-Request-Headers` that is too long. The plugin repeats this header
 * in its reply, and nginx would reject a reply with such large headers.
 */
const boundAsked: onRequestHookHandler = ({ headers }, _reply, done) => {
  const { length } = headers['access-control-request-headers'] ?? '';
  if (length > MOST_ASKED)
    done(new HttpError('headers_too_large', `No preflight asks for ${MOST_ASKED} characters of headers.`));
  else done();
};

/**
 * Answers preflights in the plugin's OPTIONS route for all paths: after the checks that apply to every request, and
 * before the body is read.
 */
const answerPreflights: onRouteHookHandler = (route) => {
  if (route.url === '*' && route.method === 'OPTIONS') route.preParsing = answerPreflight;
};

/**
 * Answers a preflight with the methods of the requested path. Other OPTIONS requests get 404 for an unknown path and
 * 405 otherwise. So do preflights of other origins.
 */
const answerPreflight: preParsingHookHandler = (request, reply, _body, _done) => {
  const methods = request.server.contractFirst.methodsAt(request.url);
  const isAllowed = reply.hasHeader('access-control-allow-origin') && request.headers['access-control-request-method'];
  if (methods && isAllowed) reply.code(204).header('access-control-allow-methods', methods).send();
  else reply.callNotFound();
};
