/** Connections that were passed to a worker which died before it accepted them. */
import type { Worker } from 'node:cluster';

interface Connection {
  close(): void;
}

type Send = (message: unknown, ...rest: unknown[]) => boolean;

/**
 * Node's round robin keeps a connection open until its worker says that it has taken it, and gives a worker the next one
 * only then. When the worker dies before, Node forgets the connection, and its client would wait for ever.
 */
export function closeUntaken(worker: Worker): void {
  /** The last connection from each listening socket. */
  const given = new Map<string, Connection>();
  const send = worker.process.send.bind(worker.process) as Send;
  const sendAndRemember: Send = (message, ...rest) => {
    const { act, key } = message as { act?: string; key: string };
    if (act === 'newconn') given.set(key, rest[0] as Connection);
    return send(message, ...rest);
  };
  worker.process.send = sendAndRemember;
  worker.on('exit', () => {
    // Closing a connection that the worker has accepted does nothing.
    for (const connection of given.values()) connection.close();
    // Until then, Node waits for the dead worker, and goes on listening on its behalf.
    worker.disconnect();
  });
}
