/** Listens on an address, or on a socket that the process has received, and stops without losing a request. */
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
  /** The file descriptor of a socket that already listens. It is used instead of host and port. */
  socket?: number | undefined;
}

/**
 * The number of connections that may wait to be accepted, if the system allows so many. A client over this limit tries
 * again after a second.
 */
const BACKLOG = 4096;

/**
 * Listens, and returns the origin, such as `http://127.0.0.1:3000`. If the host name has several addresses, the first
 * one is used.
 */
export async function listen(app: FastifyInstance, { host, port, socket }: ListenAddress): Promise<string> {
  if (socket !== undefined) return listenOn(app, socket);
  await app.ready();
  // IPv4 comes first, because even a machine without IPv6 may define a name for ::1. The name is looked up here,
  // because Fastify would listen on each address of a name, with servers that lack our listeners.
  const { address } = await lookup(host, { verbatim: false });
  return withoutLine(app).listen({ host: address, port, backlog: BACKLOG });
}

/**
 * Checks that a server could listen on an address. A client that connects during the check is reset.
 * @throws Error if a server could not
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
 * Listens on a socket. Fastify passes unknown options to Node, which uses `fd` if it is set. The host only keeps
 * Fastify from looking up a name.
 */
async function listenOn(app: FastifyInstance, socket: number): Promise<string> {
  await app.ready();
  const { server } = app;
  server.prependOnceListener('listening', () => {
    // Node does not know the path of a Unix socket that another process has made, and Fastify does not start without an
    // address.
    if (server.address() === null) server.address = () => 'the Unix socket that was passed';
  });
  return withoutLine(app).listen({ fd: socket, host: '127.0.0.1' } as FastifyListenOptions);
}

/** Hides Fastify's log line about the address, because the caller logs its own. */
const withoutLine = (app: FastifyInstance): FastifyInstance =>
  Object.create(app, { log: { value: app.log.child({}, { level: 'warn' }) } });

/**
 * How long a stop waits for requests that are already being sent, in milliseconds. The stop waits again, at most
 * MOST_WINDOWS times, if requests arrived; if a connection younger than two seconds has not sent anything yet; or if
 * the wait ended LATE milliseconds late, because a pause of the machine also delays its clients.
 */
const DRAIN_WINDOW = 200;
const LATE = 50;
const MOST_WINDOWS = 10;

/** Makes the app stop without losing a request. */
export function addDraining(app: FastifyInstance, connections: Connections, stop: Stop): void {
  // When the server closes, the kernel resets connections that wait in its backlog. A client that gets a reply may
  // connect again immediately, and be reset. So the server sends no reply until the requests that are being sent have
  // arrived and it no longer listens.
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
 * True if a connection has not sent anything. Browsers open connections in advance; Node counts them as active, and
 * would wait for them.
 */
const hasSentNothing = ({ socket }: HttpConnection): boolean => socket.bytesRead === 0;
