/** Serves files that do not change while the server runs. A file is sent from memory, and compressed once. */
import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import { negotiate } from '@fastify/accept-negotiator';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { toVary } from '../replies/reply-headers.ts';

type Compress = (body: Buffer) => Promise<Buffer>;

/** Compresses with brotli at quality 9. The highest quality, 11, would take seconds and save only 5 %. */
export const toBrotli: Compress = (body) =>
  promisify(brotliCompress)(body, { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } });

/** The content codings, in the order of preference. */
const CODINGS: Record<string, Compress> = { br: toBrotli, gzip: (body) => promisify(gzip)(body) };

/** Files up to this size, in bytes, are not compressed, because they fit into one packet. */
const SMALLEST = 1400;

/** Route options that hide a route from a team's own @fastify/swagger, which would list it as an operation. */
export const UNLISTED = { schema: { hide: true } };

type Headers = { 'content-type': string; [name: string]: string };

/** The bytes of a document, and their brotli form if the build has made one. */
interface Loaded {
  body: Buffer;
  brotli?: Buffer | undefined;
}

export const addDocument = (app: FastifyInstance, url: string, ...document: Parameters<typeof buildSendDocument>) =>
  void app.get(url, UNLISTED, buildSendDocument(...document));

/**
 * Builds the handler that sends a document. The document is loaded at the first request, and is sent with a strong ETag
 * for each content coding (RFC 9110, section 8.8.3), and a client that already has it gets 304. If the body of the
 * request breaks off while the document loads, Fastify may already have sent an error reply; then the handler sends
 * nothing. `load` gets the relative path from the requested URL to the folder of the page: `../` if the URL ends in a
 * slash, and otherwise `./`.
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
    /** Compresses the document once for each coding. Node does this in another thread. */
    toBytes(coding: string | null): Promise<Buffer> | Buffer {
      if (coding === null) return body;
      compressed[coding] ??= (CODINGS[coding] as Compress)(body);
      return compressed[coding];
    },
  };
}
