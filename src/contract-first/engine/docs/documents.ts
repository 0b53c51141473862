/** Serves files that do not change while the server runs, from memory, compressed once, on the first request. */
import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import { negotiate } from '@fastify/accept-negotiator';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { toVary } from '../replies/vary.ts';

/** The best coding first. Brotli's quality 11 would take seconds, and save 5 %. */
const CODINGS: Record<string, (body: Buffer) => Promise<Buffer>> = {
  br: (body) => promisify(brotliCompress)(body, { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } }),
  gzip: (body) => promisify(gzip)(body),
};

/** Smaller files are not compressed: they fit into one packet. */
const SMALLEST = 1400;

type Headers = { 'content-type': string; [name: string]: string };

export function addDocument(app: FastifyInstance, url: string, body: Buffer, headers: Headers): void {
  app.get(url, buildSend(body, headers));
}

/** Adds a page that is made on the first request. */
export function addPage(app: FastifyInstance, url: string, make: () => Promise<Buffer>, headers: Headers): void {
  let made: Promise<ReturnType<typeof buildSend>> | undefined;
  app.get(url, async (request, reply) => {
    made ??= make().then((body) => buildSend(body, headers));
    const send = await made;
    return reply.sent ? reply : send(request, reply);
  });
}

/**
 * Sends the body with a strong ETag for each coding (RFC 9110, section 8.8.3): a client that has the file already gets 304. The reply may
 * be sent meanwhile, if the request's body breaks off.
 */
function buildSend(body: Buffer, headers: Headers) {
  const digest = createHash('sha256').update(body).digest('base64url');
  const isText = body.length > SMALLEST && !headers['content-type'].startsWith('image/');
  const codings = isText ? Object.keys(CODINGS) : [];
  const compressed = new Map<string, Promise<Buffer>>();

  /** Node compresses in another thread. */
  function compress(coding: string): Promise<Buffer> {
    const known = compressed.get(coding) ?? (CODINGS[coding] as (body: Buffer) => Promise<Buffer>)(body);
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
