/** Files that do not change while the server runs, sent from memory. */
import { createHash } from 'node:crypto';
import type { FastifyInstance } from 'fastify';

/** With a strong ETag (RFC 9110, section 8.8.3): a client that has the file already gets 304. */
export function addDocument(
  app: FastifyInstance,
  url: string,
  body: Buffer,
  headers: { 'content-type': string; [name: string]: string },
): void {
  const etag = `"${createHash('sha256').update(body).digest('base64url')}"`;
  app.get(url, (request, reply) => {
    reply.headers({ ...headers, etag, 'cache-control': 'no-cache' });
    const known = request.headers['if-none-match']?.split(',').map((tag) => tag.trim().replace(/^W\//, ''));
    if (known?.includes(etag) || known?.includes('*')) return reply.code(304).removeHeader('content-type').send();
    return reply.send(body);
  });
}
