/** The contract, served: byte for byte as YAML, without loss as JSON, and as Swagger UI to read and try. */
import { readdirSync, readFileSync } from 'node:fs';
import swagger from '@fastify/swagger';
import swaggerUi from '@fastify/swagger-ui';
import type { FastifyInstance } from 'fastify';
import type { Contract } from '../contract/contract.ts';
import { Failure } from '../http/errors.ts';
import { addDocument } from './documents.ts';

/** The page loads nothing from other sites. No `upgrade-insecure-requests`: it would leave the page blank on plain HTTP. */
const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ');

/** The files of Swagger UI that its page loads. */
const ASSETS = new URL('static/', import.meta.resolve('@fastify/swagger-ui'));
const ASSET_TYPES = {
  'swagger-ui.css': 'text/css; charset=utf-8',
  'index.css': 'text/css; charset=utf-8',
  'favicon-32x32.png': 'image/png',
  'favicon-16x16.png': 'image/png',
  'swagger-ui-bundle.js': 'text/javascript; charset=utf-8',
  'swagger-ui-standalone-preset.js': 'text/javascript; charset=utf-8',
};

/** What is added to Swagger UI in the browser: styles, and scripts that push plugins onto its preset. */
const ADDITIONS = new URL('page/', import.meta.url);

export async function addDocs(app: FastifyInstance, contract: Contract): Promise<void> {
  addDocument(app, '/openapi.yaml', contract.yaml, { 'content-type': 'application/yaml' });
  addDocument(app, '/openapi.json', Buffer.from(contract.json), { 'content-type': 'application/json; charset=utf-8' });
  if (!app.hasRoute({ method: 'GET', url: '/' })) app.get('/', (_request, reply) => reply.redirect('/docs'));

  addAssets(app);
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

/**
 * Serves Swagger UI's files from memory. The plugin would open a file for each request, and leave it open when the client
 * disconnects.
 */
function addAssets(app: FastifyInstance): void {
  for (const [name, type] of Object.entries(ASSET_TYPES)) {
    const headers = { 'content-type': type, 'content-security-policy': CONTENT_SECURITY_POLICY };
    addDocument(app, `/docs/static/${name}`, readFileSync(new URL(name, ASSETS)), headers);
  }
  app.addHook('onRoute', (route) => {
    if (route.url === '/docs/static/*') route.handler = refuseOthers;
  });
}

async function refuseOthers(): Promise<never> {
  throw new Failure('route_not_found', 'Nothing is served at this path.');
}

function loadAdditions(extension: string): { filename: string; content: string }[] {
  const filenames = readdirSync(ADDITIONS).filter((filename) => filename.endsWith(extension));
  return filenames.map((filename) => ({ filename, content: readFileSync(new URL(filename, ADDITIONS), 'utf8') }));
}
