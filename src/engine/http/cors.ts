/** Browsers of other origins may call, where they are configured. */
import cors from '@fastify/cors';
import type { FastifyInstance, onRequestHookHandler, onRouteHookHandler, preParsingHookHandler } from 'fastify';
import { HttpError } from '../errors.ts';

export async function addCors(app: FastifyInstance, origins: readonly string[] = []): Promise<void> {
  if (origins.length === 0) return;
  app.addHook('onRoute', answerPreflights);
  app.addHook('onRequest', boundAsked);
  await app.register(cors, toCorsOptions(new Set(origins)));
}

/** The headers of a reply that a script of another origin may read (Fetch Standard, section 3.3.3). */
const EXPOSED_HEADERS = [
  ...['Link', 'Location', 'Retry-After', 'X-Request-Id', 'RateLimit', 'RateLimit-Policy'],
  ...['Deprecation', 'Sunset', 'Idempotency-Replayed', 'WWW-Authenticate', 'Allow', 'ETag'],
];

/** For replies that are sent before any hook. The origin is not known then, and everybody may read what they say. */
export const toBareHeaders = (origins: readonly string[] = []): Record<string, string> =>
  origins.length === 0
    ? {}
    : { 'access-control-allow-origin': '*', 'access-control-expose-headers': EXPOSED_HEADERS.join(', ') };

/**
 * A browser asks first what it may send (a preflight), without a key: it is answered before keys are checked. `Vary: Origin`
 * is on every reply, so that a cache keeps no reply for another origin. No cookies: keys are sent in a header.
 */
const toCorsOptions = (origins: ReadonlySet<string>): cors.FastifyCorsOptions => ({
  origin: (origin, done) => done(null, origin !== undefined && origins.has(origin) && origin),
  exposedHeaders: EXPOSED_HEADERS,
  maxAge: 600,
  // It would refuse an OPTIONS that is no preflight by a text of its own; ours is 405.
  strictPreflight: false,
  preflightContinue: true,
});

/** How many characters of names of headers a preflight may ask for. */
const MOST_ASKED = 1024;

/** The plugin repeats them in its reply: nginx gives up on one with a large head, and takes the server that has sent it for broken. */
const boundAsked: onRequestHookHandler = ({ headers }, _reply, done) => {
  const { length } = headers['access-control-request-headers'] ?? '';
  if (length > MOST_ASKED)
    done(new HttpError('headers_too_large', `No preflight asks for ${MOST_ASKED} characters of headers.`));
  else done();
};

/** The plugin's route for all paths: behind the checks of every request, and before a body is read. */
const answerPreflights: onRouteHookHandler = (route) => {
  if (route.url === '*' && route.method === 'OPTIONS') route.preParsing = answerPreflight;
};

/** The methods are those of the path; what has none, or is no preflight of these origins, is 404 or 405 as without the plugin. */
const answerPreflight: preParsingHookHandler = (request, reply, _body, _done) => {
  const methods = request.server.methodsAt(request.url);
  const isAllowed = reply.hasHeader('access-control-allow-origin') && request.headers['access-control-request-method'];
  if (methods && isAllowed) reply.code(204).header('access-control-allow-methods', methods).send();
  else reply.callNotFound();
};
