/** Our subclass of Node's reply, for the documented option `ServerResponse` of `http.createServer`. */
import { type IncomingMessage, type OutgoingHttpHeaders, ServerResponse } from 'node:http';
import type { Stop } from './draining.ts';
import { appendToHead, keepAlive } from './node-internals.ts';
import { SECURITY_HEADERS } from './security-headers.ts';
import { boundBody, mayBeLong } from './unwanted-bodies.ts';

const SECURITY = Object.entries(SECURITY_HEADERS);
const SECURITY_LINES = SECURITY.map(([name, value]) => `${name}: ${value}\r\n`).join('');

/** The forms that Node takes beside an object: a list of names and values in turn, or of pairs. */
type OtherHeaders = OutgoingHttpHeaders | unknown[];

/** Whether Fastify has made the headers, with names in lower case, and none of them is ours. The keys of a list are digits. */
function isUsual(headers: OtherHeaders): headers is OutgoingHttpHeaders {
  for (const name in headers) if (name.charCodeAt(0) < 97 || name in SECURITY_HEADERS) return false;
  return true;
}

/** Sets the headers one by one, so that `hasHeader` finds each. A name that is there twice has both values. */
function setAll(response: ServerResponse, headers: OtherHeaders): void {
  const list = (Array.isArray(headers) ? headers : Object.entries(headers)).flat() as string[];
  const names = list.filter((_text, index) => index % 2 === 0);
  for (const name of names) response.removeHeader(name);
  for (const [index, name] of names.entries()) response.appendHeader(name, list[2 * index + 1] as string);
  for (const [name, value] of SECURITY) if (!response.hasHeader(name)) response.setHeader(name, value);
}

export function buildServerResponse(stop: Stop): typeof ServerResponse {
  class Response extends ServerResponse<IncomingMessage> {
    /** Fastify and Node call it with a status and headers in lower case. Plugins may use every form that Node has. */
    override writeHead(status: number, ...given: unknown[]): this {
      if (typeof given[0] === 'string') this.statusMessage = given.shift() as string;
      const [headers = {}] = given as OtherHeaders[];
      // Decided here, not when the request comes: a request from before the stop that is answered after it must close its connection, too.
      if (stop.isAsked || mayBeLong(this.req)) keepAlive(this, false);
      // When a client disconnects, Node emits no `close` for a reply that waits behind another one.
      if (this.socket === null && this.req.socket.destroyed) this.emit('close');
      if (isUsual(headers) && !SECURITY.some(([name]) => this.hasHeader(name))) {
        super.writeHead(status, headers);
        appendToHead(this, SECURITY_LINES);
        return this;
      }
      setAll(this, headers);
      return super.writeHead(status);
    }

    /**
     * Sends head and body in one write, also for plugins. Before Node 24, `end(text)` writes them as a list of buffers, which makes a get
     * a tenth slower. If the connection is gone, `write` would drop the text and report it as sent, so Node's `end` does it all.
     */
    override end(body?: unknown, encoding?: unknown, done?: unknown): this {
      if (!this.req.complete && !this.writableEnded) boundBody(this.req, this);
      if (typeof body !== 'string' || !this.headersSent || !this.socket?.writable) {
        return super.end(body, encoding as BufferEncoding, done as () => void);
      }
      this.cork();
      // ASCII is the same in Latin-1, which Node writes without looking at each character.
      this.write(body, Buffer.byteLength(body) === body.length ? 'latin1' : 'utf8');
      this.uncork();
      return super.end(done as () => void);
    }
  }
  return Response as typeof ServerResponse;
}
