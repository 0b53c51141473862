/** Serves files that do not change while the server runs, from memory, compressed once. */
import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import { negotiate } from '@fastify/accept-negotiator';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { toVary } from '../replies/reply-headers.ts';

type Compress = (body: Buffer) => Promise<Buffer>;

/** Quality 11 would take seconds, and save 5 %. */
export const toBrotli: Compress = (body) =>
  promisify(brotliCompress)(body, { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } });

/** The best coding first. */
const CODINGS: Record<string, Compress> = { br: toBrotli, gzip: (body) => promisify(gzip)(body) };

/** Smaller files are not compressed: they fit into one packet. */
const SMALLEST = 1400;

/** Options of a route that a team's own @fastify/swagger does not list as an operation. */
export const UNLISTED = { schema: { hide: true } };

type Headers = { 'content-type': string; [name: string]: string };

/** A text, compressed by brotli already if it came so. */
interface Loaded {
  body: Buffer;
  brotli?: Buffer | undefined;
}

export const addDocument = (app: FastifyInstance, url: string, ...document: Parameters<typeof buildSendDocument>) =>
  void app.get(url, UNLISTED, buildSendDocument(...document));

/**
 * Loads the text on the first request, and sends it with a strong ETag for each coding (RFC 9110, section 8.8.3): a client that has it already
 * gets 304. The reply may be sent meanwhile, if the request's body breaks off. `load` gets the folder from which the text is read in a
 * browser: `../` if the URL ends in a slash, otherwise `./`.
 */
export function buildSendDocument(headers: Headers, load: (root: string) => Promise<Loaded>) {
  const loading: Record<string, Promise<ReturnType<typeof toDocument>>> = {};
  return async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    const root = /\/(\?|$)/.test(request.url) ? '../' : './';
    loading[root] ??= load(root).then((loaded) => toDocument(loaded, headers['content-type']));
    const { digest, codings, toBytes } = await loading[root];
    const coding = negotiate(request.headers['accept-encoding'] ?? '', codings);
    const etag = coding ? `"${digest}-${coding}"` : `"${digest}"`;
    const known = request.headers['if-none-match']?.split(',').map((tag) => tag.trim().replace(/^W\//, ''));
    const isKnown = known?.includes(etag) || known?.includes('*');
    const bytes = isKnown ? undefined : await toBytes(coding);
    if (reply.sent) return reply;
    reply.headers({ ...headers, etag, 'cache-control': 'no-cache' });
    if (codings.length > 0) reply.header('vary', toVary(reply, 'accept-encoding'));
    if (isKnown) return reply.code(304).removeHeader('content-type').send();
    return (coding ? reply.header('content-encoding', coding) : reply).send(bytes);
  };
}

function toDocument({ body, brotli }: Loaded, type: string) {
  const isText = body.length > SMALLEST && !type.startsWith('image/');
  const compressed: Record<string, Promise<Buffer>> = brotli ? { br: Promise.resolve(brotli) } : {};
  return {
    digest: createHash('sha256').update(body).digest('base64url'),
    codings: isText ? Object.keys(CODINGS) : [],
    /** Node compresses in another thread. */
    toBytes(coding: string | null): Promise<Buffer> | Buffer {
      if (coding === null) return body;
      compressed[coding] ??= (CODINGS[coding] as Compress)(body);
      return compressed[coding];
    },
  };
}
