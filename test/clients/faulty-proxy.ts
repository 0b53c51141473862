/** A proxy to a server on this machine, which answers as it is told to. */
import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import type { Test } from 'tap';
import { send } from '../service.ts';
import { type Fault, toBytes } from './faults.ts';

interface Arrived {
  method: string;
  url: string;
  /** In milliseconds. */
  at: number;
  /** The client had gone before its answer was there: on a busy machine, it waits too short a time. */
  isLate?: boolean;
}

export interface FaultyProxy {
  origin: string;
  /** What was asked since `begin`. */
  arrived: Arrived[];
  /** From now on, this fault happens to the answers for which it holds. */
  begin(fault: Fault | undefined, holds: (now: Arrived, before: Arrived[]) => boolean): void;
}

const REQUEST = /^(\w+) (\S+) HTTP\/1\.1\r\n([\s\S]*?)\r\n\r\n([\s\S]*)$/;

/** Every request reaches the server, also those whose answers do not come back. */
export async function startFaultyProxy(t: Test, target: number): Promise<FaultyProxy> {
  const sockets = new Set<Socket>();
  let fault: Fault | undefined;
  let holds: Parameters<FaultyProxy['begin']>[1] = () => false;
  const proxy: FaultyProxy = {
    origin: '',
    arrived: [],
    begin: (...begun) => {
      [fault, holds] = begun;
      proxy.arrived = [];
    },
  };

  async function answer(socket: Socket, [, method = '', url = '', lines = '', body = '']: string[]): Promise<void> {
    const now: Arrived = { method, url, at: performance.now() };
    const happens = holds(now, proxy.arrived) ? fault : undefined;
    proxy.arrived.push(now);
    const headers = Object.fromEntries(
      lines.split('\r\n').map((line) => [line.split(':', 1)[0], line.slice(line.indexOf(':') + 1).trim()]),
    );
    const reply = await send(target, url, { method, headers, key: null, ...(body && { body }) });
    delete reply.headers['transfer-encoding'];
    delete reply.headers.connection;
    if (happens) happens(socket, reply);
    else if (socket.readableEnded || socket.destroyed) now.isLate = true;
    else socket.write(toBytes(reply));
  }

  const server = createServer((socket) => {
    let text = '';
    sockets.add(socket);
    socket.on('error', () => {});
    socket.on('data', (bytes) => {
      // Behind the end of its connection, a request has come too late: its client sends it again on another one.
      if (socket.writableEnded) return;
      text += bytes.toString('latin1');
      const request = REQUEST.exec(text);
      const length = Number(/content-length: (\d+)/i.exec(text)?.[1] ?? 0);
      if (!request || (request[4] as string).length < length) return;
      text = '';
      answer(socket, request).catch(() => socket.destroy());
    });
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.teardown(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  proxy.origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return proxy;
}
