/** Our subclass of Node's request, for the documented option `IncomingMessage` of `http.createServer`. */
import { IncomingMessage } from 'node:http';
import type { FastifyReply } from 'fastify';

const UPGRADE = Symbol('upgrade');

/**
 * A request. If it has the header `Upgrade` (RFC 9110, section 7.8), it is served as if the header were missing. Then its connection
 * closes, because Node's parser drops the bytes after such a request. If a plugin listens for upgrades, such as @fastify/websocket, the
 * plugin gets the request instead.
 */
export class HttpRequest extends IncomingMessage {
  declare [UPGRADE]: boolean;
  /**
   * The operation's size limit of the body, if a handler has received the body. The part that the handler leaves unread may then arrive in
   * full.
   */
  declare maxBytes?: number;
  /** Fastify's reply to the request, for the case that the request turns out to be malformed. */
  declare reply?: FastifyReply;

  /**
   * Whether the request is an upgrade. Node first sets whether the client asks for one, then whether a plugin listens for upgrades, and
   * then reads this property. Java's HTTP client asks for HTTP/2 in each request, which no plugin supports. From Node 24.9 on, the option
   * `shouldUpgradeCallback` could decide this.
   */
  get upgrade(): boolean {
    return this[UPGRADE] && (this.method === 'CONNECT' || this.headers.upgrade?.toLowerCase() !== 'h2c');
  }

  set upgrade(isUpgrade: boolean) {
    this[UPGRADE] = isUpgrade;
  }
}

/** Notes that a handler has received the body. The part that it leaves unread may arrive in full, up to the operation's limit. */
export function allowUnreadBody(request: IncomingMessage, maxBytes: number): void {
  (request as HttpRequest).maxBytes = maxBytes;
}
