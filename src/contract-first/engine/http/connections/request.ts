/** Our subclass of Node's request, for the documented option `IncomingMessage` of `http.createServer`. */
import { IncomingMessage } from 'node:http';
import type { FastifyReply } from 'fastify';

const UPGRADE = Symbol('upgrade');

/**
 * A request with `Upgrade` (RFC 9110, section 7.8) is served as if it were not there, and then its connection closes, because Node's
 * parser drops the bytes that it has read behind one. Where a plugin listens for upgrades, as @fastify/websocket does, they are its own.
 */
export class HttpRequest extends IncomingMessage {
  declare [UPGRADE]: boolean;
  /** The operation's limit of the body, if the handler has it: the rest that it leaves unread may arrive in full. */
  declare maxBytes?: number;
  /** Fastify's reply to it: it answers a request that turns out to be malformed. */
  declare reply?: FastifyReply;

  /**
   * Node sets whether the client asks for an upgrade, then whether anybody listens for it, and acts upon what it gets. Java's client asks
   * for HTTP/2 in each request: no plugin is asked whether it knows that. From Node 24.9 on, `shouldUpgradeCallback` could say so.
   */
  get upgrade(): boolean {
    return this[UPGRADE] && (this.method === 'CONNECT' || this.headers.upgrade?.toLowerCase() !== 'h2c');
  }

  set upgrade(isUpgrade: boolean) {
    this[UPGRADE] = isUpgrade;
  }
}

/** Notes that a handler has the body: the rest that it leaves unread may arrive in full, up to the operation's limit. */
export function allowUnreadBody(request: IncomingMessage, maxBytes: number): void {
  (request as HttpRequest).maxBytes = maxBytes;
}
