/** Makes the ids of requests, and writes a log line when a request has ended. */
import { randomBytes } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import { hostname } from 'node:os';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { DestinationStream, Logger } from 'pino';
import type { StoreCounts } from '../../../store/store.ts';
import type { ErrorCode } from '../../errors/catalogue.ts';
import { type RequestState, stateOf } from '../../request-state.ts';
import type { ToAddress } from '../client-address.ts';
import { isInjected } from '../connections/connection.ts';
import { describeThrown } from '../thrown.ts';
import type { ToLogged } from './logged-urls.ts';
import type { InitRequest } from './request-logger.ts';

/**
 * Builds the function that makes request ids. An id consists of a random text for this process and a count, so ids are
 * unique across processes and restarts. If a request contains a valid `traceparent`, its id ends in the trace id, so
 * that every reply and every log line contains the trace id.
 */
export function buildRequestIds(): (request?: Pick<IncomingMessage, 'headers'>) => string {
  const run = randomBytes(6).toString('base64url');
  let count = 0;
  return (request) => {
    const id = `${run}-${(++count).toString(36)}`;
    const traceparent = request?.headers.traceparent;
    const trace = traceparent === undefined ? undefined : toTrace(traceparent);
    return trace ? `${id}.${trace.traceId}` : id;
  };
}

/**
 * Observes a new request. When the reply was sent, or the client has disconnected, the request is logged and counted.
 */
type RequestObserver = (request: FastifyRequest, reply: FastifyReply) => void;

interface RequestObserverParts {
  logger: Logger;
  /** The stream that the logger writes to. */
  lines: DestinationStream;
  toLogged: ToLogged;
  toAddress: ToAddress;
  counts: Counts | undefined;
}

/**
 * Builds the observer of requests. Returns undefined if the log level hides the lines of requests, and no counts are
 * needed.
 */
export function buildRequestObserver(parts: RequestObserverParts): RequestObserver | undefined {
  const { logger, lines, toLogged, toAddress, counts } = parts;
  const isLogged = logger.isLevelEnabled('info');
  if (!isLogged && !counts) return undefined;
  const toLine = buildToLine(toLogged);
  return (request, reply) => {
    const { raw } = reply;
    const start = performance.now();
    const { id, method, url, headers } = request;
    const ip = isLogged ? toAddress(raw.req) : undefined;
    const arrived = { id, method, url, traceparent: headers.traceparent, ip };
    if (counts) counts.inFlight++;
    // `on` is used instead of `once`, because `close` is only emitted once, and `once` would allocate two more objects
    // for each request.
    raw.on('close', () => {
      const ms = performance.now() - start;
      // True if the whole reply was sent. The reply to an injected request is never sent, so it is enough that it has
      // ended.
      const isSent = raw.writableFinished || (raw.writableEnded && isInjected(raw.req));
      const status = isSent ? raw.statusCode : undefined;
      counts?.end(request, status, ms);
      if (isLogged) lines.write(toLine(stateOf(request), arrived, status, Math.round(ms * 1000) / 1000));
    });
  };
}

/** Properties of a request at the time when it arrived, copied because hooks may change them later. */
interface Arrived {
  id: string;
  method: string;
  url: string;
  traceparent: string | string[] | undefined;
  ip: string | undefined;
}

/**
 * Builds the function that writes the log line of a finished request. The line looks like a line of pino with the level
 * info (a test compares the two). pino itself would take twice as long, because it writes the constant fields anew for
 * each line.
 */
