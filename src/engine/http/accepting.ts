/** Accepts the connections that wait before more is read, where a turn of the event loop is long. */
import type { Server, Socket } from 'node:net';
import type { Connections } from './connections.ts';

/** Behind a turn that takes longer than this, in milliseconds, all connections that wait are accepted before others are read. */
const LONG = 20;

/** How many are accepted before others are read again. */
const MOST_ACCEPTED = 2000;

/**
 * For which part of that turn none must have come: of several processes the first hands over one when the one before is taken, and may
 * have to wait for a processor.
 */
const QUIET = 1 / 20;

/**
 * libuv accepts one connection in a turn of the event loop, and a turn in which 1,000 clients are answered takes half a second: a new
 * client would wait as long for each one before it. So behind such a turn nothing is read until no more wait, and then first of
 * all what the new ones have sent.
 */
export function addAccepting(server: Server, connections: Connections): void {
  let accepted = 0;
  let isAccepting = false;
  let known: Socket[] = [];
  let fresh: Socket[] = [];

  function goOnWhenQuiet(patience: number, before: number): void {
    if (accepted > before && accepted < MOST_ACCEPTED) {
      // A process that stood still meanwhile has to accept before it looks: a timer comes before that, and an immediate behind it.
      const until = accepted;
      setTimeout(() => setImmediate(goOnWhenQuiet, patience, until), patience);
      return;
    }
    for (const socket of fresh) socket.resume();
    const others = known;
    setImmediate(() => {
      for (const socket of others) socket.resume();
    });
    isAccepting = false;
    known = [];
    fresh = [];
  }

  server.on('connection', (socket: Socket) => {
    accepted++;
    // Not before Node has begun to read it, in the next tick.
    if (isAccepting) process.nextTick(pause, socket, fresh);
    else if (connections.took > LONG) {
      isAccepting = true;
      accepted = 1;
      for (const open of connections.sockets) if (open !== socket) pause(open, known);
      goOnWhenQuiet(connections.took * QUIET, 0);
    }
  });
}

/** One that is paused already stays so. */
function pause(socket: Socket, paused: Socket[]): void {
  if (!socket.isPaused()) paused.push(socket.pause());
}
