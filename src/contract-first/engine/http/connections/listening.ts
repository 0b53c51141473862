/** Listens at an address, or on a socket that the process received, and stops gracefully. */
import { lookup } from 'node:dns/promises';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import type { FastifyInstance, FastifyListenOptions } from 'fastify';
import { type HttpConnection, hearErrors, type Stop } from './connection.ts';
import type { Connections } from './connections.ts';

export interface ListenAddress {
  /** A name or an address. */
  host: string;
  port: number;
  /** The descriptor of a socket that listens already, which replaces host and port. */
  socket?: number | undefined;
}

/** How many connections may wait to be accepted, if the system allows it. A client over this limit tries again after a second. */
const BACKLOG = 4096;

/** Listens, and returns the origin: `http://127.0.0.1:3000`. If the host name has several addresses, the first one is used. */
export async function listen(app: FastifyInstance, { host, port, socket }: ListenAddress): Promise<string> {
  if (socket !== undefined) return listenOn(app, socket);
  await app.ready();
  // IPv4 first: even a machine without IPv6 may define a name for ::1. For a name, Fastify would listen at each address, by servers
  // without our listeners.
  const { address } = await lookup(host, { verbatim: false });
  return withoutLine(app).listen({ host: address, port, backlog: BACKLOG });
}

/**
 * Checks that a server could listen at an address. A client that connects during the check is reset. @throws Error if a server could not
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
 * Listens on a socket. Fastify passes unknown options to Node, which uses `fd` if it is there. The host only keeps Fastify from looking up
 * a name.
 */
async function listenOn(app: FastifyInstance, socket: number): Promise<string> {
  await app.ready();
  const { server } = app;
  server.prependOnceListener('listening', () => {
    // Node does not know the path of a Unix socket that somebody else has made, and Fastify does not start if the address is missing.
    if (server.address() === null) server.address = () => 'the Unix socket that was passed';
  });
  return withoutLine(app).listen({ fd: socket, host: '127.0.0.1' } as FastifyListenOptions);
}

/** Hides Fastify's log line, because the caller logs its own. */
const withoutLine = (app: FastifyInstance): FastifyInstance =>
  Object.create(app, { log: { value: app.log.child({}, { level: 'warn' }) } });

/**
 * The time that a stop waits for requests on their way, in milliseconds. The stop waits again if requests arrived, if a connection younger
 * than two seconds has sent nothing yet, or if the wait ended LATE milliseconds late, since a pause of the machine also delays its clients.
 * The maximum is MOST_WINDOWS waits.
 */
const DRAIN_WINDOW = 200;
const LATE = 50;
const MOST_WINDOWS = 10;

/** Stops the server without losing a request. */
export function addDraining(app: FastifyInstance, connections: Connections, stop: Stop): void {
  // When the server closes, the kernel resets connections that wait in its backlog. A client that gets an answer connects again at once. So
  // the server answers nobody until the requests on their way have arrived and it no longer listens.
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

/** Whether a connection has sent nothing. Browsers open connections in advance; Node counts these as used, and would wait for them. */
const hasSentNothing = ({ socket }: HttpConnection): boolean => socket.bytesRead === 0;
