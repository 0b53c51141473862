/** On every reply the id that finds it in the log; in the log one line per request, when it is over. */
import { randomBytes } from 'node:crypto';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Logger } from 'pino';

/** Ids that are unique across restarts and processes, and cheap: a random part per process, and a count. */
export function buildRequestIds(): () => string {
  const run = randomBytes(6).toString('base64url');
  let count = 0;
  return () => `${run}-${(++count).toString(36)}`;
}

/** Writes the line of a request that has just come: when it is answered, or its client has gone. */
export type LogRequest = (request: FastifyRequest, reply: FastifyReply) => void;

/** Nothing where the log does not take such lines. */
export function buildLogRequest(logger: Logger): LogRequest | undefined {
  if (!logger.isLevelEnabled('info')) return undefined;
  return ({ id, method, url, ip }, reply) => {
    const start = performance.now();
    reply.raw.once('close', () => {
      const ms = Math.round((performance.now() - start) * 1000) / 1000;
      const { writableFinished } = reply.raw;
      if (writableFinished) logger.info({ reqId: id, method, url, ip, status: reply.statusCode, ms }, 'request');
      else logger.info({ reqId: id, method, url, ip, ms }, 'request aborted');
    });
  };
}

export function addRequestLog(app: FastifyInstance, logRequest: LogRequest | undefined): void {
  app.addHook('onRequest', (request, reply, done) => {
    reply.header('x-request-id', request.id);
    logRequest?.(request, reply);
    done();
  });
  if (!logRequest) return;
  // A reply that waits behind another when its client goes: Node forgets it without a word.
  app.addHook('onSend', ({ raw }, reply, _payload, done) => {
    if (reply.raw.socket === null && raw.socket.destroyed) reply.raw.emit('close');
    done();
  });
}
