/** Bodies that are not JSON: a handler reads their bytes as they arrive, up to the operation's limit. */
import type { IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';
import type { FastifyInstance } from 'fastify';
import type { AnyContract } from '../contract/contract.ts';
import { HttpError, TOO_LARGE } from '../errors.ts';
import { ACCEPTED_CODING, COMPRESSED } from './json-body.ts';

/** `take` is called for each body that a handler gets, with its limit in bytes. */
export function addRawBodies(
  app: FastifyInstance,
  { operations }: AnyContract,
  take: (request: IncomingMessage, maxBytes: number) => void,
): void {
  const contents = [...operations.values()].flatMap(({ body }) => body?.contents ?? []);
  const types = new Set(contents.filter(({ kind }) => kind !== 'json').map(({ type }) => type));
  for (const type of types) {
    app.addContentTypeParser(type, ({ headers, raw, routeOptions }, body, done) => {
      const maxBytes = routeOptions.bodyLimit as number;
      if ((headers['content-encoding'] ?? 'identity') !== 'identity')
        done(new HttpError(...COMPRESSED, ACCEPTED_CODING));
      else if (Number(headers['content-length']) > maxBytes) done(new HttpError(...TOO_LARGE));
      else {
        take(raw, maxBytes);
        done(null, readUpTo(maxBytes, body as Readable));
      }
    });
  }
}

/**
 * The rest that a handler leaves unread is dropped, so that the next request on the connection can be read.
 * @throws HttpError when the body is too large, or the client goes away
 */
async function* readUpTo(maxBytes: number, body: Readable): AsyncGenerator<Uint8Array> {
  let bytes = 0;
  try {
    for await (const chunk of body.iterator({ destroyOnReturn: false })) {
      bytes += chunk.length;
      if (bytes > maxBytes) throw new HttpError(...TOO_LARGE, { headers: { connection: 'close' } });
      yield chunk;
    }
  } catch (error) {
    if (error instanceof HttpError) throw error;
    throw new HttpError('malformed_request', 'The body did not arrive in full.', { cause: error });
  } finally {
    body.resume();
  }
}
