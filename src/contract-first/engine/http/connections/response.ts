/** The subclass of Node's reply that is passed as the documented option `ServerResponse` of `http.createServer`. */
import { type OutgoingHttpHeaders, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { SECURITY_HEADERS } from '../common-headers.ts';
import { appendToHead } from '../node-internals.ts';
import { httpConnectionOf, isInjected, MOST_DROPPED } from './connection.ts';
import type { HttpRequest } from './request.ts';

const SECURITY = Object.entries(SECURITY_HEADERS);
const SECURITY_LINES = SECURITY.map(([name, value]) => `${name}: ${value}\r\n`).join('');

/** Node accepts headers as an object, as a list of alternating names and values, or as a list of pairs. */
type OtherHeaders = OutgoingHttpHeaders | unknown[];

/**
 * True if the headers come from Fastify, which writes names in lower case, and the security headers are still missing.
 * The keys of a list are digits, so a list is not usual.
 */
function isUsual(headers: OtherHeaders, response: ServerResponse): headers is OutgoingHttpHeaders {
  for (const name in headers) if (name.charCodeAt(0) < 97 || name in SECURITY_HEADERS) return false;
  for (const name in SECURITY_HEADERS) if (response.hasHeader(name)) return false;
  return true;
}

/** Sets each header separately, so that `hasHeader` finds it. If a name occurs twice, the header gets both values. */
function setAll(response: ServerResponse, headers: OtherHeaders): void {
  const list = (Array.isArray(headers) ? headers : Object.entries(headers)).flat() as string[];
  const names = list.filter((_text, index) => index % 2 === 0);
  for (const name of names) response.removeHeader(name);
  for (const [index, name] of names.entries()) response.appendHeader(name, list[2 * index + 1] as string);
  for (const [name, value] of SECURITY) if (!response.hasHeader(name)) response.setHeader(name, value);
}

export class HttpResponse extends ServerResponse<HttpRequest> {
  /**
   * True if the client waits for `100 Continue`. A client that does not get it may send the body or not. Then the
   * server could not tell the body from the next request.
   */
  declare isExpected?: boolean;

  /** Sends `100 Continue` when somebody begins to read the body (RFC 9110, section 10.1.1). */
  continueWhenRead(): void {
    this.isExpected = true;
    const onReader = (event: string) => {
      if (event !== 'data' && event !== 'readable') return;
      this.req.off('newListener', onReader);
      if (this.headersSent) return;
      this.isExpected = false;
      this.writeContinue();
    };
    this.req.on('newListener', onReader);
  }

  /**
   * Writes the head. Fastify and Node pass a status, and headers in lower case; plugins may use every form that Node
   * accepts.
   */
  override writeHead(status: number, ...given: unknown[]): this {
    if (typeof given[0] === 'string') this.statusMessage = given.shift() as string;
    const [headers = {}] = given as OtherHeaders[];
    const isLast = this.#isLast();
    if (isUsual(headers, this)) {
      super.writeHead(status, isLast ? { ...headers, connection: 'close' } : headers);
      appendToHead(this, SECURITY_LINES);
      return this;
    }
    setAll(this, headers);
    if (isLast) this.setHeader('connection', 'close');
    return super.writeHead(status);
  }

  /**
   * Sends head and body in one write, also for plugins. Before Node 24, Node's `end(text)` writes them as a list of
   * buffers, which makes a get a tenth slower. On a closed connection, `write` would drop the text and report it as
   * sent, so Node's `end` is used.
   */
  override end(body?: unknown, encoding?: unknown, done?: unknown): this {
    if (typeof body !== 'string' || !this.headersSent || !this.socket?.writable) {
      return super.end(body, encoding as BufferEncoding, done as () => void);
    }
    this.cork();
    // ASCII text has the same bytes in Latin-1, which Node writes without looking at each character.
    this.write(body, Buffer.byteLength(body) === body.length ? 'latin1' : 'utf8');
    this.uncork();
    return super.end(done as () => void);
  }

  override detachSocket(socket: Socket): void {
    super.detachSocket(socket);
    httpConnectionOf(socket).answered(this);
  }

  /**
   * True if the connection closes after this reply. This is decided when the head is written, so that a request from
   * before a stop that is answered during the stop also closes its connection. The connection also closes if the unread
   * part of a body may be too long to read; the length of a chunked body is unknown. Proxies learn this from the header
   * `Connection: close`; otherwise they would send their next request on the connection.
   */
  #isLast(): boolean {
    const { socket, complete, headers, maxBytes = MOST_DROPPED } = this.req;
    const connection = httpConnectionOf(socket);
    if (connection.stop.isAsked || this.isExpected || (connection.isLast && connection.response === this)) return true;
    return !complete && (headers['transfer-encoding'] !== undefined || Number(headers['content-length']) > maxBytes);
  }
}

/**
 * Adds the request id. Also adds the security headers if HttpResponse does not, because it is used only for replies of
 * our own server.
 */
export function addServerHeaders({ id, raw }: FastifyRequest, reply: FastifyReply): void {
  reply.header('x-request-id', id);
  if (!isInjected(raw) && !(raw as HttpRequest).upgrade) return;
  for (const [name, value] of Object.entries(SECURITY_HEADERS)) if (!reply.hasHeader(name)) reply.header(name, value);
}