function buildToLine(toLogged: ToLogged) {
  const ofProcess = `"pid":${process.pid},"hostname":${JSON.stringify(hostname())}`;
  return (
    { operationId, caller, isReplayed, pluginError, span }: RequestState,
    { id, method, url, traceparent, ip }: Arrived,
    status: number | undefined,
    ms: number,
  ): string => {
    // The address is unknown if the client has reset its connection.
    const address = ip === undefined ? '' : `"ip":"${inJson(ip)}",`;
    const trace = traceparent === undefined && span === undefined ? '' : toTraceFields(traceparent, span);
    const called = operationId === undefined ? '' : `"operationId":"${operationId}",`;
    const key = caller === undefined ? '' : caller.logged;
    const replayed = isReplayed ? '"replayed":true,' : '';
    const cause = pluginError === undefined ? '' : `"cause":"${inJson(toLogged(describeThrown(pluginError)))}",`;
    const end =
      status === undefined ? `"ms":${ms},"msg":"request aborted"` : `"status":${status},"ms":${ms},"msg":"request"`;
    return `{"level":30,"time":${Date.now()},${ofProcess},"reqId":"${id}","method":"${method}","url":"${inJson(toLogged(url))}",${address}${trace}${called}${key}${replayed}${cause}${end}}\n`;
  };
}

/**
 * Writes a text as JSON, without its quotes. Most URLs need no escapes, and testing for that is faster than
 * JSON.stringify.
 */
function inJson(text: string): string {
  return /^[ !#-[\]-~]*$/.test(text) ? text : JSON.stringify(text).slice(1, -1);
}

function toTraceFields(traceparent: string | string[] | undefined, span: RequestState['span']): string {
  const trace = toTrace(traceparent);
  const spanId = span ? `"spanId":"${span.spanId}",` : '';
  // If the service does not trust the client's trace id, the span belongs to a different trace, and the client's is not
  // logged.
  if (trace && (!span || span.traceId === trace.traceId))
    return `"traceId":"${trace.traceId}","parentId":"${trace.parentId}",${spanId}`;
  return span ? `"traceId":"${span.traceId}",${spanId}` : '';
}

/** Adds spans for requests, and for calls of collections. Returns the function that begins the span of each request. */
export type AddTraces = (
  app: FastifyInstance,
  collections: object,
  counts: StoreCounts,
  toLogged: ToLogged,
  toAddress: ToAddress,
) => InitRequest;

/** The fields of `traceparent` (W3C Trace Context): the id of the trace, and of the span that has sent the request. */
interface Trace {
  traceId: string;
  parentId: string;
}

/**
 * Matches `traceparent` (W3C Trace Context, section 3.2). The header is in lower case, and neither id may be all zeros.
 * Versions above 00 may have more fields at the end.
 */
const TRACEPARENT = /^(?!ff|00.{54})[0-9a-f]{2}-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-[0-9a-f]{2}(?:$|-)/;

/**
 * Parses `traceparent`. Returns undefined if it is missing or invalid, because an invalid header must be ignored
 * (section 3.2.2.5).
 */
export function toTrace(traceparent: string | string[] | undefined): Trace | undefined {
  if (traceparent === undefined) return undefined;
  const [, traceId, parentId] = TRACEPARENT.exec(String(traceparent)) ?? [];
  return traceId === undefined ? undefined : { traceId, parentId: parentId as string };
}

/**
 * Counts of requests and connections, for metrics. The counts are plain numbers, because incrementing them takes hardly
 * any time, and they are only read on demand.
 */
export class Counts {
  inFlight = 0;
  connections = 0;
  /** When the stored API keys were last read, in seconds since 1970. */
  keysReadAt = 0;
  /** The number of requests that got an error before their operation was known, by the code of the error. */
  readonly unread = new Map<ErrorCode, number>();
  /**
   * The number of connections that the server closed, by reason. `full`: the limit was exceeded. `idle`: the connection
   * was idle, and room was needed for others. `unread`: the client did not read its replies.
   */
  readonly dropped = { full: 0, idle: 0, unread: 0 };

  countUnread(code: ErrorCode): void {
    this.unread.set(code, (this.unread.get(code) ?? 0) + 1);
  }

  /** Counts a finished request. `status` is undefined if the client disconnected before the whole reply was sent. */
  end(_request: FastifyRequest, _status: number | undefined, _ms: number): void {
    this.inFlight--;
  }
}
