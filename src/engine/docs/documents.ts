/** Files that do not change while the server runs, sent from memory. They are made, and compressed, once: when they are first asked for. */
import { createHash } from 'node:crypto';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import { negotiate } from '@fastify/accept-negotiator';
import type { FastifyInstance, FastifyReply } from 'fastify';

/** The best first; quality 11 of brotli would take seconds, and save 5 %. */
const CODINGS: Record<string, (body: Buffer) => Promise<Buffer>> = {
  br: (body) => promisify(brotliCompress)(body, { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } }),
  gzip: (body) => promisify(gzip)(body),
};

/** What is smaller fits into one packet as it is. */
const SMALLEST = 1400;

/** With a strong ETag (RFC 9110, section 8.8.3), of each coding its own: a client that has the file already gets 304. */
export function addDocument(
  app: FastifyInstance,
  url: string,
  make: () => Buffer | Promise<Buffer>,
  headers: { 'content-type': string; [name: string]: string },
): void {
  const compressed = new Map<string, Promise<Buffer>>();
  let made: ReturnType<typeof load> | undefined;

  async function load() {
    const body = await make();
    const digest = createHash('sha256').update(body).digest('base64url');
    const isText = body.length > SMALLEST && !headers['content-type'].startsWith('image/');
    return { body, digest, isText, codings: isText ? Object.keys(CODINGS) : [] };
  }

  /** Made by another thread. */
  function compress(coding: string, body: Buffer): Promise<Buffer> {
    const known = compressed.get(coding) ?? (CODINGS[coding] as (body: Buffer) => Promise<Buffer>)(body);
    compressed.set(coding, known);
    return known;
  }

  app.get(url, async (request, reply) => {
    made ??= load();
    const { body, digest, isText, codings } = await made;
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
    return reply.header('content-encoding', coding).send(await compress(coding, body));
  });
}

/** A plugin may have said already that the reply depends on another header (RFC 9110, section 12.5.5). */
export const toVary = (reply: FastifyReply, header: string) =>
  [reply.getHeader('vary') ?? [], header].flat().join(', ');
