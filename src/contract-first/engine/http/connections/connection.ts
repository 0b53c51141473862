/** A client's connection, which serves one request after the other, each in its own iteration of the event loop. */
import type { RequestListener, ServerResponse } from 'node:http';
import { type Server, Socket } from 'node:net';
import { onSocketEnd, readWhenResumed, stopParsing } from '../node-internals.ts';
import type { Reader, ReadTurns } from './read-turns.ts';
import type { HttpRequest } from './request.ts';

const CONNECTION = Symbol('connection');

type HttpSocket = Socket & { [CONNECTION]: HttpConnection };

/**
 * Returns the connection of a socket. Returns undefined for a request of `app.inject`, because its socket does not
 * belong to a connection.
 */
export const httpConnectionOf = (socket: Socket): HttpConnection => (socket as HttpSocket)[CONNECTION];

/** True if a request came by `app.inject`. Then its request and reply are not objects of our classes. */
export const isInjected = ({ socket }: { socket: Socket }): boolean => !(CONNECTION in socket);

/** Shows whether the server was asked to stop. */
export interface Stop {
  readonly isAsked: boolean;
}

export class HttpConnection implements Reader {
  readonly socket: Socket;
  /** The function that answers requests. */
  readonly handle: RequestListener;
  readonly stop: Stop;
  /**
   * The time of the latest request, in seconds since the first connection of the server. Before the first request, this
   * is the time when this connection was accepted.
   */
  lastUse: number;
  /** True if this connection was accepted although the server had already reached its limit of connections. */
  isSurplus = false;
  /** The reply to the newest request. The reference to it is dropped about a second after the reply was sent. */
  response: ServerResponse<HttpRequest> | undefined = undefined;
  /** True if the newest request is the last one that this connection serves. */
  isLast = false;
  /** True if the newest request was rejected because a limit was exceeded. */
  isOverLimit = false;
  /** True if bytes have arrived that are not a request. */
  isMalformed = false;
  /** The number of requests that have not been answered yet. */
  pending = 0;
  readonly #waiting: (() => void)[] = [];
  readonly #turns: ReadTurns;
  /** How many bytes had been read from the socket when the last waiting request began. */
  #readBefore = 0;
  /** True while the socket must stay paused, even if other code tries to resume it. */
  #isHeld = false;
  /**
   * How many bytes the client must have read, as a position in the output. `#awaitedSince` is the second when the wait
   * for this began.
   */
  #awaited = 0;
  #awaitedSince = 0;

