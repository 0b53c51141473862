/**
 * Accepts new connections first after a long iteration of the event loop: only then does the server read from its
 * connections again.
 */
import type { Server, Socket } from 'node:net';
import type { Connections } from './connections.ts';

/** An iteration of the event loop that takes longer than this counts as long, in milliseconds. */
const LONG = 20;

/** The most connections that are accepted before the existing connections are read again. */
const MOST_ACCEPTED = 2000;

/**
 * The server accepts connections until no new one has arrived for this fraction of the long iteration. The fraction is
 * not smaller, because a client may have to wait for a processor before it connects.
 */
const QUIET = 1 / 20;

/**
 * After a long iteration of the event loop, accepts all waiting connections before any connection is read, and then
 * reads the new connections first. libuv accepts only one connection per iteration, and an iteration that answers 1,000
 * clients takes half a second. Without this function, a new client would therefore wait half a second for each client
 * that connected before it.
 */
export function prioritizeNewConnections(server: Server, connections: Connections): void {
  let accepted = 0;
  let isAccepting = false;
  let known: Socket[] = [];
  let fresh: Socket[] = [];

  function goOnWhenQuiet(delay: number, before: number): void {
    if (accepted > before && accepted < MOST_ACCEPTED) {
      // If the process was paused, the event loop runs expired timers first, then accepts waiting connections, and then
      // runs immediates. So the check is in an immediate after the timer.
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
    // Node begins to read a new socket only in the next tick, so the socket must be paused after that.
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
