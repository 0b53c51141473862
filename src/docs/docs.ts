/** The contract, served: byte for byte as YAML, without loss as JSON, and as Swagger UI to read and try. */
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import swagger from '@fastify/swagger';
import swaggerUi from '@fastify/swagger-ui';
import type { FastifyInstance } from 'fastify';
import type { Contract } from '../contract/contract.ts';

/** Nothing from elsewhere, and no `upgrade-insecure-requests`: it would leave the page blank on plain HTTP. */
const CONTENT_SECURITY_POLICY = {
  'default-src': "'none'",
  'script-src': "'self'",
  'style-src': "'self'",
  'img-src': ["'self'", 'data:'],
  'connect-src': "'self'",
  'base-uri': "'none'",
  'form-action': "'none'",
  'frame-ancestors': "'none'",
};

/** What is added to Swagger UI in the browser: styles, and scripts that push plugins onto its preset. */
const ADDITIONS = new URL('page/', import.meta.url);

export async function addDocs(app: FastifyInstance, contract: Contract): Promise<void> {
  addDocument(app, '/openapi.yaml', 'application/yaml', contract.yaml);
  addDocument(app, '/openapi.json', 'application/json; charset=utf-8', Buffer.from(contract.json));
  app.get('/', (_request, reply) => reply.redirect('/docs'));

  await app.register(swagger, { mode: 'static', specification: { document: contract.document } });
  await app.register(swaggerUi, {
    routePrefix: '/docs',
    staticCSP: CONTENT_SECURITY_POLICY,
    theme: { title: contract.title, css: loadAdditions('.css'), js: loadAdditions('.js') },
    uiConfig: {
      layout: 'BaseLayout',
      deepLinking: true,
      displayOperationId: true,
      showExtensions: true,
      validatorUrl: null,
    },
    uiHooks: {
      // The plugin's own copies of the contract round its integers.
      onRequest: (request, reply, next) => {
        const copy = /^\/docs\/(json|yaml)$/.exec(request.routeOptions.url as string);
        if (copy) reply.redirect(`/openapi.${copy[1]}`);
        else next();
      },
    },
  });
}

function loadAdditions(extension: string): { filename: string; content: string }[] {
  const filenames = readdirSync(ADDITIONS).filter((filename) => filename.endsWith(extension));
  return filenames.map((filename) => ({ filename, content: readFileSync(new URL(filename, ADDITIONS), 'utf8') }));
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
