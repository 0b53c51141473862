/** Accepts waiting connections before anything more is read, when an iteration of the event loop was long. */
import type { Server, Socket } from 'node:net';
import type { Connections } from './connections.ts';

/** An iteration of the event loop is long above this, in milliseconds. */
const LONG = 20;

/** How many connections are accepted before others are read again. */
const MOST_ACCEPTED = 2000;

/**
 * Accepting ends after a pause without a new connection. The pause is this fraction of the long iteration: a client may have to wait for a
 * processor before it connects.
 */
const QUIET = 1 / 20;

/**
 * libuv accepts one connection per iteration, and an iteration that answers 1,000 clients takes half a second: a new client would wait
 * that long for each one before it. So after a long iteration nothing is read until all waiting connections are accepted; then the new
 * ones are read first.
 */
export function prioritizeNewConnections(server: Server, connections: Connections): void {
  let accepted = 0;
  let isAccepting = false;
  let known: Socket[] = [];
  let fresh: Socket[] = [];

  function goOnWhenQuiet(delay: number, before: number): void {
    if (accepted > before && accepted < MOST_ACCEPTED) {
      // After a pause of the process, a timer fires before waiting connections are accepted, and an immediate after it.
      const until = accepted;
      setTimeout(() => setImmediate(goOnWhenQuiet, delay, until), delay);
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
    // Node begins to read the socket in the next tick, so it can only be paused then.
    if (isAccepting) process.nextTick(pause, socket, fresh);
    else if (connections.took > LONG) {
      isAccepting = true;
      accepted = 1;
      for (const open of connections.open) if (open.socket !== socket) pause(open.socket, known);
      goOnWhenQuiet(connections.took * QUIET, 0);
    }
  });
}

/** A socket that somebody else has paused is left paused. */
function pause(socket: Socket, paused: Socket[]): void {
  if (!socket.isPaused()) paused.push(socket.pause());
}
