/**
 * Listens on an address, or on a socket that was passed to the process. Also stops the server without losing a request.
 */
import { lookup } from 'node:dns/promises';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import type { FastifyInstance, FastifyListenOptions } from 'fastify';
import { type HttpConnection, hearErrors, type Stop } from './connection.ts';
import type { Connections } from './connections.ts';

export interface ListenAddress {
  /** A host name or an address. */
  host: string;
  port: number;
  /** The file descriptor of a socket that already listens. If it is set, `host` and `port` are ignored. */
  socket?: number | undefined;
}

/**
 * The most connections that may wait to be accepted; the system may lower this limit. If the limit is reached, a new
 * client's system tries to connect again after a second.
 */
const BACKLOG = 4096;

/**
 * Listens on an address. Returns the origin of the server, such as `http://127.0.0.1:3000`. If the host name has
 * several addresses, the server listens on the first one.
 */
export async function listen(app: FastifyInstance, { host, port, socket }: ListenAddress): Promise<string> {
  if (socket !== undefined) return listenOn(app, socket);
  await app.ready();
  // IPv4 addresses are preferred, because even a machine without IPv6 may define a host name for ::1. The name is
  // looked up here rather than by Fastify: for each further address of a name, Fastify would start another server,
  // without our listeners.
  const { address } = await lookup(host, { verbatim: false });
  return withoutLine(app).listen({ host: address, port, backlog: BACKLOG });
}

/**
 * Checks that a server could listen on this address. Clients that connect during the check are disconnected.
 * @throws Error if a server could not listen
 */
export async function checkAddress({ host, port, socket }: ListenAddress): Promise<void> {
  if (socket !== undefined) return;
  const server = createServer();
  hearErrors(server);
  const { address } = await lookup(host, { verbatim: false });
  await once(server.listen({ host: address, port, exclusive: true }), 'listening');
  await once(server.close(), 'close');
}

/**
 * Listens on the socket with this file descriptor. Fastify passes unknown options to Node, and Node uses `fd` if it is
 * set. The option `host` only keeps Fastify from looking up a name.
 */
async function listenOn(app: FastifyInstance, socket: number): Promise<string> {
  await app.ready();
  const { server } = app;
  server.prependOnceListener('listening', () => {
    // If another process has made a Unix socket, Node does not know its path and returns null. Fastify does not start
    // without an address, so this function returns a text instead.
    if (server.address() === null) server.address = () => 'the Unix socket that was passed';
  });
  return withoutLine(app).listen({ fd: socket, host: '127.0.0.1' } as FastifyListenOptions);
}

/** Hides Fastify's log line about the address, because the caller logs its own. */
const withoutLine = (app: FastifyInstance): FastifyInstance =>
  Object.create(app, { log: { value: app.log.child({}, { level: 'warn' }) } });

/**
 * How long a stop waits for requests that clients are already sending, in milliseconds. The stop waits again, up to
 * MOST_WINDOWS times in total, if requests arrived during the wait, if a connection younger than two seconds has not
 * sent anything yet, or if the wait ended LATE milliseconds too late, because a pause of the machine also delays its
 * clients.
 */
const DRAIN_WINDOW = 200;
const LATE = 50;
const MOST_WINDOWS = 10;

/** Makes the app stop without losing a request. */
export function addDraining(app: FastifyInstance, connections: Connections, stop: Stop): void {
  // When the server closes, the kernel resets the connections in its backlog. A client that gets a reply during the
  // stop may immediately connect again, and would be reset. So requests that arrive during the stop are answered only
  // when no more requests are on their way, and the server no longer listens.
  app.addHook('preClose', async () => {
    if (!stop.isAsked) return;
    const held: (() => void)[] = [];
    connections.held = held;
    const silent = [...connections.open].filter(hasSentNothing);
    const mayStillSend = (connection: HttpConnection) =>
      hasSentNothing(connection) && !connection.socket.destroyed && connections.second - connection.lastUse < 2;
    for (let windows = 0, isOver = false; !isOver && windows < MOST_WINDOWS; windows++) {
      const { length: came } = held;
      const end = performance.now() + DRAIN_WINDOW;
      await wait(DRAIN_WINDOW);
      isOver = held.length === came && performance.now() < end + LATE && !silent.some(mayStillSend);
    }
    for (const { socket } of silent.filter(hasSentNothing)) socket.destroy();
    setImmediate(() => {
      connections.held = undefined;
      for (const begin of held) begin();
    });
  });
}

/**
 * True if nothing has arrived on a connection. Browsers open connections in advance; Node counts such connections as
 * active, and closing the server would wait for them.
 */
const hasSentNothing = ({ socket }: HttpConnection): boolean => socket.bytesRead === 0;
