/** The limits of connections: how many are served, and how long a client may leave a reply unread. */
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import type { Logger } from 'pino';
import { linger } from './closing.ts';
import type { Counts } from './counts.ts';
import { answerHalfClosed, endBy, isLast, keepAlive, readWhenResumed, stopParsing } from './node-internals.ts';
import { mayArrive } from './unwanted-bodies.ts';

export interface ConnectionLimits {
  /** How many connections are served at a time. As many again are accepted, but get only health checks and 503. */
  maxConnections: number;
  /** How long a client may take to read a reply, in milliseconds. */
  replyTimeout: number;
}

const STATE = Symbol('state');

/** A class, so that the states of all connections have one hidden class of V8: a request reads ten of its fields. */
export class ConnectionState {
  /** The second of the last request, or of the connection before its first one. */
  lastUse: number;
  /** Whether it was accepted above the limit. */
  isSurplus = false;
  /** The byte up to which the client has yet to read, and since which second. */
  awaited = 0;
  awaitedSince = 0;
  /** The last iteration of the event loop in which requests came, and how many. */
  turn = 0;
  requests = 0;
  /** The response to the last request; forgotten a second after it is sent. */
  response: ServerResponse | undefined = undefined;
  /** How many requests wait until the replies before them have been sent. */
  held = 0;
  /** Whether the connection ends behind the last request: none that comes behind it is served. */
  isLast = false;
  /** Whether the last request was over the limits. */
  isRefused = false;

  constructor(second: number) {
    this.lastUse = second;
  }
}

type HttpSocket = Socket & { [STATE]: ConnectionState };

/** The state of a connection. The socket of `app.inject` has none. */
export const stateOf = (socket: Socket): ConnectionState => (socket as HttpSocket)[STATE];

/** Whether a request came by `app.inject`: it has no connection, and its reply is not of server-response.ts. */
export const isInjected = ({ socket }: IncomingMessage): boolean => stateOf(socket) === undefined;

/**
 * Calls back when all earlier replies are sent: a client would take a reply out of order for another request's. After a reply that ends
 * the connection, it does not call back (RFC 9112, section 9.6).
 */
export function whenAnswered(socket: Socket, done: () => void): void {
  const { response } = stateOf(socket);
  const goOn = () => {
    if (!response || !isLast(response)) done();
  };
  if (response && !response.writableFinished) response.once('finish', goOn);
  else goOn();
}

/** Serves nothing behind this request. */
export function endBehind({ socket }: IncomingMessage, response: ServerResponse): void {
  stateOf(socket).isLast = true;
  stopParsing(socket);
  keepAlive(response, false);
}

/** Whether a request is still to be answered, or the rest of its body to come. */
const isBusy = ({ response }: ConnectionState) =>
  response !== undefined && !(response.writableFinished && response.req.complete);

export class Connections {
  readonly #limits: ConnectionLimits;
  readonly #logger: Logger;
  readonly #counts: Counts;
  /** Once a second, from the first connection on. */
  #sweep: NodeJS.Timeout | undefined;
  readonly #sockets = new Set<HttpSocket>();
  #second = 0;
  #turn = 0;
  #isTurn = false;
  #took = 0;
  /** How many connections were refused in this second. */
  #refused = 0;

  constructor(limits: ConnectionLimits, logger: Logger, counts: Counts) {
    this.#limits = limits;
    this.#logger = logger;
    this.#counts = counts;
  }

  /** Closes every connection, whatever is still being sent. Not `closeAllConnections`: Node forgets a connection after a CONNECT. */
  cut(): void {
    for (const socket of this.#sockets) socket.destroy();
  }

  /** All open connections. */
  get sockets(): ReadonlySet<Socket> {
    return this.#sockets;
  }

  /** Seconds since the first connection. */
  get second(): number {
    return this.#second;
  }

  /** True while there are more connections than are served. */
  isFull(): boolean {
    return this.#sockets.size > this.#limits.maxConnections;
  }

  /** Counts a request in this iteration of the event loop. */
  count(state: ConnectionState): void {
    if (!this.#isTurn) {
      this.#isTurn = true;
      this.#turn++;
      const began = performance.now();
      setImmediate(() => {
        this.#isTurn = false;
        this.#took = performance.now() - began;
      });
    }
    if (state.turn !== this.#turn) {
      state.turn = this.#turn;
      state.requests = 0;
    }
    state.requests++;
    state.lastUse = this.#second;
  }

  /** How long the last iteration with requests took, in milliseconds. */
  get took(): number {
    return this.#took;
  }

  add(socket: HttpSocket): void {
    const { maxConnections } = this.#limits;
    this.#sweep ??= setInterval(() => this.#endSecond(), 1000).unref();
    const state = new ConnectionState(this.#second);
    socket[STATE] = state;
    this.#sockets.add(socket);
    this.#counts.connections++;
    endBy(socket, endConnection);
    readWhenResumed(socket);
    socket.once('end', () => endStream(socket));
    socket.once('close', () => {
      this.#sockets.delete(socket);
      this.#counts.connections--;
    });
    state.isSurplus = this.isFull() && !this.#closeIdle();
    if (this.#sockets.size <= 2 * maxConnections) return;
    socket.destroy();
    this.#refused++;
    this.#counts.dropped.full++;
  }

  #endSecond(): void {
    this.#second++;
    this.#closeUnread();
    if (this.#refused > 0) this.#logger.warn({ dropped: this.#refused }, 'connections were not accepted');
    this.#refused = 0;
  }

  /** To be called when the server is closed. */
  stop(): void {
    clearInterval(this.#sweep);
  }

  /** Closes one idle connection, without a request for a second: its client can open another. */
  #closeIdle(): boolean {
    for (const socket of this.#sockets) {
      if (isBusy(socket[STATE]) || this.#second - socket[STATE].lastUse < 2) continue;
      socket.destroy();
      this.#sockets.delete(socket);
      this.#counts.dropped.idle++;
      return true;
    }
    return false;
  }

  /** Frees memory: forgets responses that were sent, and closes connections whose clients do not read. */
  #closeUnread(): void {
    for (const socket of this.#sockets) {
      const state = socket[STATE];
      if (!isBusy(state)) state.response = undefined;
      if (socket.bytesWritten - socket.writableLength >= state.awaited) {
        state.awaited = socket.bytesWritten;
        state.awaitedSince = this.#second;
      } else if (this.#second - state.awaitedSince > this.#limits.replyTimeout / 1000) {
        socket.destroy();
        this.#counts.dropped.unread++;
      }
    }
  }
}

export function addConnections(server: Server, connections: Connections): void {
  answerHalfClosed(server);
  server.on('connection', (socket: HttpSocket) => connections.add(socket));
  server.on('close', () => connections.stop());
}

/**
 * Called by Node after the last reply. A client that may be sending gets a lingering close; refusals must be cheap. A body that a handler
 * has, and has left, is still read: its end closes the connection.
 */
function endConnection(socket: Socket): void {
  const state = stateOf(socket);
  const { response, isRefused } = state;
  state.isLast = true;
  const req = response?.req;
  if (req && mayArrive(req)) return;
  if (req?.complete && (isRefused || /close/i.test(req.headers.connection ?? '')))
    Socket.prototype.destroySoon.call(socket);
  else linger(socket);
}

/** The client has closed its side. A reply in chunks may never end, so it is given up: most such clients have gone. */
function endStream(socket: Socket): void {
  const { response } = stateOf(socket);
  if (response?.headersSent && !response.writableEnded) socket.end();
}
