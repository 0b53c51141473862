/**
 * Contains all uses of private fields of Node and its modules; no other file may use such a field
 * (`test/architecture.test.ts`). The fields exist in Node 20.20, 22.23 and 24.21. A test fails if a version of Node
 * changes one of them (`test/engine/http/node-internals.test.ts`).
 */
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { BusboyInstance, Dicer } from '@fastify/busboy';

/**
 * Makes Node stop parsing requests of this connection. For that, the listener of Node's parser returns 2, as if an
 * upgrade followed, which ends HTTP on the connection. Otherwise Node would make objects for all requests of one read,
 * up to 600, which takes longer than sending their error replies.
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
 * Adds lines to the head of a reply after Node has written the head, but not sent it. Every line in `lines` ends in
 * CRLF. If Node added these constant lines itself, it would check and join them for each reply, which makes a GET
 * request 5 % slower.
 */
export function appendToHead(response: ServerResponse, lines: string): void {
  const written = response as ServerResponse & { _header: string };
  written._header = `${written._header.slice(0, -2)}${lines}\r\n`;
}

/**
 * Makes Node call `end` after the last reply of a connection, instead of `socket.destroySoon`; `end` must close the
 * connection. Node's own function would reset the connection of a client that is still sending. The reset may destroy
 * the reply before the client reads it (RFC 9112, section 9.6).
 */
export function onSocketEnd(socket: Socket, end: (socket: Socket) => void): void {
  socket.destroySoon = () => end(socket);
}

/**
 * Makes Node answer clients that have closed their sending side, as other servers do. By default, Node would close such
 * a connection immediately, even during the write of a record.
 */
export function answerHalfClosed(server: Server): void {
  (server as Server & { httpAllowHalfOpen: boolean }).httpAllowHalfOpen = true;
}

/**
 * Makes Node read from a connection again when the connection is resumed. Otherwise a connection could stall: a pause
 * makes Node's parser stop reading, and if a `data` listener is added during the pause, the parser detaches itself from
 * the socket, so that nothing starts reading again.
 */
export function readWhenResumed(socket: Socket): void {
  socket.on('resume', () => {
    if (!socket.destroyed && !socket.isPaused()) socket._read(0);
  });
}

/**
 * Passes the headers of each part of a multipart form to `take` before Busboy reads them. Every character of a header
 * represents one byte, and `take` may change the headers. Busboy itself would replace bytes that are not UTF-8 by
 * U+FFFD.
 */
export function onPartHeaders(busboy: BusboyInstance, take: (headers: Record<string, string[]>) => void): void {
  const { parser } = (busboy as unknown as { _parser: { parser?: Dicer } })._parser;
  parser?.prependListener('part', (part) => part.once('header', take));
}
