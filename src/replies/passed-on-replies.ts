/** Replies that are not JSON: text or bytes, as a whole or as they are made. */
import { pipeline } from 'node:stream/promises';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Logger } from 'pino';
import type { Operation } from '../contract/contract.ts';
import { replyFor } from '../contract/replies.ts';

type Chunk = string | Uint8Array;

/** The body of such a reply. What it iterates over is sent chunk by chunk, no faster than the client reads. Text is sent as UTF-8. */
export type PassedOn = Chunk | AsyncIterable<Chunk>;

/** Whether the reply with a status is passed on as it is. */
export function buildIsPassedOn({ replies }: Operation): (status: number) => boolean {
  if (replies.every(({ isJson }) => isJson)) return () => false;
  return (status) => replyFor(replies, status)?.isJson === false;
}

export interface Sending {
  request: FastifyRequest;
  reply: FastifyReply;
  status: number;
  /** Names of headers, each followed by its value. */
  head: string[];
  beforeReply: (request: FastifyRequest, reply: FastifyReply) => void;
  logger: Logger;
}

export function sendPassedOn(body: unknown, sending: Sending): undefined | Promise<void> {
  if (isIterable(body)) return sendChunks(body[Symbol.asyncIterator](), sending);
  const { request, reply, status, head, beforeReply } = sending;
  const whole = toChunk(body);
  beforeReply(request, reply);
  reply.raw.writeHead(status, [...head, 'content-length', String(Buffer.byteLength(whole))]).end(whole);
  return undefined;
}

/**
 * An error before the first chunk is thrown, to be answered as any other. After that, only a cut connection can tell the client
 * (RFC 9112, section 8). The iterator is returned when the client has gone.
 */
async function sendChunks(chunks: AsyncIterator<unknown>, sending: Sending): Promise<void> {
  const { request, reply, status, head, beforeReply, logger } = sending;
  const { raw } = reply;
  const { socket } = request.raw;
  const logError = (err: unknown, message: string) => logger.error({ reqId: request.id, err }, message);
  const end = async () => {
    try {
      await chunks.return?.();
    } catch (error) {
      logError(error, 'the end of a reply failed');
    }
  };
  const leave = () => {
    // Node emits no event for a reply that waits behind another one.
    if (raw.socket === null) raw.emit('close');
    end();
  };
  async function* toChunks(first: IteratorResult<unknown>): AsyncGenerator<Chunk> {
    try {
      for (let next = first; !next.done; next = await chunks.next()) yield toChunk(next.value);
    } catch (error) {
      logError(error, 'the reply was cut off');
      throw error;
    }
  }

  if (socket.destroyed) leave();
  socket.once('close', leave);
  try {
    const first = await chunks.next();
    if (!first.done) toChunk(first.value);
    beforeReply(request, reply);
    raw.writeHead(status, head);
    // The status is the same as for GET.
    if (request.method === 'HEAD') raw.end();
    else await pipeline(toChunks(first), raw);
    // A stop that began after the head was sent has left this connection open.
    const { server } = request.server;
    if (!server.listening) server.closeIdleConnections();
  } catch (error) {
    // `pipeline` has cut the connection.
    if (!raw.headersSent) throw error;
  } finally {
    socket.off('close', leave);
    end();
  }
}

function toChunk(value: unknown): Chunk {
  if (typeof value === 'string' || value instanceof Uint8Array) return value;
  throw new TypeError(`A reply that is not JSON is made of strings and Uint8Arrays, not of ${typeof value}`);
}

const isIterable = (body: unknown): body is AsyncIterable<unknown> =>
  typeof body === 'object' && body !== null && Symbol.asyncIterator in body;
