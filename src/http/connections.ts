/** The bounds on connections: how many are served, and how long a client may leave a reply unread. */
import type { Socket } from 'node:net';
import type { FastifyInstance } from 'fastify';
import type { Logger } from 'pino';

export interface ConnectionLimits {
  /** How many connections are served at a time. As many again are told that it is overloaded, and may ask for its health. */
  maxConnections: number;
  /** How long a client may take to read what was sent, in milliseconds. */
  replyTimeout: number;
}

const STATE = Symbol('state');

export interface ConnectionState {
  /** The second in which the last request came, or else the connection. */
  lastUse: number;
  /** It was one too many when it came. */
  isSurplus: boolean;
  /** How many bytes it has to read, and since which second. */
  awaited: number;
  awaitedSince: number;
  /** The last turn of the event loop in which requests came, and how many did. */
  turn: number;
  requests: number;
}

/** Node's response that has the turn on a connection: none while nothing is asked. */
type HttpSocket = Socket & { [STATE]: ConnectionState; _httpMessage?: unknown };

export interface Connections {
  /** Seconds since the start. */
  readonly second: number;
  /** True while there are more connections than are served. */
  isFull(): boolean;
  stateOf(socket: Socket): ConnectionState;
}

export function addConnections(
  app: FastifyInstance,
  { maxConnections, replyTimeout }: ConnectionLimits,
  logger: Logger,
) {
  const sockets = new Set<HttpSocket>();
  const connections: Connections & { second: number } = {
    second: 0,
    isFull: () => sockets.size > maxConnections,
    stateOf: (socket) => (socket as HttpSocket)[STATE],
  };
  let dropped = 0;

  app.server.on('connection', (socket: HttpSocket) => {
    const state = { lastUse: connections.second, isSurplus: false, awaited: 0, awaitedSince: 0, turn: 0, requests: 0 };
    socket[STATE] = state;
    sockets.add(socket);
    socket.once('close', () => sockets.delete(socket));
    state.isSurplus = sockets.size > maxConnections && !closeIdle();
    if (sockets.size <= 2 * maxConnections) return;
    socket.destroy();
    dropped++;
  });

  /** Makes room: a connection on which nothing is asked for, and was not in the last second, can be opened again. */
  function closeIdle(): boolean {
    for (const socket of sockets) {
      if (socket._httpMessage || connections.second - socket[STATE].lastUse < 2) continue;
      socket.destroy();
      sockets.delete(socket);
      return true;
    }
    return false;
  }

  /** What a client does not read stays in memory. */
  function closeUnread(): void {
    const { second } = connections;
    for (const socket of sockets) {
      const state = socket[STATE];
      if (socket.bytesWritten - socket.writableLength >= state.awaited) {
        state.awaited = socket.bytesWritten;
        state.awaitedSince = second;
      } else if (second - state.awaitedSince > replyTimeout / 1000) socket.destroy();
    }
  }

  const sweep = setInterval(() => {
    connections.second++;
    closeUnread();
    if (dropped > 0) logger.warn({ dropped }, 'connections were not accepted');
    dropped = 0;
  }, 1000).unref();
  app.server.on('close', () => clearInterval(sweep));
  return connections;
}
