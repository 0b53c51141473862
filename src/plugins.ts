/** Fastify plugins of your own: they are registered here, before any route, and see each request and each reply. */
import type { FastifyInstance } from 'fastify';

/**
 * Plugins find what handlers get: `app.collections` and `app.services`, and `request.caller` once the key is checked, which is between
 * `onRequest` and `preParsing`.
 */
export async function addPlugins(_app: FastifyInstance): Promise<void> {}
