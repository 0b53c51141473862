/** Our subclass of Node's request, for the documented option `IncomingMessage` of `http.createServer`. */
import { IncomingMessage } from 'node:http';
import type { FastifyReply } from 'fastify';

const UPGRADE = Symbol('upgrade');

/**
 * A request with `Upgrade` (RFC 9110, section 7.8) is served as if the header were missing, and then its connection closes, because Node's
 * parser drops the bytes that it has read after one. A plugin that listens for upgrades, such as @fastify/websocket, gets them instead.
 */
export class HttpRequest extends IncomingMessage {
  declare [UPGRADE]: boolean;
  /** The operation's limit of the body, if the handler has it: the rest that it leaves unread may arrive in full. */
  declare maxBytes?: number;
  /** Fastify's reply to it: it answers a request that turns out to be malformed. */
  declare reply?: FastifyReply;

  /**
   * Node sets whether the client asks for an upgrade, then whether anybody listens for it, and then reads this property. Java's client asks
   * for HTTP/2 in each request, which no plugin supports. From Node 24.9 on, `shouldUpgradeCallback` could decide it.
   */
  get upgrade(): boolean {
    return this[UPGRADE] && (this.method === 'CONNECT' || this.headers.upgrade?.toLowerCase() !== 'h2c');
  }

  set upgrade(isUpgrade: boolean) {
    this[UPGRADE] = isUpgrade;
  }
}

/** Notes that a handler received the body: its unread rest may arrive in full, up to the operation's limit. */
export function allowUnreadBody(request: IncomingMessage, maxBytes: number): void {
  (request as HttpRequest).maxBytes = maxBytes;
}
