/** The contract, served: byte for byte as YAML, without loss as JSON, and as Swagger UI to read and try. */
import { createHash } from 'node:crypto';
import swagger from '@fastify/swagger';
import swaggerUi from '@fastify/swagger-ui';
import type { FastifyInstance } from 'fastify';
import type { Contract } from './contract.ts';

/** Nothing from elsewhere, and no `upgrade-insecure-requests`: it would leave the page blank on plain HTTP. */
const CONTENT_SECURITY_POLICY = {
  'default-src': "'none'",
  'script-src': "'self'",
  'style-src': ["'self'", "'unsafe-inline'"],
  'img-src': ["'self'", 'data:'],
  'connect-src': "'self'",
  'base-uri': "'none'",
  'form-action': "'none'",
  'frame-ancestors': "'none'",
};

export async function addDocs(app: FastifyInstance, contract: Contract): Promise<void> {
  addDocument(app, '/openapi.yaml', 'application/yaml', contract.yaml);
  addDocument(app, '/openapi.json', 'application/json; charset=utf-8', Buffer.from(contract.json));
  app.get('/', (_request, reply) => reply.redirect('/docs'));

  await app.register(swagger, { mode: 'static', specification: { document: contract.document } });
  await app.register(swaggerUi, {
    routePrefix: '/docs',
    staticCSP: CONTENT_SECURITY_POLICY,
    theme: { title: contract.title },
    uiConfig: { deepLinking: true, displayOperationId: true, showExtensions: true, validatorUrl: null },
    uiHooks: {
      // The plugin's own copies of the contract round its integers.
      onRequest: (request, reply, next) => {
        if (!/^\/docs\/(json|yaml)$/.test(request.routeOptions.url ?? '')) return next();
        reply.redirect((request.routeOptions.url as string).replace('/docs/', '/openapi.'));
      },
    },
  });
}

/** A document that does not change while the server runs, with a strong ETag (RFC 9110, section 8.8.3). */
function addDocument(app: FastifyInstance, url: string, type: string, body: Buffer): void {
  const etag = `"${createHash('sha256').update(body).digest('base64url')}"`;
  app.get(url, (request, reply) => {
    reply.headers({ etag, 'cache-control': 'no-cache' });
    const known = request.headers['if-none-match']?.split(',').map((tag) => tag.trim().replace(/^W\//, ''));
    if (known?.includes(etag) || known?.includes('*')) return reply.code(304).send();
    return reply.type(type).send(body);
  });
}
