/** On every reply the id that finds it in the log; in the log one line per request, when it is done. */
import { randomBytes } from 'node:crypto';
import type { FastifyInstance } from 'fastify';
import type { Logger } from 'pino';

/** Ids that are unique across restarts and processes, and cheap: a random part per process, and a count. */
export function buildRequestIds(): () => string {
  const run = randomBytes(6).toString('base64url');
  let count = 0;
  return () => `${run}-${(++count).toString(36)}`;
}

export function addRequestLog(app: FastifyInstance, logger: Logger): void {
  app.addHook('onRequest', (request, reply, done) => {
    reply.header('x-request-id', request.id);
    done();
  });
  if (!logger.isLevelEnabled('info')) return;
  app.addHook('onResponse', ({ id, method, url, ip }, reply, done) => {
    const ms = Math.round(reply.elapsedTime * 1000) / 1000;
    logger.info({ reqId: id, method, url, ip, status: reply.statusCode, ms }, 'request');
    done();
  });
}
