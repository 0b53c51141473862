/** A client that writes bytes to a socket and parses the replies: for requests that no HTTP library would send. */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import type { CheckedReply } from './contract-check.ts';

export interface Received {
  text: string;
  /** All complete replies. */
  replies: CheckedReply[];
  /** The bytes after the last complete reply. */
  rest: string;
}

export interface RawClient {
  socket: Socket;
  /** Resolves with the first `count` replies, or with all replies once the server has closed. */
  replies(count?: number): Promise<CheckedReply[]>;
  /** Returns everything that was received so far. */
  received(): Received;
  /** Resolves when the server has closed its sending side. */
  ended: Promise<unknown>;
  /** Resolves when the connection is closed, by whichever side. */
  closed: Promise<unknown>;
}

/**
 * Connects and sends these bytes. The client does not close its side when the server does, like a client that has died.
 */
export function connectRaw(port: number, ...bytes: (string | Buffer)[]): RawClient {
  const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
  let text = '';
  socket.setEncoding('latin1').on('data', (chunk: string) => {
    text += chunk;
  });
  // A reset counts as the end of the connection.
  socket.on('error', () => {});
  const next = (event: string) => new Promise((resolve) => socket.once(event, resolve));
  const closed = next('close');
  const ended = Promise.race([next('end'), closed]);
  for (const part of bytes) socket.write(part, 'latin1');

  async function replies(count = Number.POSITIVE_INFINITY): Promise<CheckedReply[]> {
    for (;;) {
      const { replies } = splitReplies(text);
      if (replies.length >= count) return replies.slice(0, count);
      const isOver = await Promise.race([ended.then(() => true), next('data').then(() => false)]);
      if (isOver) return splitReplies(text, isOver).replies;
    }
  }
  return { socket, replies, received: () => ({ text, ...splitReplies(text, true) }), ended, closed };
}

/** Sends these bytes, and returns all replies once the server has closed the connection. */
export async function sendRaw(port: number, ...bytes: (string | Buffer)[]): Promise<CheckedReply[]> {
  const { socket, replies } = connectRaw(port, ...bytes);
  const all = await replies();
  socket.destroy();
  return all;
}

/**
 * Sends a request with an endless chunked body. Returns the reply, and how many bytes of the body were sent when the
 * server closed.
 */
export async function flood(port: number, head: string): Promise<{ sent: number; reply?: CheckedReply }> {
  const chunk = `10000\r\n${'x'.repeat(0x10000)}\r\n`;
  const client = connectRaw(port, head);
  let isOver = false;
  client.closed.then(() => {
    isOver = true;
  });
  while (!isOver) {
    if (!client.socket.write(chunk)) await Promise.race([once(client.socket, 'drain').catch(() => {}), client.closed]);
  }
  const [reply] = client.received().replies;
  return { sent: client.socket.bytesWritten - client.socket.writableLength, ...(reply && { reply }) };
}

/**
 * Splits received bytes into complete replies, as framed by RFC 9112, and the rest. The reply to HEAD has no body: it
 * ends where the next reply begins, or with the connection.
 */
function splitReplies(received: string, isOver = false): { replies: CheckedReply[]; rest: string } {
  const replies: CheckedReply[] = [];
  let rest = received;
  for (;;) {
    const head = /^HTTP\/1\.1 (\d{3}) [^\r\n]*\r\n((?:[^\r\n]+\r\n)*)\r\n/.exec(rest);
    if (!head) return { replies, rest };
    const [text, status, lines] = head as unknown as [string, string, string];
    const headers = toHeaders(lines);
    const after = rest.slice(text.length);
    const length = isWithoutBody(status, after, isOver) ? 0 : Number(headers['content-length'] ?? 0);
    if (after.length < length) return { replies, rest };
    const body = Buffer.from(after.slice(0, length), 'latin1').toString();
    if (!status.startsWith('1')) replies.push({ status: Number(status), headers, text: body });
    rest = after.slice(length);
  }
}

function toHeaders(lines: string): Record<string, string> {
  const pairs = lines
    .trimEnd()
    .split('\r\n')
    .map((line) => line.split(/: ?(.*)/, 2) as [string, string]);
  return Object.fromEntries(pairs.map(([name, value]) => [name.toLowerCase(), value]));
}

function isWithoutBody(status: string, after: string, isOver: boolean): boolean {
  return /^1|204|304/.test(status) || (isOver && after === '') || after.startsWith('HTTP/1.1 ');
}