  constructor(socket: Socket, handle: RequestListener, stop: Stop, second: number, turns: ReadTurns) {
    this.socket = socket;
    this.handle = handle;
    this.stop = stop;
    this.lastUse = second;
    this.#turns = turns;
    (socket as HttpSocket)[CONNECTION] = this;
    readWhenResumed(socket);
    // Node resumes the socket after each request, and whenever a body is read. While `#isHeld` is true, this is ignored.
    socket.resume = () => (this.#isHeld ? socket : Socket.prototype.resume.call(socket));
    onSocketEnd(socket, () => this.#end());
    socket.once('end', () => this.#endStream());
  }

  /**
   * Calls `job` after all earlier replies are sent. A client would take a reply out of order for the reply to another
   * request.
   */
  inTurn(job: () => void): void {
    if (this.pending++ > 0) this.#waiting.push(job);
    else job();
  }

  /** Call this when a reply was written, before Node sends the next reply or ends the connection. */
  answered({ req }: ServerResponse<HttpRequest>): void {
    if (req.complete && this.pending === 1) {
      this.pending = 0;
      this.#readBefore = this.socket.bytesRead;
      return;
    }
    if (!req.complete) this.#endRest(req);
    setImmediate(() => {
      // After a reply that ends the connection, nothing more is served (RFC 9112, section 9.6).
      if (!this.socket.writable) return;
      if (!req.complete) this.#dropRest(req);
      this.pending--;
      const next = this.#waiting.shift();
      if (this.#waiting.length === 0) {
        this.#readBefore = this.socket.bytesRead;
        if (this.#isHeld) this.#turns.wait(this);
      }
      next?.();
    });
  }

  /**
   * Stops reading from the client if more than MAX_READ_AHEAD bytes of requests are waiting. Reading continues after
   * the last of these requests has begun.
   */
  boundReadAhead(): void {
    if (this.#isHeld || this.#waiting.length === 0 || this.socket.bytesRead - this.#readBefore <= MAX_READ_AHEAD)
      return;
    this.#hold();
    this.#turns.countAhead();
  }

  yieldTurn(): void {
    if (this.socket.isPaused()) return;
    this.#hold();
    this.#turns.wait(this);
  }

  resume(): void {
    if (!this.#isHeld) return;
    this.#isHeld = false;
    this.socket.resume();
  }

  #hold(): void {
    this.#isHeld = true;
    // Pauses the socket now, so that `isPaused` is correct. Pauses it again in the next tick, because Node may already
    // have scheduled a resume.
    this.socket.pause();
    process.nextTick(() => this.#isHeld && this.socket.pause());
  }

  /** Makes the newest request the last one that this connection serves. */
  endBehind(): void {
    this.isLast = true;
    stopParsing(this.socket);
  }

  /** Stops reading requests from this connection. Bytes that still arrive are dropped. */
  stopReading(): void {
    const { socket } = this;
    this.resume();
    socket.removeAllListeners('data');
    // Replaces Node's own listener: it would end the connection after the last reply that Node knows of, although the
    // replies of waiting requests still follow.
    socket.removeAllListeners('end').once('end', () => this.#endStream());
    boundReading(socket, () => socket.pause());
    socket.resume();
    onSocketEnd(socket, linger);
  }

  /** True if the connection has had nothing to do for at least a second. */
  isIdle(second: number): boolean {
    return this.pending === 0 && this.response?.req.complete !== false && second - this.lastUse >= 2;
  }

  /**
   * Called once a second. Drops the reference to the last reply if it was sent. Returns true if the client has not read
   * a reply for more than `most` seconds.
   */
  isUnread(second: number, most: number): boolean {
    const { socket } = this;
    if (this.pending === 0 && this.response?.req.complete) this.response = undefined;
    if (socket.bytesWritten - socket.writableLength < this.#awaited) return second - this.#awaitedSince > most;
    this.#awaited = socket.bytesWritten;
    this.#awaitedSince = second;
    return false;
  }

  /**
   * Makes an unread body fail when its connection closes. Node no longer tracks a request that was answered, so a
   * handler that still reads the body would wait for ever.
   */
  #endRest(request: HttpRequest): void {
    const fail = () => request.destroy();
    this.socket.once('close', fail);
    request.once('end', () => {
      this.socket.off('close', fail);
      if (this.isLast) linger(this.socket);
    });
  }

  /**
   * Drops the rest of a body that the handler has not read. If the rest is short and arrives soon, the connection stays
   * open for further requests.
   */
  #dropRest(request: HttpRequest): void {
    const { socket } = this;
    const { maxBytes } = request;
    const end = () => {
      stop();
      socket.pause();
      linger(socket);
    };
    const stopCounting = boundReading(socket, end, maxBytes);
    // No timer is needed for a body that a handler has received: Node itself ends a request that takes too long to
    // arrive.
    const timer = maxBytes === undefined ? setTimeout(end, LINGER_TIME) : undefined;
    const stop = () => {
      clearTimeout(timer);
      stopCounting();
    };
    request.once('end', stop).once('close', stop);
  }

  /**
   * Node calls this instead of `destroySoon` after the last reply. If the client may still be sending, the connection
   * is closed after a short wait, so that rejecting a request costs little. If a handler has received a body that has
   * not arrived completely, the rest of the body is read first, and its end closes the connection.
   */
  #end(): void {
    this.isLast = true;
    this.resume();
    const req = this.response?.req;
    if (req?.maxBytes !== undefined && !req.complete) return;
    if (req?.complete && (this.isOverLimit || /close/i.test(req.headers.connection ?? '')))
      Socket.prototype.destroySoon.call(this.socket);
    else linger(this.socket);
  }

  /**
   * Ends the connection if the client has closed its sending side during a reply in chunks. Most of these clients have
   * disconnected, and the reply might never end.
   */
  #endStream(): void {
    if (this.response?.headersSent && !this.response.writableEnded) this.socket.end();
  }
}

/**
 * The most bytes of waiting requests on a connection. Above this limit, the server reads no further requests until the
 * waiting ones have begun.
 */
const MAX_READ_AHEAD = 16 * 1024;

/** The most bytes that are received and dropped after the reply, before the server stops reading. */
export const MOST_DROPPED = 64 * 1024;

/**
 * How long a client may take after the reply, in milliseconds, to send the rest of a body or to close its side of the
 * connection.
 */
const LINGER_TIME = 1000;

/**
 * Closes a connection while its client may still be sending. A reset would destroy a reply that the client has not read
 * yet. So only the sending side is closed, and received bytes are dropped for a while (RFC 9112, section 9.6), up to a
 * limit.
 */
export function linger(socket: Socket): void {
  boundReading(socket, () => socket.pause());
  socket.end();
  setTimeout(() => socket.destroy(), LINGER_TIME).unref();
}

/**
 * Calls `onOver` once when more than `most` bytes have arrived on the socket. Returns a function that ends the
 * counting.
 */
function boundReading(socket: Socket, onOver: () => void, most = MOST_DROPPED): () => void {
  let left = most;
  const count = ({ length }: Buffer) => {
    if (left >= 0 && left < length) onOver();
    left -= length;
  };
  socket.on('data', count);
  return () => socket.off('data', count);
}

/**
 * Adds a listener for errors to every socket, for as long as the socket exists. Node's HTTP server removes its own
 * listener when a client sends a CONNECT or an upgrade; without this one, a later reset by the client would end the
 * process. The errors are ignored here, because `close` and `clientError` report them.
 */
export function hearErrors(server: Server): void {
  server.on('connection', (socket: Socket) => socket.on('error', () => {}));
}
