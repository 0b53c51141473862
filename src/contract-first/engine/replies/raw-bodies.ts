/** Sends replies that are not JSON: text or bytes, as a whole or as a stream. */
import type { Socket } from 'node:net';
import { Readable } from 'node:stream';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Logger } from 'pino';

type Chunk = string | Uint8Array;

/**
 * The body of a reply that is not JSON. An iterable is sent chunk by chunk, no faster than the client reads. Text is
 * sent as UTF-8.
 */
export type RawBody = Chunk | AsyncIterable<Chunk>;

/**
 * Converts a body to one that Fastify can send. An iterable becomes a stream; the returned promise resolves after the
 * first chunk was read. An error before the first chunk is answered like any other error, and a later error cuts the
 * connection (RFC 9112, section 8).
 */
export function toPayload(body: unknown, reply: FastifyReply, logger: Logger): Chunk | Promise<Chunk | Readable> {
  return isIterable(body) ? toStream(body[Symbol.asyncIterator](), reply, logger) : toChunk(body);
}

/** Converts an iterator to a stream. Also calls the iterator's `return` if the client disconnects. */
async function toStream(
  chunks: AsyncIterator<unknown>,
  reply: FastifyReply,
  logger: Logger,
): Promise<Chunk | Readable> {
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
    // If the client has disconnected, Fastify would end the stream immediately, and Node 24 would report that as an
    // error of the service.
    if (request.raw.socket.destroyed) {
      void end();
      return '';
    }
    closeWhenSent(request, raw);
    // The reply to a HEAD gets an empty stream, because Fastify would read a whole stream even though nothing of it is
    // sent.
    if (request.method !== 'HEAD') return Readable.from(toChunks(first));
    void end();
    return Readable.from([]);
  } catch (error) {
    void end();
    throw error;
  }
}

/**
 * Calls `end` when the client has disconnected. Before the head of the reply is sent, a client that has closed its
 * sending side also counts as disconnected.
 */
function whenGone(raw: FastifyReply['raw'], socket: Socket, end: () => void): void {
  // `raw.socket` is set only after all earlier replies on the connection were sent.
  const giveUp = () => {
    if (socket.readableEnded && raw.socket && !raw.headersSent) socket.destroy();
  };
  if (socket.destroyed) end();
  giveUp();
  socket.once('close', end).once('end', giveUp);
  raw.once('socket', giveUp).once('close', () => socket.off('close', end).off('end', giveUp));
}

/**
 * Closes the connection after the reply if the server began to stop too late for the head of the reply to contain
 * `Connection: close`.
 */
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
