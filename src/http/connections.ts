/** The bounds on connections: how many are served, and how long a client may leave a reply unread. */
import type { ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import type { FastifyInstance } from 'fastify';
import type { Logger } from 'pino';
import { linger } from './closing.ts';
import type { Counts } from './counts.ts';
import { answerHalfClosed, endBy } from './node-internals.ts';

declare module 'fastify' {
  interface FastifyInstance {
    /** Closes every connection, whatever is on its way. */
    cutConnections(): void;
  }
}

export interface ConnectionLimits {
  /** How many connections are served at a time. As many again are accepted, but get health checks and 503 only. */
  maxConnections: number;
  /** How long a client may take to read what was sent, in milliseconds. */
  replyTimeout: number;
}

const STATE = Symbol('state');

export interface ConnectionState {
  /** The second of the last request; before the first request, that of the connection. */
  lastUse: number;
  /** The limit was reached when it came. */
  isSurplus: boolean;
  /** Up to which byte the client has to read, and since which second. */
  awaited: number;
  awaitedSince: number;
  /** The last turn of the event loop in which requests came, and how many did. */
  turn: number;
  requests: number;
  /** That of the last request, for a second at least. */
  response: ServerResponse | undefined;
  /** How many requests wait until the replies before them have been sent. */
  held: number;
}

type HttpSocket = Socket & { [STATE]: ConnectionState };

/** Of a connection to the server, unless it has just been refused. */
export const stateOf = (socket: Socket): ConnectionState => (socket as HttpSocket)[STATE];

/** Whether something has still to be answered on it. */
const isBusy = ({ response }: ConnectionState) => response !== undefined && !response.writableFinished;

export interface Connections {
  /** All that are open. */
  readonly sockets: ReadonlySet<Socket>;
  /** Seconds since the start. */
  readonly second: number;
  /** True while there are more connections than are served. */
  isFull(): boolean;
  /** The number of this turn of the event loop: only those are counted in which something asks for it. */
  turn(): number;
}

export function addConnections(
  app: FastifyInstance,
  { maxConnections, replyTimeout }: ConnectionLimits,
  logger: Logger,
  counts: Counts,
) {
  const sockets = new Set<HttpSocket>();
  let turn = 0;
  let isTurn = false;
  const endTurn = () => {
    isTurn = false;
  };
  const connections: Connections & { second: number } = {
    sockets,
    second: 0,
    turn: () => {
      if (isTurn) return turn;
      isTurn = true;
      setImmediate(endTurn);
      return ++turn;
    },
    isFull: () => sockets.size > maxConnections,
  };
  let dropped = 0;

  answerHalfClosed(app.server);
  app.server.on('connection', (socket: HttpSocket) => {
    const state = buildState(connections.second);
    socket[STATE] = state;
    sockets.add(socket);
    counts.connections++;
    endBy(socket, endConnection);
    socket.once('end', () => endStream(socket));
    socket.once('close', () => {
      sockets.delete(socket);
      counts.connections--;
    });
    state.isSurplus = sockets.size > maxConnections && !closeIdle();
    if (sockets.size <= 2 * maxConnections) return;
    socket.destroy();
    dropped++;
    counts.dropped.full++;
  });

  /** Closes one connection that has no request now and had none in the last second: its client can open another. */
  function closeIdle(): boolean {
    for (const socket of sockets) {
      if (isBusy(socket[STATE]) || connections.second - socket[STATE].lastUse < 2) continue;
      socket.destroy();
      sockets.delete(socket);
      counts.dropped.idle++;
      return true;
    }
    return false;
  }

  /** Replies that a client does not read take up memory, and so do those that nobody asks for any more. */
  function closeUnread(): void {
    const { second } = connections;
    for (const socket of sockets) {
      const state = socket[STATE];
      if (!isBusy(state)) state.response = undefined;
      if (socket.bytesWritten - socket.writableLength >= state.awaited) {
        state.awaited = socket.bytesWritten;
        state.awaitedSince = second;
      } else if (second - state.awaitedSince > replyTimeout / 1000) {
        socket.destroy();
        counts.dropped.unread++;
      }
    }
  }

  const sweep = setInterval(() => {
    connections.second++;
    closeUnread();
    if (dropped > 0) logger.warn({ dropped }, 'connections were not accepted');
    dropped = 0;
  }, 1000).unref();
  app.server.on('close', () => clearInterval(sweep));
  // Node no longer knows a connection after a CONNECT.
  app.decorate('cutConnections', () => {
    for (const socket of sockets) socket.destroy();
  });
  return connections;
}

function buildState(second: number): ConnectionState {
  return {
    ...{ lastUse: second, isSurplus: false, awaited: 0, awaitedSince: 0, turn: 0, requests: 0 },
    ...{ response: undefined, held: 0 },
  };
}

/** Behind its last reply. */
function endConnection(socket: Socket): void {
  const { response } = stateOf(socket);
  if (response && !response.req.complete) linger(socket);
  else Socket.prototype.destroySoon.call(socket);
}

/** The client has closed its side. What is sent chunk by chunk may never end: it is given up, since most clients have gone then. */
function endStream(socket: Socket): void {
  const { response } = stateOf(socket);
  if (response?.headersSent && !response.writableEnded) socket.end();
}
