/** The ids of requests, and the line in the log when a request is over. */
import { randomBytes } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { type Logger, symbols } from 'pino';
import { toClientAddress } from './client-address.ts';
import type { ToLogged } from './logged-urls.ts';
import type { RefusedLog } from './refused-log.ts';
import { toTrace } from './trace-context.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** The operation of the contract that it is for; undefined until one is found. */
    operationId: string | undefined;
    /** Whether its reply repeats that of an earlier request with the same `Idempotency-Key`. */
    isReplayed: boolean;
  }
}

/**
 * Ids that are unique across restarts and processes, and cheap: a random part per process, and a count. That of a request with
 * a valid `traceparent` ends in the id of its trace, so every reply and every line of the log has it.
 */
export function buildRequestIds(): (request?: Pick<IncomingMessage, 'headers'>) => string {
  const run = randomBytes(6).toString('base64url');
  let count = 0;
  return (request) => {
    const id = `${run}-${(++count).toString(36)}`;
    const trace = toTrace(request?.headers.traceparent);
    return trace ? `${id}.${trace.traceId}` : id;
  };
}

/** RFC 6585, section 4. */
const TOO_MANY_REQUESTS = 429;

/** Writes the line of a request that has just come: when it is answered, or its client has gone. */
export type LogRequest = (request: FastifyRequest, reply: FastifyReply) => void;

/** Undefined where the log's level leaves such lines out. */
export function buildLogRequest(logger: Logger, toLogged: ToLogged, refused: RefusedLog): LogRequest | undefined {
  if (!logger.isLevelEnabled('info')) return undefined;
  const writeLine = buildWriteLine(logger);
  return (request, reply) => {
    const { id, method, url, headers } = request;
    const ip = toClientAddress(request);
    const start = performance.now();
    let isOver = false;
    // It may come twice, as every-request.ts emits it too. `once` would make two objects more for each request.
    reply.raw.on('close', () => {
      if (isOver) return;
      isOver = true;
      const { writableFinished, statusCode } = reply.raw;
      if (statusCode === TOO_MANY_REQUESTS && writableFinished && refused.counts(request)) return;
      const ms = Math.round((performance.now() - start) * 1000) / 1000;
      const end = writableFinished
        ? `"status":${statusCode},"ms":${ms},"msg":"request"`
        : `"ms":${ms},"msg":"request aborted"`;
      const { operationId, caller, isReplayed } = request;
      const called = operationId === undefined ? '' : `"operationId":"${operationId}",`;
      const key = caller === undefined ? '' : caller.logged;
      const replayed = isReplayed ? '"replayed":true,' : '';
      const trace = toTraceFields(headers.traceparent);
      writeLine(
        `"reqId":"${id}","method":"${method}","url":"${inJson(toLogged(url))}",${toAddress(ip)}${trace}${called}${key}${replayed}${end}`,
      );
    });
  };
}

/** Lines of level info, as pino writes them. pino takes twice as long: it asks each time what never changes. */
function buildWriteLine(logger: Logger): (fields: string) => void {
  const { lsCacheSym, timeSym, chindingsSym, streamSym } = symbols;
  // biome-ignore lint/suspicious/noExplicitAny: pino offers these symbols for such ends, but not as types.
  const { [lsCacheSym]: levels, [timeSym]: time, [chindingsSym]: names, [streamSym]: stream } = logger as any;
  const level = levels[logger.levels.values.info as number];
  /** What all lines of the latest millisecond begin with. */
  let start = '';
  let latest = 0;
  return (fields) => {
    const now = Date.now();
    if (now !== latest) start = [level, time(), names, ','].join('');
    latest = now;
    stream.write(`${start}${fields}}\n`);
  };
}

/** A text that needs no escapes, as most URLs are, is found faster than JSON.stringify writes it. */
function inJson(text: string): string {
  return /^[ !#-[\]-~]*$/.test(text) ? text : JSON.stringify(text).slice(1, -1);
}

/** The system no longer tells it where the client has reset its connection. */
function toAddress(ip: string | undefined): string {
  return ip === undefined ? '' : `"ip":"${inJson(ip)}",`;
}

function toTraceFields(traceparent: string | string[] | undefined): string {
  const trace = toTrace(traceparent);
  return trace === undefined ? '' : `"traceId":"${trace.traceId}","parentId":"${trace.parentId}",`;
}
