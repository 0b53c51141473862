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

type Headers = { 'content-type': string; [name: string]: string };

/** A text, compressed by brotli already if it came so. */
export interface Loaded {
  body: Buffer;
  brotli?: Buffer | undefined;
}

export function addDocument(app: FastifyInstance, url: string, body: Buffer, headers: Headers): void {
  app.get(url, buildSend({ body }, headers));
}

/** Adds a page that is loaded on the first request. */
export function addPage(app: FastifyInstance, url: string, load: () => Promise<Loaded>, headers: Headers): void {
  let loaded: Promise<ReturnType<typeof buildSend>> | undefined;
  app.get(url, async (request, reply) => {
    loaded ??= load().then((page) => buildSend(page, headers));
    const send = await loaded;
    return reply.sent ? reply : send(request, reply);
  });
}

/**
 * Sends the body with a strong ETag for each coding (RFC 9110, section 8.8.3): a client that has the file already gets 304. The reply may
 * be sent meanwhile, if the request's body breaks off.
 */
function buildSend({ body, brotli }: Loaded, headers: Headers) {
  const digest = createHash('sha256').update(body).digest('base64url');
  const isText = body.length > SMALLEST && !headers['content-type'].startsWith('image/');
  const codings = isText ? Object.keys(CODINGS) : [];
  const compressed = new Map<string, Promise<Buffer>>(brotli && [['br', Promise.resolve(brotli)]]);

  /** Node compresses in another thread. */
  function compress(coding: string): Promise<Buffer> {
    const known = compressed.get(coding) ?? (CODINGS[coding] as Compress)(body);
    compressed.set(coding, known);
    return known;
  }

  return async (request: FastifyRequest, reply: FastifyReply) => {
    const coding = negotiate(request.headers['accept-encoding'] ?? '', codings);
    const etag = coding ? `"${digest}-${coding}"` : `"${digest}"`;
    reply.headers({
      ...headers,
      etag,
      'cache-control': 'no-cache',
      ...(isText && { vary: toVary(reply, 'accept-encoding') }),
    });
    const known = request.headers['if-none-match']?.split(',').map((tag) => tag.trim().replace(/^W\//, ''));
    if (known?.includes(etag) || known?.includes('*')) return reply.code(304).removeHeader('content-type').send();
    if (!coding) return reply.send(body);
    const bytes = await compress(coding);
    return reply.sent ? reply : reply.header('content-encoding', coding).send(bytes);
  };
}
