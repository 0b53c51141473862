/**
 * Serves requests with `Upgrade` as if it were not there (RFC 9110, section 7.8): Java's client asks for HTTP/2 in each request. Node
 * would lose the bytes that it has read after such a request. So the connection is given back to Node: the request is written again
 * without its `Upgrade`, followed by those bytes.
 */
import type { IncomingMessage } from 'node:http';
import type { Server, Socket } from 'node:net';
import { whenAnswered } from './connections.ts';

type Listener = (socket: Socket) => void;

/** To be called while Node's own listener for connections is still the first. */
export function ignoreUpgrades(server: Server): void {
  const [serve] = server.listeners('connection') as [Listener];
  server.on('upgrade', (request: IncomingMessage, socket: Socket, behind: Buffer) => {
    const goOn = () => {
      if (socket.destroyed) return;
      socket.unshift(Buffer.concat([Buffer.from(toHead(request), 'latin1'), behind]));
      serve.call(server, socket);
    };
    // `setImmediate`: Node must first finish with the previous reply.
    whenAnswered(socket, () => setImmediate(goOn));
  });
}

function toHead({ method, url, httpVersion, rawHeaders }: IncomingMessage): string {
  let head = `${method} ${url} HTTP/${httpVersion}\r\n`;
  for (let index = 0; index < rawHeaders.length; index += 2) {
    const name = rawHeaders[index] as string;
    const value = rawHeaders[index + 1] as string;
    if (/^connection$/i.test(name)) head += `${name}: ${withoutUpgrade(value)}\r\n`;
    else if (!/^upgrade$/i.test(name)) head += `${name}: ${value}\r\n`;
  }
  return `${head}\r\n`;
}

function withoutUpgrade(connection: string): string {
  const options = connection.split(',').map((option) => option.trim());
  return options.filter((option) => option.toLowerCase() !== 'upgrade').join(', ');
}
