/** After a long iteration of the event loop, accepts the waiting connections before any connection is read again. */
import type { Server, Socket } from 'node:net';
import type { Connections } from './connections.ts';

/** An iteration of the event loop that takes longer than this counts as long, in milliseconds. */
const LONG = 20;

/** The number of connections that are accepted before the existing connections are read again. */
const MOST_ACCEPTED = 2000;

/**
 * Accepting ends after a pause without a new connection. The pause is this fraction of the long iteration: it is not
 * shorter because a client may have to wait for a processor before it connects.
 */
const QUIET = 1 / 20;

/**
 * Accepts all waiting connections after a long iteration, and reads only afterwards, the new connections first. libuv
 * accepts one connection per iteration, and an iteration that answers 1,000 clients takes half a second. So a new
 * client would wait half a second for each client before it.
 */
export function prioritizeNewConnections(server: Server, connections: Connections): void {
  let accepted = 0;
  let isAccepting = false;
  let known: Socket[] = [];
  let fresh: Socket[] = [];

  function goOnWhenQuiet(delay: number, before: number): void {
    if (accepted > before && accepted < MOST_ACCEPTED) {
      // After a pause of the process, timers fire before waiting connections are accepted, and immediates fire
      // afterwards. So an immediate follows the timer.
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
    // Node begins to read the socket in the next tick, so pausing it has an effect only then.
    if (isAccepting) process.nextTick(pause, socket, fresh);
    else if (connections.took > LONG) {
      isAccepting = true;
      accepted = 1;
      for (const open of connections.open) if (open.socket !== socket) pause(open.socket, known);
      goOnWhenQuiet(connections.took * QUIET, 0);
    }
  });
}

/** Pauses a socket, unless other code has already paused it. */
function pause(socket: Socket, paused: Socket[]): void {
  if (!socket.isPaused()) paused.push(socket.pause());
}
