/** The subclass of Node's request that is passed as the documented option `IncomingMessage` of `http.createServer`. */
import { IncomingMessage } from 'node:http';
import type { FastifyReply } from 'fastify';

const UPGRADE = Symbol('upgrade');

/**
 * A request. If it has the header `Upgrade` (RFC 9110, section 7.8), it is served as if the header were missing. Its
 * connection closes after the reply, because Node's parser drops the bytes after such a request. If a plugin listens
 * for upgrades, such as @fastify/websocket, the plugin gets the request instead.
 */
export class HttpRequest extends IncomingMessage {
  declare [UPGRADE]: boolean;
  /**
   * The operation's limit on the size of the body. Set if a handler has received the body: bytes that the handler
   * leaves unread may then arrive, up to this limit.
   */
  declare maxBytes?: number;
  /** Fastify's reply to the request, needed if the request turns out to be malformed. */
  declare reply?: FastifyReply;

  /**
   * True if Node should treat the request as an upgrade. Node first sets this property to whether the client asks for
   * an upgrade, and then to whether a plugin listens for upgrades. After that, Node reads it. A request for HTTP/2
   * (`h2c`) never counts as an upgrade, because Java's HTTP client asks for HTTP/2 in each request, and no plugin
   * supports it. From Node 24.9 on, the option `shouldUpgradeCallback` could decide this.
   */
  get upgrade(): boolean {
    return this[UPGRADE] && (this.method === 'CONNECT' || this.headers.upgrade?.toLowerCase() !== 'h2c');
  }

  set upgrade(isUpgrade: boolean) {
    this[UPGRADE] = isUpgrade;
  }
}

/** Notes that a handler has received the body. Bytes that the handler leaves unread may arrive, up to `maxBytes`. */
export function allowUnreadBody(request: IncomingMessage, maxBytes: number): void {
  (request as HttpRequest).maxBytes = maxBytes;
}
