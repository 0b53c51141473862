/** Refuses requests over the limits at once, before key and body: a refusal must cost a fraction of an answer. */
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { Logger } from 'pino';
import { HttpError } from '../errors.ts';
import { type ConnectionState, type Connections, endBehind, stateOf } from './connections.ts';
import type { Counts } from './counts.ts';
import type { LastCall } from './draining.ts';
import { isFaultilyFramed } from './error-replies.ts';
import type { MakeError } from './made-errors.ts';
import { isLast, stopParsing } from './node-internals.ts';

export interface RequestLimits {
  /** How many requests a client may pipeline on one connection. */
  maxPipelined: number;
  /** How many requests are taken in one iteration of the event loop; each open connection has the same share. */
  maxRequests: number;
}

const OVERLOADED = new HttpError('overloaded', 'Too many requests are waiting. Try again later.');

export interface OverloadOptions extends RequestLimits {
  connections: Connections;
  nextRequestId: () => string;
  logger: Logger;
  makeError: MakeError;
  counts: Counts;
  bareHeaders: Readonly<Record<string, string>>;
  /** The paths of health checks, which are never refused: load balancers decide by them whether to send requests here. */
  healthPaths: ReadonlySet<string | undefined>;
  lastCall: LastCall;
}

/** Builds the listener for requests around Fastify's. */
export function buildListener(handle: RequestListener, options: OverloadOptions): RequestListener {
  const { connections, lastCall } = options;
  const refuse = buildRefuse(options);
  const serve: RequestListener = (request, response) => {
    if (lastCall.waiting) lastCall.waiting.push(() => handle(request, response));
    else handle(request, response);
  };

  return (request, response) => {
    const state = stateOf(request.socket);
    const { response: previous } = state;
    if (state.isLast || (previous && isLast(previous))) {
      stopParsing(request.socket);
      return;
    }
    state.response = response;
    connections.count(state);
    if (isFaultilyFramed(request) || request.headers.upgrade !== undefined) endBehind(request, response);
    // Node pauses a connection when more than its high-water mark waits to be sent, but requests that it has read by then are parsed
    // already. They are answered one by one, as the client reads: otherwise all their replies would wait in memory.
    const isBehind = state.held > 0 || request.socket.isPaused();
    if (isOver(request, state, options)) refuse(request, response);
    else if (previous && isBehind) hold(state, previous, () => serve(request, response));
    else serve(request, response);
  };
}

function buildRefuse({ connections, nextRequestId, logger, makeError, counts, bareHeaders }: OverloadOptions) {
  let refused = 0;
  let loggedSecond = 0;

  return (request: IncomingMessage, response: ServerResponse): void => {
    endBehind(request, response);
    stateOf(request.socket).isRefused = true;
    request.socket.pause();
    const requestId = nextRequestId();
    const { text, type } = makeError(OVERLOADED, requestId);
    const headers = {
      ...bareHeaders,
      'x-request-id': requestId,
      ...OVERLOADED.headers,
      'content-type': type,
      'content-length': Buffer.byteLength(text),
      connection: 'close',
    };
    response.writeHead(OVERLOADED.status, headers).end(text);
    refused++;
    counts.refuse(OVERLOADED.code);
    // At most one line a second.
    if (connections.second === loggedSecond) return;
    loggedSecond = connections.second;
    logger.warn({ refused }, 'requests were refused: too many at once');
    refused = 0;
  };
}

function isOver(
  { url }: IncomingMessage,
  { requests, isSurplus }: ConnectionState,
  { connections, maxPipelined, maxRequests, healthPaths }: OverloadOptions,
): boolean {
  if (requests > 1 && (requests > maxPipelined || requests * connections.sockets.size > maxRequests)) return true;
  return isSurplus && connections.isFull() && !healthPaths.has(url);
}

function hold(state: ConnectionState, previous: ServerResponse, goOn: () => void): void {
  state.held++;
  previous.once('finish', () => {
    state.held--;
    goOn();
  });
}
