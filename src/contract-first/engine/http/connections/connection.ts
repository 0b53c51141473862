/** A connection. Serves one request after the other, each in its own iteration of the event loop. */
import type { RequestListener, ServerResponse } from 'node:http';
import { type Server, Socket } from 'node:net';
import { onSocketEnd, readWhenResumed, stopParsing } from '../node-internals.ts';
import type { Reader, ReadTurns } from './read-turns.ts';
import type { HttpRequest } from './request.ts';

const CONNECTION = Symbol('connection');

type HttpSocket = Socket & { [CONNECTION]: HttpConnection };

/** The socket of `app.inject` is not a connection. */
export const httpConnectionOf = (socket: Socket): HttpConnection => (socket as HttpSocket)[CONNECTION];

/** Whether a request came by `app.inject`: its reply is not ours. */
export const isInjected = ({ socket }: { socket: Socket }): boolean => !(CONNECTION in socket);

/** Whether the server was asked to stop. */
export interface Stop {
  readonly isAsked: boolean;
}

export class HttpConnection implements Reader {
  readonly socket: Socket;
  /** The listener of its server, for requests. */
  readonly handle: RequestListener;
  readonly stop: Stop;
  /** The second of the last request, or of the connection before its first one. */
  lastUse: number;
  /** Whether it was accepted above the limit. */
  isSurplus = false;
  /** The response to the newest request; forgotten a second after it is sent. */
  response: ServerResponse<HttpRequest> | undefined = undefined;
  /** Whether nothing is served after the newest request. */
  isLast = false;
  /** Whether the newest request was over the limits. */
  isOverLimit = false;
  /** Whether bytes came that are not a request. */
  isMalformed = false;
  /** How many requests are still to be answered. */
  pending = 0;
  readonly #waiting: (() => void)[] = [];
  readonly #turns: ReadTurns;
  /** How many bytes had been read when the last request that waited began. */
  #readBefore = 0;
  /** True while the socket must stay paused, even if other code resumes it. */
  #isHeld = false;
  /** The byte that the client must read up to, and the second when that began. */
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
    // Node resumes it after each request, and whenever a body is read.
    socket.resume = () => (this.#isHeld ? socket : Socket.prototype.resume.call(socket));
    onSocketEnd(socket, () => this.#end());
    socket.once('end', () => this.#endStream());
  }

  /** Begins `job` when the replies before it are sent: a client would take one out of order for another request's. */
  inTurn(job: () => void): void {
    if (this.pending++ > 0) this.#waiting.push(job);
    else job();
  }

  /** Node calls it when a reply is sent, before it sends the next one, or ends the connection. */
  answered({ req }: ServerResponse<HttpRequest>): void {
    if (req.complete && this.pending === 1) {
      this.pending = 0;
      this.#readBefore = this.socket.bytesRead;
      return;
    }
    if (!req.complete) this.#endRest(req);
    setImmediate(() => {
      // RFC 9112, section 9.6: nothing is served after a reply that ends the connection.
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

  /** Reads no more until all requests that wait have begun, if there is enough to do. */
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
    // Now for `isPaused`, and again after a resume that Node has scheduled, which would undo it.
    this.socket.pause();
    process.nextTick(() => this.#isHeld && this.socket.pause());
  }

  /** Serves nothing after the newest request. */
  endBehind(): void {
    this.isLast = true;
    stopParsing(this.socket);
  }

  /** Drops the bytes that still arrive. */
  stopReading(): void {
    const { socket } = this;
    this.resume();
    socket.removeAllListeners('data');
    // Node would end the connection after the last reply that it knows of, before the replies that are still to come.
    socket.removeAllListeners('end').once('end', () => this.#endStream());
    boundReading(socket, () => socket.pause());
    socket.resume();
    onSocketEnd(socket, linger);
  }

  /** Whether it has had nothing to do for a second. */
  isIdle(second: number): boolean {
    return this.pending === 0 && this.response?.req.complete !== false && second - this.lastUse >= 2;
  }

  /** Frees memory, once a second. Returns whether the client has left a reply unread for `most` seconds. */
  isUnread(second: number, most: number): boolean {
    const { socket } = this;
    if (this.pending === 0 && this.response?.req.complete) this.response = undefined;
    if (socket.bytesWritten - socket.writableLength < this.#awaited) return second - this.#awaitedSince > most;
    this.#awaited = socket.bytesWritten;
    this.#awaitedSince = second;
    return false;
  }

  /** Node forgets a request that is answered: a handler that still reads its body would wait for ever. */
  #endRest(request: HttpRequest): void {
    const fail = () => request.destroy();
    this.socket.once('close', fail);
    request.once('end', () => {
      this.socket.off('close', fail);
      if (this.isLast) linger(this.socket);
    });
  }

  /** Drops the rest of a body. If it is short and arrives soon, the connection lives on. */
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
   * Called by Node after the last reply. A client that may be sending gets a lingering close, because error replies must be cheap. A body
   * that a handler received and did not finish is still read: its end closes the connection.
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

  /** The client has closed its side. A reply in chunks may never end, so it is given up: most such clients have gone. */
  #endStream(): void {
    if (this.response?.headersSent && !this.response.writableEnded) this.socket.end();
  }
}

/** How many bytes are read, at most, from the first request that is not answered on, before reading waits for the replies. */
const MAX_READ_AHEAD = 16 * 1024;

/** How many bytes are read and dropped at most. */
export const MOST_DROPPED = 64 * 1024;

/** How long a client may take to send the rest of a body, or to close its side after the last reply, in milliseconds. */
const LINGER_TIME = 1000;

/**
 * Closes a connection while its client may still be sending. A reset would destroy a reply that the client has not read yet, so only our side
 * is closed, and received bytes are dropped for a while (RFC 9112, section 9.6), up to a limit.
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
 * Listens for errors of every socket, from its first moment to its last. Node's HTTP server removes its own listener when a socket gets a
 * CONNECT or an upgrade: a reset after that would end the process. The errors are ignored, because `close` and `clientError` report them.
 */
export function hearErrors(server: Server): void {
  server.on('connection', (socket: Socket) => socket.on('error', () => {}));
}
