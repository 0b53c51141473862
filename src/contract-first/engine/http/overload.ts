/** Refuses requests over the limits at once, before key and body: a refusal must cost a fraction of an answer. */
import type { IncomingMessage, RequestListener, ServerResponse } from 'node:http';
import type { FastifyInstance } from 'fastify';
import type { Logger } from 'pino';
import { HttpError } from '../errors.ts';
import { type ConnectionState, type Connections, endBehind, stateOf } from './connections.ts';
import type { Counts } from './counts.ts';
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

/** Health checks are never refused: load balancers decide by them whether to send requests here. */
const HEALTH = new Set<string | undefined>(['/livez', '/readyz']);

export interface OverloadOptions extends RequestLimits {
  connections: Connections;
  nextRequestId: () => string;
  logger: Logger;
  makeError: MakeError;
  counts: Counts;
  bareHeaders: Readonly<Record<string, string>>;
}

/** To be called after Fastify has added its own listener. */
export function addOverload(app: FastifyInstance, options: OverloadOptions): void {
  const { connections } = options;
  const [serve] = app.server.listeners('request') as [RequestListener];
  const refuse = buildRefuse(options);

  app.server.removeListener('request', serve).on('request', (request: IncomingMessage, response: ServerResponse) => {
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
  });
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
  { connections, maxPipelined, maxRequests }: OverloadOptions,
): boolean {
  if (requests > 1 && (requests > maxPipelined || requests * connections.sockets.size > maxRequests)) return true;
  return isSurplus && connections.isFull() && !HEALTH.has(url);
}

function hold(state: ConnectionState, previous: ServerResponse, goOn: () => void): void {
  state.held++;
  previous.once('finish', () => {
    state.held--;
    goOn();
  });
}
