/** Connections that were given to a worker which died before it took them. */
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
    // To close once more what the worker has taken does nothing.
    for (const connection of given.values()) connection.close();
    // As long as Node waits for it, it takes the worker for one that may come back, and goes on listening for it.
    worker.disconnect();
  });
}
