/** The ids of requests, and the line in the log when a request has ended. */
import { randomBytes } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { hostname } from 'node:os';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { DestinationStream, Logger } from 'pino';
import { toClientAddress } from './client-address.ts';
import { isInjected } from './connections.ts';
import type { Counts } from './counts.ts';
import type { ToLogged } from './logged-urls.ts';
import type { RefusedLog } from './refused-log.ts';
import { describe } from './thrown.ts';
import { toTrace } from './trace-context.ts';

declare module 'fastify' {
  interface FastifyRequest {
    /** The operation of the request; undefined until it is routed. */
    operationId: string | undefined;
    /** Whether the reply repeats that of an earlier request with the same `Idempotency-Key`. */
    isReplayed: boolean;
    /** The span of a request that is traced and sampled. */
    span: { traceId: string; spanId: string } | undefined;
  }
}

/**
 * Makes ids that are unique across restarts and processes, and cheap: a random part per process, and a count. The id of a request with
 * a valid `traceparent` ends in its trace id, so every reply and every line of the log has it.
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

/** Observes a new request: logs and counts it when it is answered, or its client has disconnected. */
export type RequestObserver = (request: FastifyRequest, reply: FastifyReply) => void;

export interface RequestObserverParts {
  logger: Logger;
  /** Where the logger writes. */
  lines: DestinationStream;
  toLogged: ToLogged;
  refused: RefusedLog;
  counts: Counts | undefined;
}

/** Undefined if the log level hides these lines, and nobody counts. */
export function buildRequestObserver({
  logger,
  lines,
  toLogged,
  refused,
  counts,
}: RequestObserverParts): RequestObserver | undefined {
  const toLine = logger.isLevelEnabled('info') ? buildToLine(toLogged, refused) : undefined;
  if (!toLine && !counts) return undefined;
  const begin = buildBegin();
  return (request, reply) => {
    const line = toLine?.(request);
    const { raw } = reply;
    const start = performance.now();
    let isOver = false;
    if (counts) counts.inFlight++;
    // The event may come twice, since server-response.ts emits it, too. `once` would allocate two more objects for each request.
    raw.on('close', () => {
      if (isOver) return;
      isOver = true;
      const ms = performance.now() - start;
      const status = isSent(raw) ? raw.statusCode : undefined;
      counts?.end(request, status, ms);
      const fields = line?.(status, Math.round(ms * 1000) / 1000);
      if (fields !== undefined) lines.write(`${begin()}${fields}}\n`);
    });
  };
}

/** Whether the reply was sent in full. An injected reply is not sent, only ended. */
const isSent = ({ writableFinished, writableEnded, req }: ServerResponse): boolean =>
  writableFinished || (writableEnded && isInjected(req));

/** Builds the fields of a request's line in two steps, at its start and at its end; none if the request is only counted. */
function buildToLine(toLogged: ToLogged, refused: RefusedLog) {
  return (request: FastifyRequest) => {
    const { id, method, url, headers } = request;
    const ip = toClientAddress(request);
    return (status: number | undefined, ms: number): string | undefined => {
      if (status !== undefined && refused.counts(request, status)) return undefined;
      const end =
        status === undefined ? `"ms":${ms},"msg":"request aborted"` : `"status":${status},"ms":${ms},"msg":"request"`;
      const { operationId, caller, isReplayed, refusal, span } = request;
      const called = operationId === undefined ? '' : `"operationId":"${operationId}",`;
      const key = caller === undefined ? '' : caller.logged;
      const replayed = isReplayed ? '"replayed":true,' : '';
      const cause = refusal === undefined ? '' : `"cause":"${inJson(toLogged(describe(refusal)))}",`;
      const trace = toTraceFields(headers.traceparent, span);
      return `"reqId":"${id}","method":"${method}","url":"${inJson(toLogged(url))}",${toAddress(ip)}${trace}${called}${key}${replayed}${cause}${end}`;
    };
  };
}

/**
 * The beginning of a line of level info, as pino writes it (a test compares them). pino takes twice as long, because it computes the
 * constant parts for each line.
 */
function buildBegin(): () => string {
  const ofProcess = `,"pid":${process.pid},"hostname":${JSON.stringify(hostname())},`;
  let begin = '';
  let latest = 0;
  return () => {
    const now = Date.now();
    if (now !== latest) begin = `{"level":30,"time":${now}${ofProcess}`;
    latest = now;
    return begin;
  };
}

/** A test for a text without escapes, as most URLs are, is faster than JSON.stringify. */
function inJson(text: string): string {
  return /^[ !#-[\]-~]*$/.test(text) ? text : JSON.stringify(text).slice(1, -1);
}

/** The address is unknown if the client has reset its connection. */
function toAddress(ip: string | undefined): string {
  return ip === undefined ? '' : `"ip":"${inJson(ip)}",`;
}

function toTraceFields(traceparent: string | string[] | undefined, span: FastifyRequest['span']): string {
  const trace = toTrace(traceparent);
  const spanId = span ? `"spanId":"${span.spanId}",` : '';
  // The span belongs to another trace if the client's trace is not trusted.
  if (trace && (!span || span.traceId === trace.traceId))
    return `"traceId":"${trace.traceId}","parentId":"${trace.parentId}",${spanId}`;
  return span ? `"traceId":"${span.traceId}",${spanId}` : '';
}
