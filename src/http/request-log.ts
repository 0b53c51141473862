/** The ids of requests, and the line in the log when a request is over. */
import { randomBytes } from 'node:crypto';
import type { FastifyReply, FastifyRequest } from 'fastify';
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
