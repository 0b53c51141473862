/**
 * Limits how many connections are open, how many requests wait on each, and how long a client may leave a reply unread.
 */
import type { IncomingMessage, RequestListener, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyInstance } from 'fastify';
import { HttpError } from '../../errors/catalogue.ts';
import type { ToAddress } from '../client-address.ts';
import { isFaultilyFramed } from '../malformed.ts';
import { answerHalfClosed, stopParsing } from '../node-internals.ts';
import { HttpConnection, httpConnectionOf, type Stop } from './connection.ts';
import { RawReplies, type RawRepliesOptions } from './raw-replies.ts';
import { ReadTurns } from './read-turns.ts';
import type { HttpRequest } from './request.ts';
import type { HttpResponse } from './response.ts';

export interface ConnectionLimits {
  /**
   * The most connections that are served at the same time. Up to the same number of further connections is accepted,
   * but they only get replies to health checks; all other requests get 503.
   */
  maxConnections: number;
  /** The most requests of one connection that may wait for their replies. */
  maxPipelined: number;
  /** How long a client may take to read a reply, in milliseconds. */
  replyTimeout: number;
}

export interface ConnectionsOptions extends RawRepliesOptions {
  limits: ConnectionLimits;
  stop: Stop;
  toAddress: ToAddress;
  /**
   * The paths of health checks. Health checks are answered even if the limits are exceeded, because load balancers use
   * them to decide whether to send requests here.
   */
  healthPaths: ReadonlySet<string | undefined>;
}

const OVERLOADED = new HttpError('overloaded', 'Too many requests are waiting. Try again later.');
const NO_CONNECT = new HttpError('method_not_allowed', 'This server is no proxy.', { headers: { allow: 'GET, HEAD' } });

export class Connections {
  readonly limits: ConnectionLimits;
  readonly rawReplies: RawReplies;
  readonly #options: ConnectionsOptions;
  readonly open = new Set<HttpConnection>();
  readonly #turns = new ReadTurns(this.open);
  /** The timer that calls a function once a second, beginning with the first connection. */
  #sweep: NodeJS.Timeout | undefined;
  /** The number of seconds since the first connection. */
  second = 0;
  /** The duration, in milliseconds, of the latest iteration of the event loop that received requests. */
  took = 0;
  #isTimed = false;
  /** How many connections and how many requests exceeded the limits in the current second. */
  #overLimit = { connections: 0, requests: 0 };
  /**
   * Functions that resume the requests that arrived during a stop. They are called when the server has stopped
   * listening (`listening.ts`). Undefined if the server is not stopping.
   */
  held: (() => void)[] | undefined;

  constructor(options: ConnectionsOptions) {
    this.limits = options.limits;
    this.rawReplies = new RawReplies(options);
    this.#options = options;
  }

  /**
   * Closes every connection immediately, even if a reply is being sent. Node's own `closeAllConnections` would miss
   * connections on which a client has sent a CONNECT.
   */
  cut(): void {
    for (const { socket } of this.open) socket.destroy();
  }

  /** Adds the listeners for connections and requests to the server. `handle` is Fastify's listener for requests. */
  serve(server: Server, handle: RequestListener): void {
    const take = this.#take as (request: IncomingMessage, response: ServerResponse) => void;
    answerHalfClosed(server);
    server.maxConnections = 2 * this.limits.maxConnections;
    // Node's own reply to an unmet `Expect` would not contain a body.
    server.on('request', take).on('checkExpectation', take);
    server.on('checkContinue', (request, response) => {
      (response as HttpResponse).continueWhenRead();
      take(request, response);
    });
    // Without this listener, Node would close the connection of a CONNECT request (RFC 9110, section 9.3.6) without a
    // reply.
    server.on('connect', (request, socket: Socket) => {
      httpConnectionOf(socket).stopReading();
      this.rawReplies.answerMalformed(
        socket,
        NO_CONNECT,
        { ip: this.#options.toAddress(request) },
        request as HttpRequest,
      );
    });
    server.on('connection', (socket: Socket) => this.#add(socket, handle));
    server.on('drop', () => {
      this.#overLimit.connections++;
      this.#options.counts.dropped.full++;
    });
    server.on('close', () => clearInterval(this.#sweep));
  }

  #add(socket: Socket, handle: RequestListener): void {
    const { counts, stop } = this.#options;
    this.#sweep ??= setInterval(() => this.#endSecond(), 1000).unref();
    const connection = new HttpConnection(socket, handle, stop, this.second, this.#turns);
    this.open.add(connection);
    counts.connections++;
    socket.once('close', () => {
      this.open.delete(connection);
      counts.connections--;
    });
    connection.isSurplus = this.#isFull() && !this.#closeIdle();
  }

  #isFull(): boolean {
    return this.open.size > this.limits.maxConnections;
  }

  readonly #take = (request: HttpRequest, response: HttpResponse): void => {
    const connection = httpConnectionOf(request.socket);
    if (connection.isLast) {
      stopParsing(request.socket);
      return;
    }
    connection.response = response;
    connection.lastUse = this.second;
    if (!this.#isTimed) this.#timeIteration();
    const isFull = connection.isSurplus && this.#isFull() && !this.#options.healthPaths.has(request.url);
    const isOver = isFull || connection.pending >= this.limits.maxPipelined;
    if (isOver || request.headers.upgrade !== undefined || isFaultilyFramed(request)) connection.endBehind();
    if (isOver) {
      connection.isOverLimit = true;
      this.#overLimit.requests++;
    }
    const begin = () => {
      // The request needs no reply if it was already answered because its body was malformed, or if its client has
      // disconnected.
      if (response.headersSent || request.socket.destroyed) return;
      if (isOver) this.rawReplies.send(response, OVERLOADED);
      else if (this.held) this.held.push(begin);
      else connection.handle(request, response);
    };
    connection.inTurn(begin);
    if (connection.pending > 1) connection.boundReadAhead();
  };

  #timeIteration(): void {
    this.#isTimed = true;
    const began = performance.now();
    setImmediate(() => {
      this.#isTimed = false;
      this.took = performance.now() - began;
    });
  }

  /**
   * Closes one idle connection to make room; its client can open another one. Returns whether there was an idle
   * connection.
   */
  #closeIdle(): boolean {
    for (const connection of this.open) {
      if (!connection.isIdle(this.second)) continue;
      connection.socket.destroy();
      this.open.delete(connection);
      this.#options.counts.dropped.idle++;
      return true;
    }
    return false;
  }

  #endSecond(): void {
    const { counts, logger } = this.#options;
    this.second++;
    for (const connection of this.open) {
      if (!connection.isUnread(this.second, this.limits.replyTimeout / 1000)) continue;
      connection.socket.destroy();
      counts.dropped.unread++;
    }
    if (this.#overLimit.connections + this.#overLimit.requests === 0) return;
    logger.warn(this.#overLimit, 'refused: too many at once');
    this.#overLimit = { connections: 0, requests: 0 };
  }
}

/**
 * Marks each connection that a plugin takes over by an upgrade. Such a connection never counts as idle, because its
 * bytes are not requests.
 */
export function addUpgrades(app: FastifyInstance): void {
  const note = (_request: unknown, socket: Socket) => {
    httpConnectionOf(socket).lastUse = Number.POSITIVE_INFINITY;
  };
  app.addHook('onReady', async () => {
    if (app.server.listenerCount('upgrade') > 0) app.server.prependListener('upgrade', note);
  });
  app.addHook('preClose', async () => void app.server.off('upgrade', note));
}
