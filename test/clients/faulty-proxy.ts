/** A proxy to a server on this machine, which spoils the replies with a fault. */
import type { Socket } from 'node:net';
import { listen } from '../cutting-proxy.ts';
import { send } from '../service.ts';
import { type Fault, toBytes } from './faults.ts';

interface Arrived {
  method: string;
  url: string;
  /** In milliseconds. */
  at: number;
  /** The client had given up before the answer arrived, because its timeout is too short for a busy machine. */
  isLate?: boolean;
}

/** A proxy for one run of a client. */
export interface FaultyProxy {
  /** The base URL of the proxy, with a path prefix, as behind a gateway. */
  url: string;
  arrived: Arrived[];
  /** Closes the proxy and its connections. */
  close(): void;
}

const PATH = '/gateway';
const REQUEST = /^(\w+) \/gateway(\S+) HTTP\/1\.1\r\n([\s\S]*?)\r\n\r\n([\s\S]*)$/;

/**
 * Every request reaches the server, even if its answer does not reach the client. The fault happens to the first of
 * equal requests, or to all requests. `elsewhere` is the origin that faults send clients to.
 */
export async function startFaultyProxy(
  target: number,
  elsewhere: string,
  fault?: Fault,
  when: 'once' | 'always' = 'once',
): Promise<FaultyProxy> {
  const arrived: Arrived[] = [];

  async function answer(socket: Socket, [, method = '', url = '', lines = '', body = '']: string[]): Promise<void> {
    const now: Arrived = { method, url, at: performance.now() };
    arrived.push(now);
    const headers = Object.fromEntries(
      lines.split('\r\n').map((line) => [line.split(':', 1)[0], line.slice(line.indexOf(':') + 1).trim()]),
    );
    const reply = await send(target, url, { method, headers, key: null, ...(body && { body }) });
    delete reply.headers['transfer-encoding'];
    delete reply.headers['content-length'];
    delete reply.headers.connection;
    const isFirst = arrived.find((each) => each.method === method && each.url === url && !each.isLate) === now;
    if (socket.readableEnded || socket.destroyed) now.isLate = true;
    else if (fault && (when === 'always' || isFirst)) fault(socket, reply, elsewhere);
    else socket.write(toBytes(reply));
  }

  const { origin, close } = await listen((socket) => {
    let text = '';
    socket.on('data', (bytes) => {
      // A request that arrives after the proxy has ended the connection is ignored: the client sends it again on
      // another connection.
      if (socket.writableEnded) return;
      text += bytes.toString('latin1');
      const request = REQUEST.exec(text);
      const length = Number(/content-length: (\d+)/i.exec(text)?.[1] ?? 0);
      if (!request || (request[4] as string).length < length) return;
      text = '';
      answer(socket, request).catch(() => socket.destroy());
    });
  });
  return { url: origin + PATH, arrived, close };
}
