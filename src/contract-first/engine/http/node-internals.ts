/**
 * Contains every use of a private field of Node and its modules; no other file may use one
 * (`test/architecture.test.ts`). Each field exists in Node 20.20, 22.23 and 24.21, and a test fails when Node changes
 * it (`test/engine/http/node-internals.test.ts`).
 */
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { BusboyInstance, Dicer } from '@fastify/busboy';

/**
 * Stops parsing this connection. The listener of Node's parser returns 2, which announces an upgrade and so the end of
 * HTTP, although no upgrade follows. Otherwise all requests of one read, up to 600, would become objects, which takes
 * longer than sending their error replies.
 */
export function stopParsing(socket: Socket): void {
  type Take = (request: IncomingMessage & { upgrade: boolean }) => number;
  const { parser } = socket as Socket & { parser?: { onIncoming: Take } | null };
  if (!parser) return;
  parser.onIncoming = (request) => {
    request.upgrade = false;
    return 2;
  };
}

/**
 * Adds lines to a head that Node has already written; each line ends in CRLF. If Node added them, it would check and
 * join the same constant lines for each reply, which makes a get 5 % slower.
 */
export function appendToHead(response: ServerResponse, lines: string): void {
  const written = response as ServerResponse & { _header: string };
  written._header = `${written._header.slice(0, -2)}${lines}\r\n`;
}

/**
 * Makes `end` close the connection after the last reply: Node calls it as `socket.destroySoon`. Node's own function
 * would reset the connection of a client that is still sending. The reset may destroy the reply before the client reads
 * it (RFC 9112, section 9.6).
 */
export function onSocketEnd(socket: Socket, end: (socket: Socket) => void): void {
  socket.destroySoon = () => end(socket);
}

/**
 * Makes Node also answer clients that have closed their sending side, as other servers do. By default, Node closes the
 * connection immediately, even while a record is being written.
 */
export function answerHalfClosed(server: Server): void {
  (server as Server & { httpAllowHalfOpen: boolean }).httpAllowHalfOpen = true;
}

/**
 * Makes a connection read again when it is resumed. Without this, a connection can stall: on a pause, Node's parser
 * stops reading; if a `data` listener is added during the pause, the parser detaches from the socket, and nothing
 * starts reading again.
 */
export function readWhenResumed(socket: Socket): void {
  socket.on('resume', () => {
    if (!socket.destroyed && !socket.isPaused()) socket._read(0);
  });
}

/**
 * Passes the headers of each part of a multipart form to `take` before Busboy reads them. Each character of a header
 * stands for one byte, and `take` may change the headers. Busboy itself would replace bytes that are not UTF-8 by
 * U+FFFD.
 */
export function onPartHeaders(busboy: BusboyInstance, take: (headers: Record<string, string[]>) => void): void {
  const { parser } = (busboy as unknown as { _parser: { parser?: Dicer } })._parser;
  parser?.prependListener('part', (part) => part.once('header', take));
}
