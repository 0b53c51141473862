/**
 * Adds Fastify's parsers for bodies. JSON must be UTF-8 (RFC 8259), and is parsed without loss. Other bodies are not
 * parsed: handlers read the bytes as they arrive.
 */
import { isUtf8 } from 'node:buffer';
import type { IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';
import type { FastifyInstance, onRequestHookHandler } from 'fastify';
import { InexactNumber, parseExactJson } from '../../json/exact-json.ts';
import type { AnyContract, Operation } from '../contract/contract.ts';
import { isJson, PLAIN_JSON, toMediaType } from '../contract/replies.ts';
import { type CodeAndMessage, HttpError, invalidRequest, TOO_LARGE } from '../errors/catalogue.ts';
import { cut, problemAt } from '../errors/problem.ts';

const COMPRESSED: CodeAndMessage = ['unsupported_media_type', 'The body must not be compressed.'];
/**
 * The headers of a 415 for a body with a content coding, to inform the client which codings are accepted (RFC 9110,
 * section 12.5.3).
 */
const ACCEPTED_CODING = { headers: { 'accept-encoding': 'identity' } };
const NOT_UTF8: CodeAndMessage = ['malformed_json', 'The body is not UTF-8.'];
/** JSON must not begin with a byte order mark (RFC 8259, section 8.1). */
const MARKED: CodeAndMessage = ['malformed_json', 'The body begins with a byte order mark: send it without one.'];
const BYTE_ORDER_MARK = Buffer.from('\ufeff');

export function addJsonBody(app: FastifyInstance, contract: AnyContract): void {
  // Fastify's own JSON parser rounds numbers.
  app.removeAllContentTypeParsers();
  app.addContentTypeParser(mediaTypesOf(contract).filter(isJson), { parseAs: 'buffer' }, (request, body, done) => {
    try {
      done(null, parse(body as Buffer, request.headers['content-encoding']));
    } catch (error) {
      done(error as HttpError);
    }
  });
}

/**
 * Returns the media types of all bodies in the contract. `application/json` is always one of them, so that each
 * operation that does not accept JSON replies to it with its own 415.
 */
export function mediaTypesOf({ operations }: AnyContract): string[] {
  const contents = [...operations.values()].flatMap(({ body }) => body?.contents ?? []);
  return [...new Set([PLAIN_JSON, ...contents.map(({ type }) => type)])];
}

/**
 * Builds the hook of an operation that replies with 415 to media types which only other operations accept. `all`
 * contains the media types of all operations. If there is only one, no hook is needed, because Fastify itself rejects
 * all others.
 */
export function buildTypeCheck({ body }: Operation, all: string[]): onRequestHookHandler[] {
  if (!body || all.length === 1) return [];
  const types = body.contents.map(({ type }) => type);
  const message = `The body must be ${types.join(' or ')}.`;
  return [
    ({ headers }, _reply, done) => {
      const type = headers['content-type'];
      const isTaken = type === undefined || types.includes(toMediaType(type));
      done(isTaken ? undefined : new HttpError('unsupported_media_type', message));
    },
  ];
}

/**
 * Parses a JSON body. Returns undefined for an empty body; whether the contract requires a body is checked later.
 * @throws HttpError
 */
function parse(body: Buffer, coding = 'identity'): unknown {
  if (coding !== 'identity') throw new HttpError(...COMPRESSED, ACCEPTED_CODING);
  if (!isUtf8(body)) throw new HttpError(...NOT_UTF8);
  if (body.length === 0) return undefined;
  if (body.subarray(0, BYTE_ORDER_MARK.length).equals(BYTE_ORDER_MARK)) throw new HttpError(...MARKED);
  try {
    return parseExactJson(body.toString());
  } catch (error) {
    const { message } = error as Error;
    if (error instanceof InexactNumber) throw invalidRequest([problemAt(`/body${error.path}`, 'inexact', message)]);
    throw new HttpError('malformed_json', `The body ${cut(message)}.`);
  }
}

/**
 * Adds the parsers for bodies that are streamed to handlers. For each request with such a body, calls `take` with the
 * request and the largest allowed size of its body in bytes.
 */
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
 * Yields the chunks of a body. If the handler stops reading, the remaining chunks are dropped, so that the next request
 * on the connection can be read.
 * @throws HttpError if the body is too large, or if the client disconnects before the end of the body
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
