/** Fastify plugins of your own: they are registered here, before any route, and see each request and each reply. */
import cors from '@fastify/cors';
import type { FastifyInstance } from 'fastify';
import type { Config } from './operate/config.ts';

export async function addPlugins(app: FastifyInstance, { corsOrigins }: Pick<Config, 'corsOrigins'>): Promise<void> {
  if (corsOrigins.length > 0) await app.register(cors, toCorsOptions(new Set(corsOrigins)));
}

/** What a script of another origin may read of a reply, beside its body (Fetch Standard, section 3.3.3). */
const EXPOSED_HEADERS = [
  ...['Link', 'Location', 'Retry-After', 'X-Request-Id', 'RateLimit', 'RateLimit-Policy'],
  ...['Deprecation', 'Sunset', 'Idempotency-Replayed'],
];

/**
 * A browser asks first what it may send (a preflight), without a key: the plugin answers before keys are checked. `Vary: Origin`
 * is on every reply, so that a cache keeps no reply for another origin. No cookies: keys are sent in a header.
 */
const toCorsOptions = (origins: ReadonlySet<string>): cors.FastifyCorsOptions => ({
  origin: (origin, done) => done(null, origin !== undefined && origins.has(origin) && origin),
  // What an operation does not take is still 405.
  methods: ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE'],
  exposedHeaders: EXPOSED_HEADERS,
  maxAge: 600,
  // It would refuse an OPTIONS that is no preflight by a text of its own; ours is 405.
  strictPreflight: false,
});
