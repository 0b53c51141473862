/** Yours: registers Fastify plugins before any route, so that they see each request and each reply. */
import type { FastifyInstance } from 'fastify';

/**
 * Plugins have `app.contractFirst.collections` and `.services`, and `request.contractFirst.caller` once the key is checked: from `preParsing` on.
 */
export async function addPlugins(_app: FastifyInstance): Promise<void> {}
