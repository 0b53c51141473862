/**
 * Everything private of Node and of its modules that is used, and no other file does (`test/architecture.test.ts`). Each was seen in Node 20.20, 22.23 and
 * 24.21, and has a test of its own that fails when Node changes it (`test/engine/http/node-internals.test.ts`, `onGiven` in `test/operate/process/workers.deep.ts`).
 */
import type { Worker } from 'node:cluster';
import type { Server, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { BusboyInstance, Dicer } from '@fastify/busboy';

/**
 * Nothing more of this connection is parsed: 2 is what the listener of Node's parser returns for an upgrade, behind which is no HTTP.
 * Without it, the 600 requests that one read may bring are each made into objects, which costs more than to refuse them.
 */
export function stopParsing(socket: Socket): void {
  const { parser } = socket as Socket & { parser?: { onIncoming: () => number } | null };
  if (parser) parser.onIncoming = () => 2;
}

/**
 * Adds lines to a head that is written, each with its end. Without it, Node checks and joins what never changes for each reply,
 * which takes a get 5 % longer.
 */
export function appendToHead(response: ServerResponse, lines: string): void {
  const written = response as ServerResponse & { _header: string };
  written._header = `${written._header.slice(0, -2)}${lines}\r\n`;
}

/**
 * Whether its connection ends behind this reply, as its head says, or will say. Without it, requests behind such a reply would be
 * served, and never be answered (RFC 9112, section 9.6).
 */
export function isLast(response: ServerResponse): boolean {
  return (response as ServerResponse & { _last: boolean })._last;
}

/**
 * Whether the connection lives on behind this reply; returns whether it would have. A header `Connection` could say the same, but when
 * it is taken back, Node sends none at all.
 */
export function keepAlive(response: ServerResponse, isKept: boolean): boolean {
  const was = response.shouldKeepAlive;
  response.shouldKeepAlive = isKept;
  return was;
}

/**
 * Lets `end` close the connection behind its last reply: Node calls the socket's `destroySoon` then. Without it, the client gets a
 * reset while it sends, which may take the reply away before it is read (RFC 9112, section 9.6).
 */
export function endBy(socket: Socket, end: (socket: Socket) => void): void {
  socket.destroySoon = () => end(socket);
}

/**
 * A client that has closed its sending side is answered all the same, as in any other server. Without it, Node closes the
 * connection at once, also while a create is on its way to the disk.
 */
export function answerHalfClosed(server: Server): void {
  (server as Server & { httpAllowHalfOpen: boolean }).httpAllowHalfOpen = true;
}

/**
 * Lets a connection be read on when it is resumed, whoever began to look at its bytes in between. Without it, it stands still: Node
 * stops reading when it is paused, and lets go of the connection, with what would begin again, when a listener for `data` is added.
 */
export function readWhenResumed(socket: Socket): void {
  socket.on('resume', () => {
    if (!socket.destroyed && !socket.isPaused()) socket._read(0);
  });
}

export interface GivenConnection {
  close(): void;
}

/**
 * Calls back when the first of several processes hands a connection of a listening socket to a worker, which has still to accept it. Without
 * it, who is connected to a worker that dies at that moment waits for ever, and the first process keeps the connection open.
 */
export function onGiven(worker: Worker, take: (socket: string, connection: GivenConnection) => void): void {
  type Send = (message: unknown, ...rest: unknown[]) => boolean;
  const send = worker.process.send.bind(worker.process) as Send;
  const sendAndTell: Send = (message, ...rest) => {
    const { act, key } = message as { act?: string; key: string };
    if (act === 'newconn') take(key, rest[0] as GivenConnection);
    return send(message, ...rest);
  };
  worker.process.send = sendAndTell;
}

/**
 * Shows the headers of each part of a multipart form, one character for each byte, before Busboy reads them; they may be changed. Without
 * it, what is not UTF-8 in the name of a file cannot be told from U+FFFD.
 */
export function onPartHeaders(busboy: BusboyInstance, take: (headers: Record<string, string[]>) => void): void {
  const { parser } = (busboy as unknown as { _parser: { parser?: Dicer } })._parser;
  parser?.prependListener('part', (part) => part.once('header', take));
}
