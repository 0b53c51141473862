/** The subclass of Node's request that is passed as the documented option `IncomingMessage` of `http.createServer`. */
import { IncomingMessage } from 'node:http';
import type { FastifyReply } from 'fastify';

const UPGRADE = Symbol('upgrade');

/**
 * A request of a client. The header `Upgrade` (RFC 9110, section 7.8) is ignored, but the connection closes after the
 * reply, because Node's parser drops all bytes that follow a request with this header. If a plugin such as
 * @fastify/websocket listens for upgrades, the plugin gets the request instead.
 */
export class HttpRequest extends IncomingMessage {
  declare [UPGRADE]: boolean;
  /**
   * The largest body that the operation accepts, in bytes. The limit is only set if a handler has received the body as
   * a stream: the part that the handler does not read may then still arrive, up to this limit.
   */
  declare maxBytes?: number;
  /** Fastify's reply to this request, which is needed if the rest of the request turns out to be malformed. */
  declare reply?: FastifyReply;

  /**
   * True if Node must treat the request as an upgrade. Node itself sets this property twice: first to true if the
   * client asks for an upgrade, then to false if no plugin listens for upgrades. After that, Node reads it. A request
   * for HTTP/2 (`h2c`) never counts as an upgrade: Java's HTTP client asks for HTTP/2 in each request, and no plugin
   * supports it. In Node 24.9 and newer, the option `shouldUpgradeCallback` could do the same.
   */
  get upgrade(): boolean {
    return this[UPGRADE] && (this.method === 'CONNECT' || this.headers.upgrade?.toLowerCase() !== 'h2c');
  }

  set upgrade(isUpgrade: boolean) {
    this[UPGRADE] = isUpgrade;
  }
}

/**
 * Call this when a handler has received a body as a stream. The part of the body that the handler does not read may
 * then still arrive, up to `maxBytes` in total.
 */
export function allowUnreadBody(request: IncomingMessage, maxBytes: number): void {
  (request as HttpRequest).maxBytes = maxBytes;
}
