/** Accepts the connections that wait before anything more is read, where a turn of the event loop is long. */
import type { Socket } from 'node:net';
import type { FastifyInstance } from 'fastify';
import type { Connections } from './connections.ts';

/** After this many requests in a turn, it pays to accept more than one connection before the next turn like it. */
const MANY_REQUESTS = 100;

/** How many are accepted before the others are read again: about as many as the kernel lets wait (Node's default backlog). */
const MAX_ACCEPTED = 512;

/**
 * libuv accepts one connection in a turn of the event loop. When clients send many requests at once, a turn takes a tenth of a
 * second, and a health check behind 50 other new connections would wait for 5 seconds. So when two turns on end accept
 * one, all sockets are paused until no more connections wait.
 */
export function addAccepting(app: FastifyInstance, connections: Connections): void {
  let lastTurn = 0;
  let lastRequests = 0;
  let isAccepting = false;
  /** Not read while others are accepted. */
  let paused: Socket[] = [];
  let accepted = 0;
  let seen = 0;

  function pause(socket: Socket): void {
    if (socket.isPaused()) return;
    socket.pause();
    paused.push(socket);
  }

  /** At the end of each turn. */
  function resumeWhenNoneCame(): void {
    if (accepted > seen && accepted < MAX_ACCEPTED) {
      seen = accepted;
      setImmediate(resumeWhenNoneCame);
      return;
    }
    for (const socket of paused) socket.resume();
    paused = [];
    isAccepting = false;
  }

  app.server.on('connection', (socket: Socket) => {
    accepted++;
    if (isAccepting) {
      // Not before Node has begun to read it, in the next tick.
      process.nextTick(pause, socket);
      return;
    }
    const turn = connections.turn();
    if (turn === lastTurn + 1 && connections.requests - lastRequests > MANY_REQUESTS) {
      isAccepting = true;
      accepted = 1;
      seen = 0;
      for (const open of connections.sockets) pause(open);
      setImmediate(resumeWhenNoneCame);
    }
    lastTurn = turn;
    lastRequests = connections.requests;
  });
}
