/** The one kind of body there is: JSON in UTF-8 (RFC 8259), read without loss. */
import { isUtf8 } from 'node:buffer';
import type { FastifyInstance } from 'fastify';
import { Failure } from './errors.ts';
import { parseExactJson } from './exact-json.ts';

export function addJsonBody(app: FastifyInstance): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, (request, body, done) => {
    const coding = request.headers['content-encoding'] ?? 'identity';
    if (coding !== 'identity') {
      done(
        new Failure(415, 'unsupported_media_type', 'The body must not be compressed.', {
          headers: { 'accept-encoding': 'identity' },
        }),
      );
    } else if (!isUtf8(body as Buffer)) {
      done(new Failure(400, 'malformed_json', 'The body is not UTF-8.'));
    } else {
      parse(body.toString(), done);
    }
  });
}

/** An empty body is none: whether there must be one is the contract's to say. */
function parse(text: string, done: (error: Error | null, value?: unknown) => void): void {
  if (text === '') return done(null, undefined);
  let value: unknown;
  try {
    value = parseExactJson(text);
  } catch (error) {
    return done(new Failure(400, 'malformed_json', `The body ${(error as Error).message}.`));
  }
  done(null, value);
}
