/** The only kind of body: JSON in UTF-8 (RFC 8259), read without loss. */
import { isUtf8 } from 'node:buffer';
import type { FastifyInstance } from 'fastify';
import { Failure, type Told } from '../http/errors.ts';
import { parseExactJson } from '../json/exact-json.ts';

const COMPRESSED: Told = ['unsupported_media_type', 'The body must not be compressed.'];
const NOT_UTF8: Told = ['malformed_json', 'The body is not UTF-8.'];

export function addJsonBody(app: FastifyInstance): void {
  app.removeAllContentTypeParsers();
  app.addContentTypeParser('application/json', { parseAs: 'buffer' }, (request, body, done) => {
    try {
      done(null, parse(body as Buffer, request.headers['content-encoding']));
    } catch (error) {
      done(error as Failure);
    }
  });
}

/** An empty body counts as none: the contract says whether one is required. @throws Failure */
function parse(body: Buffer, coding = 'identity'): unknown {
  if (coding !== 'identity') throw new Failure(...COMPRESSED);
  if (!isUtf8(body)) throw new Failure(...NOT_UTF8);
  if (body.length === 0) return undefined;
  try {
    return parseExactJson(body.toString());
  } catch (error) {
    throw new Failure('malformed_json', `The body ${(error as Error).message}.`);
  }
}
