/**
 * A TCP proxy to a server on this machine. It can cut a connection before an answer reaches the client, or delay each
 * packet.
 */
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import type { Test } from 'tap';

/** Listens for connections on a free port of 127.0.0.1. */
export async function listen(use: (socket: Socket) => void): Promise<{ port: number; origin: string; close(): void }> {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    use(socket);
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const close = () => {
    for (const socket of sockets) socket.destroy();
    server.close();
  };
  return { port, origin: `http://127.0.0.1:${port}`, close };
}

export interface CuttingProxy {
  port: number;
  /**
   * From now on, cuts a connection once the client has sent `text` and the server has answered: the client never gets
   * the answer.
   */
  cutAnswerTo(text: string | undefined): void;
}

/** `away` is the delay of each packet in milliseconds. */
export async function startCuttingProxy(t: Test, target: number, away = 0): Promise<CuttingProxy> {
  const later = (act: () => void) => void (away > 0 ? setTimeout(act, away) : act());
  let cut: string | undefined;
  const { port, close } = await listen((client) => {
    const upstream = connect(target, '127.0.0.1');
    let isCut = false;
    client.on('data', (bytes) => {
      isCut ||= cut !== undefined && bytes.includes(cut);
      later(() => upstream.write(bytes));
    });
    upstream.on('data', (bytes) => {
      later(() => {
        if (isCut) client.destroy();
        else client.write(bytes);
      });
    });
    client.on('close', () => upstream.destroy());
    upstream.on('error', () => {}).on('close', () => client.destroy());
  });
  t.teardown(close);
  return {
    port,
    cutAnswerTo: (text) => {
      cut = text;
    },
  };
}
