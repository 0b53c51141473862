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
 * True if all names begin with a lower-case letter, as in headers from Fastify, and no security header is set yet. Such
 * headers can be written in the fast way. False for a list of headers, because its keys are digits.
 */
function isUsual(headers: OtherHeaders, response: ServerResponse): headers is OutgoingHttpHeaders {
  for (const name in headers) if (name.charCodeAt(0) < 97 || name in SECURITY_HEADERS) return false;
  for (const name in SECURITY_HEADERS) if (response.hasHeader(name)) return false;
  return true;
}

/**
 * Sets each header separately, so that `hasHeader` can find it. If a name occurs twice in `headers`, both values are
 * sent.
 */
function setAll(response: ServerResponse, headers: OtherHeaders): void {
  const list = (Array.isArray(headers) ? headers : Object.entries(headers)).flat() as string[];
  const names = list.filter((_text, index) => index % 2 === 0);
  for (const name of names) response.removeHeader(name);
  for (const [index, name] of names.entries()) response.appendHeader(name, list[2 * index + 1] as string);
  for (const [name, value] of SECURITY) if (!response.hasHeader(name)) response.setHeader(name, value);
}

export class HttpResponse extends ServerResponse<HttpRequest> {
  /**
   * True if the client waits for `100 Continue` and has not got it. Such a client may send the body or omit it, so the
   * server could not distinguish the body from the next request.
   */
  declare isExpected?: boolean;

  /** Sends `100 Continue` as soon as a listener begins to read the body (RFC 9110, section 10.1.1). */
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
   * Sends the head and a text body in one write, even for plugins that use Node's reply. Before Node 24, Node's
   * `end(text)` passes a list of buffers to the socket, which makes a GET request a tenth slower. On a closed
   * connection, Node's `end` is used, because `write` would drop the text and still report success.
   */
  override end(body?: unknown, encoding?: unknown, done?: unknown): this {
    if (typeof body !== 'string' || !this.headersSent || !this.socket?.writable) {
      return super.end(body, encoding as BufferEncoding, done as () => void);
    }
    this.cork();
    // ASCII text consists of the same bytes in Latin-1, which Node writes without looking at each character.
    this.write(body, Buffer.byteLength(body) === body.length ? 'latin1' : 'utf8');
    this.uncork();
    return super.end(done as () => void);
  }

  override detachSocket(socket: Socket): void {
    super.detachSocket(socket);
    httpConnectionOf(socket).answered(this);
  }

  /**
   * True if the connection must close after this reply. The decision is only made when the head is written, so that a
   * reply to an older request during a stop also closes its connection. The connection also closes if the unread part
   * of a body may be too long to read; a chunked body may always be, because its length is unknown. The header
   * `Connection: close` asks proxies not to send their next request on this connection.
   */
  #isLast(): boolean {
    const { socket, complete, headers, maxBytes = MOST_DROPPED } = this.req;
    const connection = httpConnectionOf(socket);
    if (connection.stop.isAsked || this.isExpected || (connection.isLast && connection.response === this)) return true;
    return !complete && (headers['transfer-encoding'] !== undefined || Number(headers['content-length']) > maxBytes);
  }
}

/**
 * Adds the request id to a reply. Security headers are only added if HttpResponse does not add them: for injected
 * requests, for upgrades, and on servers that the team has made.
 */
export function addServerHeaders({ id, raw }: FastifyRequest, reply: FastifyReply): void {
  reply.header('x-request-id', id);
  if (!isInjected(raw) && !(raw as HttpRequest).upgrade) return;
  for (const [name, value] of Object.entries(SECURITY_HEADERS)) if (!reply.hasHeader(name)) reply.header(name, value);
}
