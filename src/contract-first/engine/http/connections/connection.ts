/** A client's connection. It serves one request after the other, each in its own iteration of the event loop. */
import type { RequestListener, ServerResponse } from 'node:http';
import { type Server, Socket } from 'node:net';
import { onSocketEnd, readWhenResumed, stopParsing } from '../node-internals.ts';
import type { Reader, ReadTurns } from './read-turns.ts';
import type { HttpRequest } from './request.ts';

const CONNECTION = Symbol('connection');

type HttpSocket = Socket & { [CONNECTION]: HttpConnection };

/**
 * Returns the connection of a socket. Returns undefined for a request of `app.inject`, whose socket has no connection.
 */
export const httpConnectionOf = (socket: Socket): HttpConnection => (socket as HttpSocket)[CONNECTION];

/** True if a request came by `app.inject`. Then its request and reply are not objects of our classes. */
export const isInjected = ({ socket }: { socket: Socket }): boolean => !(CONNECTION in socket);

/** Tells whether the server was asked to stop. */
export interface Stop {
  readonly isAsked: boolean;
}

export class HttpConnection implements Reader {
  readonly socket: Socket;
  /** The function that answers requests. */
  readonly handle: RequestListener;
  readonly stop: Stop;
  /** The second of the latest request, or, before the first request, the second when the connection was accepted. */
  lastUse: number;
  /** True if the connection was accepted although the limit was reached. */
  isSurplus = false;
  /** The reply to the newest request. It is dropped a second after it was sent. */
  response: ServerResponse<HttpRequest> | undefined = undefined;
  /** True if no request is served after the newest one. */
  isLast = false;
  /** True if the newest request was over the limits. */
  isOverLimit = false;
  /** True if bytes have arrived that are not a request. */
  isMalformed = false;
  /** The number of requests that are not answered yet. */
  pending = 0;
  readonly #waiting: (() => void)[] = [];
  readonly #turns: ReadTurns;
  /** The number of bytes that had been read when the last waiting request began. */
  #readBefore = 0;
  /** True while the socket must stay paused, even if other code resumes it. */
  #isHeld = false;
  /** The position in the output up to which the client must read, and the second when this wait began. */
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
    // Node would resume the socket after each request, and whenever a body is read.
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

  /** Called when a reply is sent, before Node sends the next reply or ends the connection. */
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
   * Stops reading if more than MAX_READ_AHEAD bytes of waiting requests have been read. Reading continues when all of
   * these requests have begun.
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
    // Pauses the socket now, for `isPaused`, and once more after a resume that Node may already have scheduled.
    this.socket.pause();
    process.nextTick(() => this.#isHeld && this.socket.pause());
  }

  /** Makes the newest request the last one that is served. */
  endBehind(): void {
    this.isLast = true;
    stopParsing(this.socket);
  }

  /** Stops reading requests. Bytes that still arrive are dropped. */
  stopReading(): void {
    const { socket } = this;
    this.resume();
    socket.removeAllListeners('data');
    // Node's own listener would end the connection after the last reply that Node knows of, although more replies
    // follow.
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
   * Called once a second. Frees the reply that was sent last. Returns whether the client has left a reply unread for
   * `most` seconds.
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
   * Ends an unread body when its connection closes. Node forgets a request that is answered, so a handler that still
   * reads the body would wait for ever.
   */
  #endRest(request: HttpRequest): void {
    const fail = () => request.destroy();
    this.socket.once('close', fail);
    request.once('end', () => {
      this.socket.off('close', fail);
      if (this.isLast) linger(this.socket);
    });
  }

  /** Drops the unread part of a body. If it is short and arrives soon, the connection stays open. */
  #dropRest(request: HttpRequest): void {
    const { socket } = this;
    const { maxBytes } = request;
    const end = () => {
      stop();
      socket.pause();
      linger(socket);
    };
    const stopCounting = boundReading(socket, end, maxBytes);
    // Node itself ends a request that takes too long to arrive.
    const timer = maxBytes === undefined ? setTimeout(end, LINGER_TIME) : undefined;
    const stop = () => {
      clearTimeout(timer);
      stopCounting();
    };
    request.once('end', stop).once('close', stop);
  }

  /**
   * Called by Node after the last reply. If the client may still be sending, the connection closes after a short wait,
   * because error replies must be cheap. If a handler has received a body but not read all of it, the body is first
   * read to its end, which then closes the connection.
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
   * Ends a reply in chunks if the client has closed its sending side. Most such clients have disconnected, and the
   * reply might never end.
   */
  #endStream(): void {
    if (this.response?.headersSent && !this.response.writableEnded) this.socket.end();
  }
}

/** The most bytes that are read from the first unanswered request on, before reading waits for replies. */
const MAX_READ_AHEAD = 16 * 1024;

/** The most bytes of unread data that are received and dropped. */
export const MOST_DROPPED = 64 * 1024;

/**
 * How long a client may take, in milliseconds, to send the rest of a body, or to close its side after the last reply.
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

/** Calls `onOver` when more than `most` bytes have arrived. Returns a function that stops counting. */
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
 * Adds a listener for errors to every socket, for its whole life. Node's HTTP server removes its own listener when a
 * socket gets a CONNECT or an upgrade, so a reset after that would end the process. The errors are ignored, because
 * `close` and `clientError` report them.
 */
export function hearErrors(server: Server): void {
  server.on('connection', (socket: Socket) => socket.on('error', () => {}));
}
