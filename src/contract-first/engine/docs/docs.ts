/** Serves the contract: as it is written in YAML, as JSON without loss, as a page to read, and with Swagger UI to try. */
import { readdirSync, readFileSync } from 'node:fs';
import { extname } from 'node:path';
import type { FastifyInstance } from 'fastify';
import type { AnyContract } from '../contract/contract.ts';
import { loadClients } from './clients.ts';
import { addDocument, addPage } from './documents.ts';

/**
 * The headers that OWASP recommends for HTML, beside those of every reply. The page loads nothing from other sites, and has no inline
 * script or style. No `upgrade-insecure-requests`: it would leave the page blank on plain HTTP.
 */
const PAGE_HEADERS = {
  'content-security-policy': [
    "default-src 'none'",
    "script-src 'self'",
    "style-src 'self'",
    "img-src 'self' data:",
    "connect-src 'self'",
    "base-uri 'none'",
    "form-action 'none'",
    "frame-ancestors 'none'",
  ].join('; '),
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
  'permissions-policy': 'camera=(), geolocation=(), microphone=()',
  'referrer-policy': 'no-referrer',
  'x-frame-options': 'DENY',
};

/** The files of Swagger UI that the page loads. */
const SWAGGER_UI = new URL('static/', import.meta.resolve('@fastify/swagger-ui'));
const SWAGGER_UI_FILES = ['swagger-ui.css', 'swagger-ui-bundle.js', 'favicon-32x32.png'];

/** Our files for the browser: styles, and plugins of Swagger UI. */
const ADDITIONS = new URL('page/', import.meta.url);

const TYPES: Record<string, string> = {
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.png': 'image/png',
};

/** Loaded on the first request: loading and making the pages would take a tenth of the start. */
const loadPages = () => import('./page.ts');

/** Below `prefix`, such as `/internal`. */
export function addDocs(app: FastifyInstance, contract: AnyContract, prefix: string, folder?: URL): void {
  addDocument(app, `${prefix}/openapi.yaml`, contract.yaml, { 'content-type': 'application/yaml' });
  addDocument(app, `${prefix}/openapi.json`, Buffer.from(contract.json), {
    'content-type': 'application/json; charset=utf-8',
  });
  const clients = loadClients(folder);
  // Relative, so that the page works below any path that a proxy strips.
  for (const [url, root] of Object.entries({ '/docs': './', '/docs/': '../' })) {
    addPage(app, prefix + url, async () => (await loadPages()).toPage(contract, clients, root), {
      'content-type': 'text/html; charset=utf-8',
      ...PAGE_HEADERS,
    });
  }
  addPage(app, `${prefix}/docs/try`, async () => (await loadPages()).toTryPage(contract, '../'), {
    'content-type': 'text/html; charset=utf-8',
    ...PAGE_HEADERS,
  });
  for (const { path, text } of clients) {
    addDocument(app, `${prefix}/docs/clients/${path}`, text, {
      'content-type': 'text/plain; charset=utf-8',
      ...PAGE_HEADERS,
    });
  }
  addFiles(app, prefix, SWAGGER_UI, SWAGGER_UI_FILES);
  addFiles(app, prefix, ADDITIONS, readdirSync(ADDITIONS));
}

function addFiles(app: FastifyInstance, prefix: string, folder: URL, names: string[]): void {
  for (const name of names) {
    const headers = { 'content-type': TYPES[extname(name)] as string, ...PAGE_HEADERS };
    addDocument(app, `${prefix}/docs/static/${name}`, readFileSync(new URL(name, folder)), headers);
  }
}
