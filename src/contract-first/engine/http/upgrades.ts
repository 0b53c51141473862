/**
 * Requests with `Upgrade` (RFC 9110, section 7.8): they are served as if it were not there, and then their connection closes, because
 * Node's parser drops the bytes that it has read behind one. Where a plugin listens for upgrades, as @fastify/websocket does, they are its own.
 */
import { IncomingMessage } from 'node:http';
import type { Socket } from 'node:net';
import type { FastifyInstance } from 'fastify';
import { stateOf } from './connections.ts';

const UPGRADE = Symbol('upgrade');

/**
 * Our subclass of Node's request, for the documented option `IncomingMessage` of `http.createServer`. Java's client asks for HTTP/2 in
 * each request: no plugin is asked whether it knows that. From Node 24.9 on, `shouldUpgradeCallback` could say so.
 */
export class Request extends IncomingMessage {
  declare [UPGRADE]: boolean;

  /** Node sets whether the client asks for an upgrade, then whether anybody listens for it, and acts upon what it gets. */
  get upgrade(): boolean {
    return this[UPGRADE] && (this.method === 'CONNECT' || this.headers.upgrade?.toLowerCase() !== 'h2c');
  }

  set upgrade(isUpgrade: boolean) {
    this[UPGRADE] = isUpgrade;
  }
}

/** A connection that has become a plugin's is never idle: of what it sends, nothing is a request. */
export function addUpgrades(app: FastifyInstance): void {
  const note = (_request: IncomingMessage, socket: Socket) => {
    stateOf(socket).lastUse = Number.POSITIVE_INFINITY;
  };
  app.addHook('onReady', async () => {
    if (app.server.listenerCount('upgrade') > 0) app.server.prependListener('upgrade', note);
  });
  app.addHook('preClose', async () => void app.server.off('upgrade', note));
}
