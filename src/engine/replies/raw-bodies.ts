/** Replies that are not JSON: text or bytes, as a whole or as they are made. */
import type { Socket } from 'node:net';
import { Readable } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Logger } from 'pino';

type Chunk = string | Uint8Array;

/** The body of such a reply. What it iterates over is sent chunk by chunk, no faster than the client reads. Text is sent as UTF-8. */
export type RawBody = Chunk | AsyncIterable<Chunk>;

/**
 * What Fastify sends of such a body. A stream comes when its first chunk is there: an error before that is thrown, to be answered
 * as any other. After that, only a cut connection can tell the client (RFC 9112, section 8).
 */
export function toPayload(body: unknown, reply: FastifyReply, logger: Logger): Chunk | Promise<Readable> {
  return isIterable(body) ? toStream(body[Symbol.asyncIterator](), reply, logger) : toChunk(body);
}

/** The iterator is returned when the client has gone. */
async function toStream(chunks: AsyncIterator<unknown>, reply: FastifyReply, logger: Logger): Promise<Readable> {
  const { request, raw } = reply;
  const logError = (err: unknown, message: string) => logger.error({ reqId: request.id, err }, message);
  const end = async () => {
    try {
      await chunks.return?.();
    } catch (error) {
      logError(error, 'the end of a reply failed');
    }
  };
  whenGone(raw, request.raw.socket, () => void end());

  async function* toChunks(first: IteratorResult<unknown>): AsyncGenerator<Chunk> {
    try {
      for (let next = first; !next.done; next = await chunks.next()) yield toChunk(next.value);
    } catch (error) {
      logError(error, 'the reply was cut off');
      throw error;
    } finally {
      void end();
    }
  }
  try {
    const first = await chunks.next();
    if (!first.done) toChunk(first.value);
    closeWhenSent(request, raw);
    // Fastify reads what a HEAD leaves out to its end: that is nothing more here.
    if (request.method !== 'HEAD') return Readable.from(toChunks(first));
    void end();
    return Readable.from([]);
  } catch (error) {
    void end();
    throw error;
  }
}

/** Calls back when the client has gone. While nothing is made for it, one that has closed its sending side counts as gone. */
function whenGone(raw: FastifyReply['raw'], socket: Socket, end: () => void): void {
  const leave = () => {
    // Node emits no event for a reply that waits behind another one.
    if (raw.socket === null) raw.emit('close');
    end();
  };
  // Replies before it on the connection are sent first.
  const giveUp = () => {
    if (socket.readableEnded && raw.socket && !raw.headersSent) socket.destroy();
  };
  if (socket.destroyed) leave();
  giveUp();
  socket.once('close', leave).once('end', giveUp);
  raw.once('socket', giveUp).once('close', () => socket.off('close', leave).off('end', giveUp));
}

/** A stop that began after the head was sent has left this connection open. */
function closeWhenSent({ server: { server } }: FastifyRequest, raw: FastifyReply['raw']): void {
  raw.once('finish', () => {
    if (!server.listening) server.closeIdleConnections();
  });
}

function toChunk(value: unknown): Chunk {
  if (typeof value === 'string' || value instanceof Uint8Array) return value;
  throw new TypeError(`A reply that is not JSON is made of strings and Uint8Arrays, not of ${typeof value}`);
}

const isIterable = (body: unknown): body is AsyncIterable<unknown> =>
  typeof body === 'object' && body !== null && Symbol.asyncIterator in body;
