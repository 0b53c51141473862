/** Puts the request's id on every reply, and writes one line to the log when a request is over. */
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

/** Undefined where the log's level leaves such lines out. */
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
  // When a client disconnects, Node emits no event for a reply that waits behind another one.
  app.addHook('onSend', ({ raw }, reply, _payload, done) => {
    if (reply.raw.socket === null && raw.socket.destroyed) reply.raw.emit('close');
    done();
  });
}
